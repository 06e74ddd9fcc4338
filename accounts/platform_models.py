"""The one role above organisations: who watches queues, workers, counts and pauses, and sees no case (design §9)."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _


class PlatformOperator(models.Model):
    """One person with the role. No Django permission and no guardian row gives it, and it gives no right in any
    organisation; `accounts.platform` writes it, behind the gate and with a record."""

    runtime_rights = "SELECT, INSERT, DELETE"

    person = models.OneToOneField(
        "accounts.Person", on_delete=models.PROTECT, related_name="platform_operator", verbose_name=_("person")
    )
    granted_at = models.DateTimeField(_("granted"), auto_now_add=True)

    class Meta:
        verbose_name = _("platform operator")
        verbose_name_plural = _("platform operators")
        default_permissions: ClassVar = ()

    def __str__(self) -> str:
        return str(self.person)
