"""Django admin for people, organisations and machines. Roles are shown, not edited: they are granted by a service,
behind the gate and with a record."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.admin.exceptions import NotRegistered
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from .gate import hold_exclusive
from .models import Department, Organisation, Person, RoleGroup, ServiceAccount, ServiceToken
from .service_models import SERVICE_RIGHTS
from .services import create_report_readers, create_role_groups
from .signing import AdminSignInForm

# A group is the carrier of a role; edited by hand it would change rights unseen.
with suppress(NotRegistered):
    admin.site.unregister(Group)

admin.site.login_form = AdminSignInForm


class Kept:
    """Rows that other rows tell of are closed or switched off, never deleted."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class Shown(Kept):
    """Rows to look at."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Person)
class PersonAdmin(Kept, UserAdmin):
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Person"), {"fields": ("name", "email")}),
        (_("Preferences"), {"fields": ("language", "time_zone", "theme")}),
        (_("Access"), {"fields": ("is_active", "is_staff", "is_superuser")}),
        (_("Dates"), {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = (
        (None, {"classes": ("wide",), "fields": ("username", "name", "language", "usable_password")}),
        (None, {"classes": ("wide",), "fields": ("password1", "password2")}),
    )
    list_display = ("username", "name", "email", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("username", "name", "email")
    readonly_fields = ("last_login", "date_joined")
    filter_horizontal = ()

    def save_model(self, request: HttpRequest, obj: Person, form: Any, change: bool) -> None:
        # Switching a person off takes their rights: no send may begin while that is undecided.
        hold_exclusive()
        super().save_model(request, obj, form, change)


@admin.register(Organisation)
class OrganisationAdmin(Kept, admin.ModelAdmin):
    list_display = ("slug", "name", "language", "time_zone", "created_at")
    search_fields = ("slug", "name")

    def get_readonly_fields(self, request: HttpRequest, obj: Organisation | None = None) -> tuple[str, ...]:
        return ("slug", "created_at") if obj else ()

    def save_model(self, request: HttpRequest, obj: Organisation, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change:
            create_role_groups(obj)


@admin.register(Department)
class DepartmentAdmin(Kept, admin.ModelAdmin):
    list_display = ("slug", "name", "organisation")
    list_filter = ("organisation",)
    search_fields = ("slug", "name")

    def get_readonly_fields(self, request: HttpRequest, obj: Department | None = None) -> tuple[str, ...]:
        return ("organisation", "slug") if obj else ()

    def save_model(self, request: HttpRequest, obj: Department, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change:
            create_report_readers([obj])


@admin.register(RoleGroup)
class RoleGroupAdmin(Shown, admin.ModelAdmin):
    list_display = ("organisation", "role", "department")
    list_filter = ("organisation", "role")
    list_select_related = ("organisation", "department")
    readonly_fields = ("members",)

    @admin.display(description=_("people"))
    def members(self, obj: RoleGroup) -> str:
        people = Person.objects.filter(groups=obj.group_id).order_by("name", "username")
        return ", ".join(str(person) for person in people) or "-"


class ServiceAccountForm(forms.ModelForm):
    rights = forms.MultipleChoiceField(
        label=_("rights"),
        choices=[(right, right) for right in SERVICE_RIGHTS],
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = ServiceAccount
        fields = ("organisation", "name", "owner", "rights", "is_active")


class ServiceTokenInline(Shown, admin.TabularInline):
    model = ServiceToken
    fields: ClassVar = ("prefix", "created_at", "expires_at", "revoked_at")
    readonly_fields: ClassVar = fields
    extra = 0


@admin.register(ServiceAccount)
class ServiceAccountAdmin(Kept, admin.ModelAdmin):
    form = ServiceAccountForm
    inlines = (ServiceTokenInline,)
    list_display = ("name", "organisation", "owner", "is_active", "created_at")
    list_filter = ("organisation", "is_active")
    list_select_related = ("organisation", "owner")
    search_fields = ("name",)

    def get_readonly_fields(self, request: HttpRequest, obj: ServiceAccount | None = None) -> tuple[str, ...]:
        return ("organisation",) if obj else ()
