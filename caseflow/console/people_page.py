"""People and roles of one organisation: what the page shows, and the forms that grant and revoke."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.granting import MAX_REASON, Held, roles_of
from accounts.models import Department, Organisation, Person
from caseflow.domain import words as domain
from caseflow.domain.roles import Role

from . import words


@dataclass(frozen=True, slots=True)
class RoleShown:
    """One role of one person; `department` is its short name, empty for the whole organisation."""

    code: str
    label: str
    department: str
    place: str


@dataclass(frozen=True, slots=True)
class Row:
    """One person with their roles there."""

    person: Person
    roles: Sequence[RoleShown]


def rows_of(organisation: Organisation, people: list[Person]) -> list[Row]:
    """Two queries."""
    held = roles_of(organisation, people)
    return [Row(person, [role_shown(one) for one in held[person.pk]]) for person in people]


def role_shown(held: Held) -> RoleShown:
    department = held.department
    return RoleShown(
        held.role.value,
        str(words.ROLES[held.role.value]),
        department.slug if department else "",
        department.name if department else "",
    )


def role_help(role: Role) -> str:
    """What the role allows, in a sentence."""
    return gettext(domain.ROLES[role.value].help)


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the audit trail."),
    )


class GrantForm(ReasonForm):
    username = forms.CharField(
        label=_("Sign-in name"),
        max_length=150,
        help_text=_("Exactly as the person signs in."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    role = forms.ChoiceField(label=_("Role"), choices=[(role.value, words.ROLES[role.value]) for role in Role])
    department = forms.ChoiceField(label=_("Department"), required=False, help_text=_("For report readers only."))
    field_order = ["username", "role", "department", "reason"]

    def __init__(self, organisation: Organisation, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.departments = {one.slug: one for one in Department.objects.filter(organisation=organisation)}
        choices = [(slug, one.name) for slug, one in sorted(self.departments.items(), key=lambda pair: pair[1].name)]
        self.fields["department"].choices = [("", _("the whole organisation")), *choices]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("department") and cleaned.get("role") != Role.REPORT_READER:
            self.add_error("department", _("Only report readers belong to a department."))
        return cleaned

    @property
    def role_chosen(self) -> Role:
        return Role(self.cleaned_data["role"])

    @property
    def department_chosen(self) -> Department | None:
        return self.departments.get(self.cleaned_data["department"])
