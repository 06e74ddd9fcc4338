from importlib import import_module

from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    name = "approvals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("approvals.stages")
        import_module("approvals.at_once")
        import_module("approvals.asking")
        changes = import_module("accounts.changes")
        deciders = import_module("approvals.deciders")
        changes.when_rights_are_taken(deciders.look_again)
