"""Recoveries on pages: the buttons of a case, the confirmation of one kind, what was ordered and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Person
from caseflow.domain import recovery_words
from caseflow.domain.lifecycle import State
from caseflow.domain.process import Process
from caseflow.domain.recovery import RULES, Evidence, Kind, Result
from cases.models import Case
from operations.models import Recovery
from operations.ordering import MAX_TEXT
from operations.selectors import Choices, choices_for, list_recoveries

from . import vocabulary, words

#: The one step that the reason of the stop speaks for, where it can be ordered.
RECOMMENDED = {
    "unknown_too_long": Kind.RECONCILE,
    "not_confirmed": Kind.RECONCILE,
    "not_applied": Kind.ACCEPT_NOT_APPLIED,
    "notice_unconfirmed": Kind.SEND_NOTICE,
    "no_access": Kind.SEND_NOTICE,
    "invalid_data": Kind.CORRECT_INPUT,
    "rejected_by_hand": Kind.FINISH_BY_HAND,
}
_HELP = gettext_lazy("Kept in the history as personal text.")


@dataclass(frozen=True, slots=True)
class Button:
    """A recovery that may be ordered now."""

    kind: str
    label: str
    main: bool

    @property
    def slug(self) -> str:
        return self.kind.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Line:
    """One order as a page tells it."""

    row: Recovery
    kind: str
    status: str
    result: str
    action_status: words.Shown | None
    came_of_it: str
    may_sign: bool
    may_take_back: bool


@dataclass(frozen=True, slots=True)
class Section:
    """The part of a case's page that is about recoveries."""

    buttons: Sequence[Button]
    lines: Sequence[Line]
    stopped: bool

    @property
    def shown(self) -> bool:
        return self.stopped or bool(self.buttons) or bool(self.lines)


@dataclass(frozen=True, slots=True)
class Asking:
    """The confirmation: a question that names the object, what happens, what does not, whether it can be undone."""

    kind: str
    title: str
    effect: str
    not_done: str
    button: str
    undo: str


def section_of(case: Case, person: Person) -> Section:
    """Eight queries."""
    choices = choices_for(person, case)
    wanted = RECOMMENDED.get(case.reason, Kind.OBSERVE_AGAIN)
    buttons = [
        Button(kind, gettext(recovery_words.KINDS[kind]), case.state == State.NEEDS_ATTENTION and kind is wanted)
        for kind in choices.kinds
    ]
    lines = [line_of(row, case, person, may_authorise=choices.may_authorise) for row in list_recoveries(case.pk)]
    return Section(buttons, lines, stopped=case.state == State.NEEDS_ATTENTION)


def line_of(row: Recovery, case: Case, person: Person, *, may_authorise: bool) -> Line:
    waiting = row.status == Recovery.Status.WAITING
    overtaken = waiting and row.case_version != case.version
    own = row.asked_by_id == person.pk
    return Line(
        row=row,
        kind=gettext(recovery_words.KINDS[row.kind]),
        status=gettext(recovery_words.STATUSES["refused" if overtaken else row.status]),
        result=gettext(recovery_words.RESULTS[row.result]) if row.result else "",
        action_status=words.action_word(row.action_status) if row.action_status else None,
        came_of_it=_came_of_it("version_moved" if overtaken else row.outcome),
        may_sign=waiting and not overtaken and may_authorise and not own,
        may_take_back=waiting and (own or may_authorise),
    )


def asking_of(kind: Kind, case: Case, choices: Choices) -> Asking:
    said = recovery_words.CONFIRMATIONS[kind]
    action = _action_in_doubt(choices)
    places = {
        "case": case.external_id,
        "action": action.get("action", ""),
        "subject": action.get("subject", ""),
        "key": action.get("key", ""),
    }
    return Asking(
        kind,
        gettext(said.title).format(**places),
        gettext(said.effect).format(**places),
        gettext(said.not_done).format(**places),
        gettext(said.button),
        gettext(said.undo),
    )


