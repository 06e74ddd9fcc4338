"""Django admin for people, organisations, departments and groups, and for nothing else (design §11).

Roles are shown, not edited: an administrator of the organisation grants them, behind the gate and on record. What a
superuser changes here is recorded in the same transaction.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from audit.services import record_organisation_event

from .admin_site import was_accepted
from .changes import tell_rights_taken
from .gate import hold_exclusive
from .models import Department, Organisation, Person, RoleGroup
from .principal import Actor, actor_of_person
from .services import create_report_readers, create_role_groups
from .session_events import record_for_person

#: What a person's record says with its values; of anything else only that it changed.
SWITCHES = ("is_active", "is_staff", "is_superuser")

# Groups carry roles and would change rights unseen; the tables of other apps are no business of this site.
for _model in list(admin.site._registry):
    admin.site.unregister(_model)


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
        before = Person.objects.filter(pk=obj.pk).values(*SWITCHES).first() or {}
        super().save_model(request, obj, form, change)
        by = _actor(request)
        if not change:
            record_for_person("person.created", obj, by)
            return
        switched = {name: getattr(obj, name) for name in SWITCHES if before.get(name) != getattr(obj, name)}
        if "is_active" in switched:
            record_for_person("person.enabled" if switched.pop("is_active") else "person.disabled", obj, by)
        fields = sorted(set(form.changed_data) - {"is_active"})
        if fields:
            record_for_person("person.changed", obj, by, fields=fields, **switched)
        if before.get("is_active") and not obj.is_active:
            for organisation_id in RoleGroup.objects.filter(group__user=obj).values_list("organisation", flat=True):
                tell_rights_taken(organisation_id)

    @method_decorator(sensitive_post_parameters())
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        with transaction.atomic():
            response: HttpResponse = super().user_change_password(request, id, form_url)
            person = self.get_object(request, id) if was_accepted(request, response) else None
            if person is not None:
                usable = person.has_usable_password()
                record_for_person("person.password_set", person, _actor(request), usable=usable)
        return response


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
        _record(request, obj.pk, "organisation", form, change, slug=obj.slug)


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
        _record(request, obj.organisation_id, "department", form, change, department=obj.slug)


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


def _actor(request: HttpRequest) -> Actor:
    """Raises TypeError for nobody; the site lets only people in."""
    if not isinstance(request.user, Person):
        raise TypeError("nobody is signed in")
    return actor_of_person(request.user)


def _record(request: HttpRequest, organisation_id: int, noun: str, form: Any, change: bool, **facts: Any) -> None:
    if change and not form.changed_data:
        return
    changed = {"fields": sorted(form.changed_data)} if change else {}
    kind = f"{noun}.changed" if change else f"{noun}.created"
    record_organisation_event(organisation_id, kind, actor=_actor(request), facts=facts | changed)
