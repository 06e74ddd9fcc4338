"""The project itself as a Django app: its checks and the commands that span rooms."""

from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.module_loading import module_has_submodule

from caseflow.rights import grant_rights


class CaseflowConfig(AppConfig):
    name = "caseflow"
    label = "caseflow"
    verbose_name = "Caseflow"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.contrib import admin
        from django_dramatiq.models import Task

        # Its page shows arguments and tracebacks unescaped, and its table is never filled here.
        if admin.site.is_registered(Task):
            admin.site.unregister(Task)
        post_migrate.connect(grant_rights, dispatch_uid="caseflow.rights")
        # The top layer may look at every room, so it is imported once all of them are ready.
        if module_has_submodule(import_module("caseflow"), "checks"):
            import_module("caseflow.checks")
