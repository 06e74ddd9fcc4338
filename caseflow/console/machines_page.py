"""Machines and doorbells of one organisation: the forms of the page that sets them up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from accounts.granting import list_people
from accounts.models import Organisation, Person
from caseflow.domain.roles import RIGHTS_OF_SERVICES, Right

from . import vocabulary, words

LIVES = [("30", _("30 days")), ("90", _("90 days")), ("365", _("a year"))]
OVERLAPS = [("0", _("none: the old one ends at once")), ("1", _("a day")), ("7", _("a week"))]


class TokenForm(forms.Form):
    life = forms.ChoiceField(label=_("Valid for"), choices=LIVES, initial="90")

    @property
    def lasts(self) -> timedelta:
        return timedelta(days=int(self.cleaned_data["life"]))


class RotateForm(TokenForm):
    overlap = forms.ChoiceField(
        label=_("Time to change over"),
        choices=OVERLAPS,
        initial="1",
        help_text=_("So long the old one stays good beside the new one."),
    )

    @property
    def goes_on(self) -> timedelta:
        return timedelta(days=int(self.cleaned_data["overlap"]))


class RotateSecretForm(forms.Form):
    overlap = RotateForm.base_fields["overlap"]

    @property
    def goes_on(self) -> timedelta:
        return timedelta(days=int(self.cleaned_data["overlap"]))


class OwnerForm(forms.Form):
    owner = forms.ModelChoiceField(
        queryset=Person.objects.none(),
        label=_("Owner"),
        help_text=_("Answers for the machine and never decides on what it brought."),
    )

    def __init__(self, organisation: Organisation, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        owners = list_people(organisation).filter(is_active=True)
        self.fields["owner"].queryset = owners  # type: ignore[attr-defined]


class MachineForm(OwnerForm, TokenForm):
    name = forms.CharField(label=_("Name"), max_length=100)
    rights = forms.MultipleChoiceField(
        label=_("What it may do"),
        choices=[(right.value, words.RIGHTS[right.value]) for right in Right if right in RIGHTS_OF_SERVICES],
        widget=forms.CheckboxSelectMultiple,
    )
    field_order = ["name", "owner", "rights", "life"]


class SourceForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=100)
    system = forms.ChoiceField(label=_("Outside system"), choices=lambda: _systems())


def _systems() -> list[tuple[str, str]]:
    return [(name, vocabulary.system_label(name)) for name in settings.ADAPTERS]
