"""Forms: what a person says of a proposal, data they supply, and how they want to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Person, time_zones
from approvals.deciding import MAX_REASON
from caseflow.domain.notices import STAFF_NOTICES
from caseflow.domain.process import Process

from . import vocabulary


class DecisionForm(forms.Form):
    """What was seen travels with the decision: another digest or version is refused (requirement E3)."""

    digest = forms.CharField(widget=forms.HiddenInput, strip=False)
    version = forms.IntegerField(widget=forms.HiddenInput)

    @property
    def said(self) -> Mapping[str, Any]:
        """Keyword arguments of `approvals.deciding.decide`."""
        data = self.cleaned_data
        return {
            "seen_digest": data["digest"],
            "seen_version": data["version"],
            "reason": data.get("reason", ""),
            "next": data.get("next", ""),
        }


class ReasonedForm(DecisionForm):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the history as personal text."),
    )


class RejectForm(ReasonedForm):
    next = forms.ChoiceField(
        label=_("What follows"),
        choices=[("by_hand", _("handle manually")), ("close", _("close without change"))],
        widget=forms.RadioSelect,
    )
    field_order = ["digest", "version", "next", "reason"]


class AskDataForm(ReasonedForm):
    reason = forms.CharField(
        label=_("What is needed"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the history as personal text."),
    )


class SupplyForm(forms.Form):
    """The open fields of the process's intake, with what is known of them."""

    revision = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, process: Process, known: Mapping[str, str], revision: int, data: Any = None) -> None:
        super().__init__(data, initial={"revision": revision})
        self.known = known
        for name, field in process.Intake.model_fields.items():
            if name in process.personal_intake or field.annotation is not str:
                continue
            self.fields[name] = forms.CharField(
                label=vocabulary.field_label(name), initial=known.get(name, ""), max_length=400, required=False
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not self.changed:
            raise forms.ValidationError(_("Change at least one value."), code="nothing")
        return cleaned

    @property
    def changed(self) -> dict[str, str]:
        """Only what differs: the history names the fields that were supplied."""
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if name != "revision" and value and value != self.known.get(name, "")
        }


class PreferencesForm(forms.ModelForm):
    time_zone = forms.ChoiceField(label=_("time zone"), choices=lambda: [(name, name) for name in time_zones()])

    class Meta:
        model = Person
        fields = ("language", "time_zone", "theme", "density", "shortcuts")

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["density"].required = False
        muted = set(self.instance.muted_notices)
        self.fields["notices"] = forms.MultipleChoiceField(
            label=_("Tell me by mail"),
            choices=[(kind.value, gettext(word.label)) for kind, word in STAFF_NOTICES.items()],
            initial=[kind.value for kind in STAFF_NOTICES if kind.value not in muted],
            widget=forms.CheckboxSelectMultiple,
            required=False,
        )

    def clean_density(self) -> str:
        return self.cleaned_data["density"] or self.instance.density

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        wanted = set(cleaned.get("notices", ()))
        self.instance.muted_notices = [kind.value for kind in STAFF_NOTICES if kind.value not in wanted]
        return cleaned
