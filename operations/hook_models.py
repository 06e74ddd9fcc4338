"""Programs that are told of an organisation's cases: where, of what, and what became of each telling."""

from __future__ import annotations

from random import SystemRandom
from typing import ClassVar

from django.db import models

from caseflow.domain.identifiers import public_id

_rng = SystemRandom()


def new_hook_id() -> str:
    return public_id("H", _rng)


class Hook(models.Model):
    """One listener of an organisation: a signed webhook, or a line in the ticket from which a case came."""

    runtime_rights = "SELECT, INSERT, UPDATE"
    organisation_path = "organisation"

    class Channel(models.TextChoices):
        WEBHOOK = "webhook"
        TICKET = "ticket"  #: by the adapter `helpdesk`

    class Kind(models.TextChoices):
        """Of what is told; `spreading_hooks` sorts the changes of a case into these."""

        OPENED = "opened"
        CHANGED = "changed"
        ATTENTION = "attention"
        CLOSED = "closed"

    public_id = models.CharField(max_length=16, unique=True, default=new_hook_id)
    organisation = models.ForeignKey("accounts.Organisation", on_delete=models.PROTECT, related_name="hooks")
    name = models.CharField(max_length=100)
    channel = models.CharField(max_length=8, choices=Channel)
    url = models.CharField(max_length=500, default="", help_text="Of a webhook.")
    source = models.CharField(max_length=64, default="", help_text="Only cases from there; of a line in the ticket.")
    language = models.CharField(max_length=8, default="en", help_text="Of a line in the ticket.")
    kinds = models.JSONField(help_text="A list of Kind.")
    is_active = models.BooleanField(default=True)
    from_us = models.BigIntegerField(help_text="Changes since this moment are told, in microseconds since 1970.")
    failing_since = models.DateTimeField(null=True, help_text="Since then something was given up and nothing arrived.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organisation", "name"], name="hook_name_in_organisation"),
        ]

    def __str__(self) -> str:
        return self.name


class HookSecret(models.Model):
    """A secret both sides hold, wrapped by the key in the settings. Two sign at once while it is rotated."""

    runtime_rights = "SELECT, INSERT, UPDATE (expires_at)"

    hook = models.ForeignKey(Hook, on_delete=models.PROTECT, related_name="secrets")
    wrapped = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"secret {self.pk} of {self.hook_id}"


class HookReading(models.Model):
    """How far the history of one organisation was read for its hooks: everything up to `safe_us`, by a proof.

    `marks` are [number of a reading transaction, the moment before it was given in microseconds], oldest first.
    """

    organisation = models.OneToOneField("accounts.Organisation", on_delete=models.PROTECT, primary_key=True)
    safe_us = models.BigIntegerField()
    marks = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"{self.organisation_id} up to {self.safe_us}"


class HookDelivery(models.Model):
    """One change of a case that one hook is told of, written with the task that delivers it by `spreading_hooks`."""

    runtime_rights = "SELECT, INSERT, UPDATE (status, answer, code, settled_at), DELETE"
    organisation_path = "hook__organisation"

    class Status(models.TextChoices):
        WAITING = "waiting"
        SENT = "sent"
        FAILED = "failed"
        SKIPPED = "skipped"  #: the hook was switched off, or the case is none of its source

    hook = models.ForeignKey(Hook, on_delete=models.PROTECT, related_name="deliveries", db_index=False)
    case = models.ForeignKey("cases.Case", on_delete=models.PROTECT, related_name="hook_deliveries", db_index=False)
    event = models.ForeignKey("audit.AuditEvent", on_delete=models.PROTECT, related_name="+", db_index=False)
    version = models.IntegerField(help_text="Of the case after the change.")
    kind = models.CharField(max_length=16, choices=Hook.Kind)
    status = models.CharField(max_length=8, choices=Status, default=Status.WAITING)
    answer = models.PositiveSmallIntegerField(null=True, help_text="The last HTTP status.")
    code = models.CharField(max_length=64, default="", help_text="Why it did not arrive.")
    created_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["case", "version", "hook"], name="hook_told_once_a_version"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["hook", "-id"], name="hookdelivery_newest"),
            models.Index(
                fields=["hook", "id"],
                condition=models.Q(status__in=["waiting", "failed"]),
                name="hookdelivery_not_sent",
            ),
            models.Index(fields=["hook", "settled_at"], condition=models.Q(status="sent"), name="hookdelivery_arrived"),
        ]

    def __str__(self) -> str:
        return f"version {self.version} of {self.case_id} to {self.hook_id}"
