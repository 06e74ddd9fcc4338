from importlib import import_module

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "operations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("operations.stages")
        import_module("operations.chaining")
        import_module("operations.telling_staff")
        import_module("operations.spreading_hooks")
        import_module("operations.telling_hooks")
        import_module("operations.bulk_running")
        import_module("operations.report_opening")
