"""Pauses in words: the banner of every page, the page of pauses, and why a case stands still."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts import access
from accounts.models import Organisation, Person
from caseflow.domain.roles import Right
from cases.models import Pause
from cases.pausing import CAP_REACHED
from cases.processes import newest_process
from operations.pauses import Standing, list_pauses, list_standing
from operations.pausing import MAX_REASON, process_slugs

from . import vocabulary, words

OVER = 20  #: pauses that are over, on the page

_EVERYWHERE = {
    "all": gettext_lazy("Everything is paused"),
    "process": gettext_lazy("The process “%(name)s” is paused"),
    "system": gettext_lazy("The system “%(name)s” is paused: nothing is sent to it"),
}
_SOMEWHERE = {
    "organisation": gettext_lazy("%(organisation)s is paused"),
    "process": gettext_lazy("The process “%(name)s” is paused at %(organisation)s"),
    "system": gettext_lazy("The system “%(name)s” is paused for %(organisation)s: nothing is sent to it"),
}
_INSTALLATION = {
    "restored": gettext_lazy("Nothing is sent: this database was restored from a copy"),
    "elsewhere": gettext_lazy("Nothing is sent: this database belongs to another installation"),
}
_CAP = gettext_lazy("More changes than allowed within an hour; paused by Caseflow itself.")
_AFTER_CHECK = gettext_lazy("First every open result is checked, then a platform operator resumes.")

#: How long a pause may be asked for: hours, none without an end.
LENGTHS: dict[str, timedelta | None] = {
    "1": timedelta(hours=1),
    "4": timedelta(hours=4),
    "24": timedelta(hours=24),
    "168": timedelta(days=7),
    "": None,
}


@dataclass(frozen=True, slots=True)
class Banner:
    """The most severe of what stands still, and how much there is of it."""

    title: str
    reason: str
    until: datetime | None
    total: int


@dataclass(frozen=True, slots=True)
class PauseShown:
    """One pause as a line; `may_end` for who may resume."""

    public_id: str
    title: str
    reason: str
    by: str
    at: datetime
    until: datetime | None
    over_at: datetime | None
    ended_by: str
    may_end: bool


@dataclass(frozen=True, slots=True)
class PausesPage:
    live: Sequence[PauseShown]
    over: Sequence[PauseShown]
    may_pause: bool


@dataclass(frozen=True, slots=True)
class Reach:
    """What a person may pause; gathered once for a page."""

    everywhere: bool
    organisations: Sequence[Organisation]

    def __bool__(self) -> bool:
        return self.everywhere or bool(self.organisations)

    def covers(self, pause: Pause) -> bool:
        """The same rule as `operations.pausing.require`, for what a page offers."""
        own = {organisation.pk for organisation in self.organisations}
        return self.everywhere or (pause.kind == Pause.Kind.PROCESS and pause.organisation_id in own)


def banner_for(person: Person) -> Banner | None:
    """One query."""
    standing = list_standing(person)
    if not standing:
        return None
    first = standing[0]
    return Banner(_title(first.kind, first.key, first.organisation), _why(first), first.until, len(standing))


def reach_of(person: Person) -> Reach:
    """Two queries."""
    everywhere = access.is_platform_operator(person)
    if everywhere:
        found = Organisation.objects.all()
    else:
        found = access.organisations_with(person, Right.RECOVER)
    return Reach(everywhere, list(found.order_by("name")))


def gather(person: Person, reach: Reach) -> PausesPage:
    """Two queries."""
    return PausesPage(
        shown(list_pauses(person, live=True), reach),
        shown(list_pauses(person, live=False)[:OVER], reach, over=True),
        bool(reach),
    )


def shown(pauses: Iterable[Pause], reach: Reach | None = None, *, over: bool = False) -> list[PauseShown]:
    """Lines for these; no query. Without a reach nothing can be ended from the line."""
    return [
        PauseShown(
            public_id=pause.public_id,
            title=title_of(pause),
            reason=_reason(pause.reason),
            by=_by(pause.by),
            at=pause.at,
            until=pause.until,
            over_at=(pause.ended_at or pause.until) if over else None,
            ended_by=pause.ended_by.get_full_name() if pause.ended_by else "",
            may_end=not over and reach is not None and reach.covers(pause),
        )
        for pause in pauses
    ]


def title_of(pause: Pause) -> str:
    """What is paused, and where."""
    return _title(pause.kind, pause.key, pause.organisation.name if pause.organisation else "")


class PauseForm(forms.Form):
    """What the person may pause. The service judges what was chosen: a forged choice is refused there, on record."""

    what = forms.CharField(label=_("What to pause"), widget=forms.Select)
    where = forms.CharField(label=_("Where"), widget=forms.Select, required=False)
    lasts = forms.ChoiceField(label=_("For how long"), required=False)
    reason = forms.CharField(
        label=_("Reason"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Shown to everybody whose cases wait. Name no customer here."),
    )

    def __init__(self, reach: Reach, data: Any = None) -> None:
        super().__init__(data, auto_id="pause-%s", initial={"lasts": ""})
        self.fields["what"].widget.choices = _targets(reach.everywhere)
        places = [("", gettext("Everywhere"))] if reach.everywhere else []
        self.fields["where"].widget.choices = [*places, *((one.slug, one.name) for one in reach.organisations)]
        self.fields["lasts"].choices = [  # type: ignore[attr-defined]
            ("1", gettext("1 hour")),
            ("4", gettext("4 hours")),
            ("24", gettext("24 hours")),
            ("168", gettext("7 days")),
            ("", gettext("until somebody resumes")),
        ]

    @property
    def kind_and_name(self) -> tuple[str, str]:
        kind, _, name = self.cleaned_data["what"].partition(":")
        return kind, name

    @property
    def length(self) -> timedelta | None:
        return LENGTHS[self.cleaned_data["lasts"]]


class ResumeForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the history."),
    )


def _targets(everywhere: bool) -> list[tuple[str, str]]:
    processes = [
        (f"process:{slug}", gettext("Process: %(name)s") % {"name": _process(slug)}) for slug in process_slugs()
    ]
    if not everywhere:
        return processes
    systems = [
        (f"system:{name}", gettext("System: %(name)s") % {"name": vocabulary.system_label(name)})
        for name in sorted(settings.ADAPTERS)
    ]
    return [
        *processes,
        *systems,
        ("organisation", gettext("The whole organisation")),
        ("all", gettext("Everything, everywhere")),
    ]


def _title(kind: str, key: str, organisation: str) -> str:
    if kind == "installation":
        return str(_INSTALLATION[key])
    name = _process(key) if kind == "process" else vocabulary.system_label(key)
    template = (_SOMEWHERE if organisation else _EVERYWHERE)[kind]
    return str(template) % {"name": name, "organisation": organisation}


def _process(slug: str) -> str:
    """A pause may outlive the installation of its process."""
    if slug not in process_slugs():
        return slug
    return words.process_title(slug, newest_process(slug).version)


def _why(standing: Standing) -> str:
    return str(_AFTER_CHECK) if standing.kind == "installation" else _reason(standing.reason)


def _reason(reason: str) -> str:
    return str(_CAP) if reason == CAP_REACHED else reason


def _by(person: Person | None) -> str:
    return person.get_full_name() if person else gettext("Caseflow")
