"""Machines that call the API: an account with single rights in one organisation, and its tokens."""

from __future__ import annotations

from random import SystemRandom
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from caseflow.domain.identifiers import public_id
from caseflow.domain.roles import RIGHTS_OF_SERVICES

#: The rights an account may hold, in a fixed order: they stand in a database constraint.
SERVICE_RIGHTS: list[str] = sorted(right.value for right in RIGHTS_OF_SERVICES)


_rng = SystemRandom()


def _new_name() -> str:
    return public_id("M", _rng)


class ServiceAccount(models.Model):
    """A machine of one organisation. It never decides, recovers or signs; its owner counts as a causer."""

    organisation_path = "organisation"

    public_id = models.CharField(max_length=16, unique=True, editable=False, default=_new_name)
    organisation = models.ForeignKey(
        "accounts.Organisation",
        on_delete=models.PROTECT,
        related_name="service_accounts",
        verbose_name=_("organisation"),
    )
    name = models.CharField(_("name"), max_length=100)
    owner = models.ForeignKey(
        "accounts.Person", on_delete=models.PROTECT, related_name="service_accounts", verbose_name=_("owner")
    )
    rights = ArrayField(models.CharField(max_length=40), verbose_name=_("rights"))
    is_active = models.BooleanField(_("active"), default=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("service account")
        verbose_name_plural = _("service accounts")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organisation", "name"], name="service_account_name_in_organisation"),
            models.CheckConstraint(
                condition=models.Q(rights__contained_by=SERVICE_RIGHTS), name="rights_a_service_may_have"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ServiceToken(models.Model):
    """A Bearer token, kept as a digest: its text `cf_<prefix>_<secret>` is shown once, when it is issued."""

    account = models.ForeignKey(
        ServiceAccount, on_delete=models.PROTECT, related_name="tokens", verbose_name=_("service account")
    )
    prefix = models.CharField(_("prefix"), max_length=8, unique=True)
    digest = models.CharField(_("digest"), max_length=64)  # SHA-256, hex, of the secret part
    created_at = models.DateTimeField(_("issued"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(
        _("last used"), null=True, blank=True, help_text=_("To the hour: not every request writes.")
    )

    class Meta:
        verbose_name = _("service token")
        verbose_name_plural = _("service tokens")
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(digest__regex=r"^[0-9a-f]{64}$"), name="token_digest_is_sha256"),
        ]

    def __str__(self) -> str:
        return f"cf_{self.prefix}_…"
