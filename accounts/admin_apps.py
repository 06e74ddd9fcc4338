"""Django admin with a site of our own; in a module by itself, because an app's own module names one configuration."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class OwnAdminConfig(AdminConfig):
    default_site = "accounts.admin_site.AdminSite"
