"""The room of people and rights."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "accounts"
    label = "accounts"
    verbose_name = _("People and organisations")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import session_events

        session_events.connect()
