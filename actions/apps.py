from importlib import import_module

from django.apps import AppConfig


class ActionsConfig(AppConfig):
    name = "actions"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("actions.stages")
