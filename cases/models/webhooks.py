"""Who may ring: an outside system's webhooks for one organisation, its secrets, and what it rang."""

from __future__ import annotations

from random import SystemRandom
from typing import ClassVar

from django.db import models

from audit.models import AppendOnly
from caseflow.domain.identifiers import public_id

_rng = SystemRandom()


def new_source_id() -> str:
    """`W-…`: it stands in an address that others are told, so it is nothing to guess."""
    return public_id("W", _rng)


class WebhookSource(models.Model):
    """The webhooks of one outside system for one organisation."""

    runtime_rights = "SELECT, INSERT, UPDATE"
    organisation_path = "organisation"

    public_id = models.CharField(max_length=16, unique=True, default=new_source_id)
    organisation = models.ForeignKey("accounts.Organisation", on_delete=models.PROTECT, related_name="webhook_sources")
    name = models.CharField(max_length=100)
    system = models.CharField(max_length=64, help_text="The outside system whose objects it names.")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organisation", "name"], name="webhook_source_name_in_organisation"),
        ]

    def __str__(self) -> str:
        return self.name


class WebhookSecret(models.Model):
    """A secret both sides hold, wrapped by the key in the settings. Two are valid at once while it is rotated."""

    runtime_rights = "SELECT, INSERT, UPDATE (expires_at)"

    source = models.ForeignKey(WebhookSource, on_delete=models.PROTECT, related_name="secrets")
    wrapped = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"secret {self.pk} of {self.source_id}"


class WebhookEvent(AppendOnly):
    """One event that was believed: only its name, never a fact. The same id of a source comes once."""

    source = models.ForeignKey(WebhookSource, on_delete=models.PROTECT, related_name="events")
    event_id = models.CharField(max_length=128)
    kind = models.CharField(max_length=64, help_text="What the sender calls it, like payment.updated.")
    subject = models.CharField(max_length=200, help_text="The outside object it names.")
    cases = models.PositiveIntegerField(help_text="How many cases it concerned.")
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["source", "event_id"], name="webhook_event_once"),
        ]

    def __str__(self) -> str:
        return self.event_id
