from importlib import import_module

from django.apps import AppConfig


class CasesConfig(AppConfig):
    name = "cases"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        for name in ("checking", "counting"):  # they register this room's stages
            import_module(f"cases.{name}")