class RecoveryForm(forms.Form):
    """What was seen travels with the order: a version that moved on is refused."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    action = forms.CharField(widget=forms.HiddenInput, required=False)
    action_status = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, kind: Kind, process: Process, name: str, known: Mapping[str, str], *args: Any, **more: Any):
        """`name` is what has to be typed where people say something by hand; `known` are the open intake fields."""
        super().__init__(*args, **more)
        self.kind, self.name, self.known = kind, name, known
        self.data_names: list[str] = []
        if kind is Kind.CORRECT_INPUT:
            self._add_intake(process)
        if kind is Kind.RESULT_BY_HAND:
            choices = [(result.value, gettext(recovery_words.RESULTS[result])) for result in Result]
            self.fields["result"] = forms.ChoiceField(
                label=gettext("Result"), choices=choices, widget=forms.RadioSelect
            )
        self.fields["reason"] = _text(gettext("Reason"))
        if RULES[kind].evidence is Evidence.WRITTEN:
            self.fields["evidence"] = _text(gettext("Evidence (link or number)"))
            self.fields["typed"] = forms.CharField(
                label=gettext("Type %(name)s") % {"name": name}, max_length=40, strip=True
            )

    def _add_intake(self, process: Process) -> None:
        for name, field in process.Intake.model_fields.items():
            if name in process.personal_intake or field.annotation is not str:
                continue
            self.data_names.append(name)
            self.fields[f"data_{name}"] = forms.CharField(
                label=vocabulary.field_label(name),
                initial=self.known.get(name, ""),
                max_length=400,
                required=False,
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "typed" in cleaned and cleaned["typed"].upper() != self.name.upper():
            self.add_error("typed", gettext("Type %(name)s to confirm.") % {"name": self.name})
        if self.kind is Kind.CORRECT_INPUT and not self.errors and not self.changed:
            raise forms.ValidationError(gettext("Change at least one value."), code="nothing")
        return cleaned

    @property
    def changed(self) -> dict[str, str]:
        """Only what differs: the history names the fields that were corrected."""
        values = {name: self.cleaned_data.get(f"data_{name}", "") for name in self.data_names}
        return {name: value for name, value in values.items() if value and value != self.known.get(name, "")}

    @property
    def said(self) -> dict[str, Any]:
        """Keyword arguments of `operations.ordering.order_recovery`."""
        data = self.cleaned_data
        return {
            "seen_version": data["version"],
            "reason": data["reason"],
            "action": data["action"],
            "action_status": data["action_status"],
            "result": data.get("result", ""),
            "evidence": data.get("evidence", ""),
            "data": self.changed if self.kind is Kind.CORRECT_INPUT else None,
        }


class SignForm(forms.Form):
    """What the second person saw."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    action_status = forms.CharField(widget=forms.HiddenInput, required=False)


def seen_by(kind: Kind, case: Case, choices: Choices) -> dict[str, Any]:
    """The hidden fields of the confirmation."""
    doubt = choices.seen.standing.doubt
    seen: dict[str, Any] = {"version": case.version}
    if RULES[kind].about_action and doubt is not None:
        seen |= {"action": doubt.action, "action_status": doubt.status}
    return seen


def name_to_type(kind: Kind, case: Case, choices: Choices) -> str:
    doubt = choices.seen.standing.doubt
    return doubt.action if RULES[kind].about_action and doubt is not None else case.public_id


def kind_of(slug: str) -> Kind | None:
    """The kind of an address; None for one that does not exist."""
    name = slug.replace("-", "_")
    return Kind(name) if name in list(Kind) and "_" not in slug else None


def _action_in_doubt(choices: Choices) -> dict[str, str]:
    doubtful, plan = choices.seen.doubtful, choices.seen.plan
    if doubtful is None:
        return {}
    spec = next((one for one in plan.effects if one.id == doubtful.doubt.action), None) if plan else None
    if spec is None:
        return {"action": doubtful.doubt.action, "subject": doubtful.doubt.action}
    return {"action": spec.id, "subject": spec.subject, "key": spec.key}


def _came_of_it(outcome: str) -> str:
    """A state in its word, the end of an action in its word, or the sentence of a refusal."""
    if outcome in recovery_words.REASONS:
        return gettext(recovery_words.REASONS[outcome])
    if outcome in list(State):
        return words.state_word(outcome).label
    return words.action_word(outcome).label if outcome == "REFUSED" else ""


def _text(label: str) -> forms.CharField:
    return forms.CharField(label=label, max_length=MAX_TEXT, widget=forms.Textarea(attrs={"rows": 3}), help_text=_HELP)
