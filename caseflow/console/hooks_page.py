"""Programs that are told of cases: the forms that set one up, and the log of what it was told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django import forms
from django.conf import settings
from django.db.models import Case, Count, Exists, Max, Min, Q, QuerySet, When
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import Organisation
from operations.hook_models import Hook, HookDelivery
from operations.hooks import HELPDESK, LONGEST_URL, Wanted, given_up, live_tasks

from . import words
from .paging import Order, page_by_key

PAGE = 50  #: rows
#: A row has no public id; it is named as the receiver knows it, by case and version.
NEWEST = Order(newest=True, part="version", named="case__public_id", name_of=attrgetter("case.public_id"))

CHANNELS: dict[str, Promise] = {
    Hook.Channel.WEBHOOK.value: _("Signed webhook"),
    Hook.Channel.TICKET.value: _("Line in the ticket"),
}
KINDS: dict[str, Promise] = {
    Hook.Kind.OPENED.value: _("a case is opened"),
    Hook.Kind.CHANGED.value: _("its state changes"),
    Hook.Kind.ATTENTION.value: _("it needs attention"),
    Hook.Kind.CLOSED.value: _("it is closed"),
}
STATUSES: dict[str, tuple[str, Promise]] = {
    "sent": ("check", _("arrived")),
    "waiting": ("clock", _("on its way")),
    "failed": ("warning", _("given up")),
    "skipped": ("minus", _("not told")),
}


class HookForm(forms.Form):
    """A new hook; what belongs to the other channel may stay empty."""

    name = forms.CharField(label=_("Name"), max_length=100)
    channel = forms.ChoiceField(label=_("How it is told"), choices=lambda: _channels())
    url = forms.CharField(
        label=_("Address"),
        max_length=LONGEST_URL,
        required=False,
        help_text=_("Of a webhook: https, and a host that this installation may reach."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"}),
    )
    source = forms.CharField(
        label=_("Source of the tickets"),
        max_length=64,
        required=False,
        help_text=_("Of a line in the ticket: only cases that came from there."),
    )
    language = forms.ChoiceField(label=_("Language of the line"), choices=lambda: settings.LANGUAGES)
    kinds = forms.MultipleChoiceField(
        label=_("It is told when"),
        choices=list(KINDS.items()),
        initial=list(KINDS),
        widget=forms.CheckboxSelectMultiple,
    )

    @property
    def wanted(self) -> Wanted:
        return Wanted(**self.cleaned_data)


@dataclass(frozen=True, slots=True)
class Line:
    """One delivery in words; `lost`: nothing tries it any more."""

    row: HookDelivery
    kind: str
    state: words.Shown
    icon: str
    status: str
    lost: bool


@dataclass(frozen=True, slots=True)
class HookShown:
    """A hook as its list tells it."""

    hook: Hook
    channel: str
    kinds: Sequence[str]


@dataclass(frozen=True, slots=True)
class HookPage:
    shown: HookShown
    only_failed: bool
    waiting: int
    oldest: datetime | None
    failed: int
    arrived: datetime | None
    lines: Sequence[Line]
    pages: Mapping[str, str]


def list_hooks(organisation: Organisation) -> list[HookShown]:
    """One query."""
    return [show(hook) for hook in Hook.objects.filter(organisation=organisation).order_by("name", "pk")]


def show(hook: Hook) -> HookShown:
    return HookShown(hook, str(CHANNELS[hook.channel]), [str(KINDS[kind]) for kind in hook.kinds])


def gather(hook: Hook, query: QueryDict) -> HookPage:
    """Four queries, whatever was told."""
    rows = HookDelivery.objects.filter(hook=hook)
    alive = Q(status="waiting", alive=True)
    numbers = (
        rows.filter(status__in=("waiting", "failed"))
        .annotate(alive=Case(When(status="waiting", then=Exists(live_tasks())), default=False))
        .aggregate(
            waiting=Count("pk", filter=alive), oldest=Min("created_at", filter=alive), failed=Count("pk", filter=~alive)
        )
    )
    arrived = rows.filter(status="sent").aggregate(at=Max("settled_at"))["at"]
    only_failed = query.get("failed") == "1"
    listed = given_up(rows) if only_failed else rows.select_related("case")
    chosen = {"failed": "1"} if only_failed else {}
    page = page_by_key(_with_words(listed), rows, NEWEST, query, chosen, size=PAGE)
    return HookPage(
        shown=show(hook),
        only_failed=only_failed,
        waiting=numbers["waiting"],
        oldest=numbers["oldest"],
        failed=numbers["failed"],
        arrived=arrived,
        lines=[_line(row) for row in page.rows],
        pages=page.links,
    )


def list_told(case_id: int) -> list[Line]:
    """The newest telling of one case by each hook; one query."""
    rows = HookDelivery.objects.filter(case=case_id).exclude(status="skipped").select_related("hook", "event")
    newest = rows.order_by("hook", "-version").distinct("hook")
    return [_line(row) for row in newest.annotate(alive=Exists(live_tasks()))]


def _with_words(rows: QuerySet[HookDelivery]) -> QuerySet[HookDelivery]:
    return rows.select_related("case", "event", "hook").annotate(alive=Exists(live_tasks())).order_by("-pk")


def _line(row: Any) -> Line:
    lost = row.status == "failed" or (row.status == "waiting" and not row.alive)
    icon, status = STATUSES["failed" if lost else row.status]
    return Line(row, str(KINDS[row.kind]), words.state_word(row.event.to_state), icon, str(status), lost)


def _channels() -> list[tuple[str, Promise]]:
    """A line in the ticket is offered where the installation has an adapter for it."""
    return [
        (name, label)
        for name, label in CHANNELS.items()
        if name == Hook.Channel.WEBHOOK or HELPDESK in settings.ADAPTERS
    ]
