"""Orders for many cases on pages: the form under a list, the frozen preview, and the progress with every result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext, gettext_lazy, ngettext

from accounts import access
from accounts.models import Person
from caseflow.domain import bulk_words
from caseflow.domain.bulk import RATES, RIGHTS, USUAL_RATE, BulkKind
from caseflow.domain.roles import Right
from cases.models import Case
from operations.bulk import MAX_REASON
from operations.bulk_selectors import Counts, count_reasons, counts_of, is_stalled, list_items
from operations.models import Bulk, BulkItem

from . import words
from .addresses import address_of, one_of, pages_of

PAGE = 50  #: cases

_LOOKS = {
    "preview": ("search", "wait"),
    "running": ("play", "busy"),
    "paused": ("pause", "wait"),
    "ended": ("check", "done"),
    "cancelled": ("minus", "calm"),
}
_ITEM_LOOKS = {
    "planned": ("clock", "calm"),
    "done": ("check", "done"),
    "failed": ("cross", "alert"),
    "skipped": ("minus", "calm"),
}


@dataclass(frozen=True, slots=True)
class Bar:
    """The form under a list of cases; `query` is the list's own address."""

    kinds: Sequence[tuple[str, str]]
    query: str
    total: int

    @property
    def may_hand_over(self) -> bool:
        return any(kind == BulkKind.HAND_OVER for kind, _ in self.kinds)


@dataclass(frozen=True, slots=True)
class Left:
    """Cases that were left out, or failed, for one reason."""

    status: words.Shown
    sentence: str
    number: int


@dataclass(frozen=True, slots=True)
class Line:
    """One case of the list and what came of it."""

    item: BulkItem
    status: words.Shown
    sentence: str


@dataclass(frozen=True, slots=True)
class Tab:
    status: words.Shown
    number: int
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """The part that moves: how far it is and what may be done with it."""

    bulk: Bulk
    status: words.Shown
    kind: str
    counts: Counts
    left: Sequence[Left]
    stalled: bool
    may: bool

    @property
    def moving(self) -> bool:
        return self.bulk.status == Bulk.Status.RUNNING

    @property
    def may_pause(self) -> bool:
        return self.may and self.bulk.status == Bulk.Status.RUNNING

    @property
    def may_resume(self) -> bool:
        return self.may and (self.bulk.status == Bulk.Status.PAUSED or self.stalled)

    @property
    def may_cancel(self) -> bool:
        return self.may and self.bulk.status in (Bulk.Status.RUNNING, Bulk.Status.PAUSED)


@dataclass(frozen=True, slots=True)
class BulkPage:
    """One bulk with a page of its list."""

    progress: Progress
    title: str
    effect: str
    affected: str
    skipped: str
    button: str
    mine: bool
    tabs: Sequence[Tab]
    all_address: str
    address: str
    page: Page[Any]
    lines: Sequence[Line]
    pages: dict[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One bulk in the list of them."""

    bulk: Bulk
    kind: str
    status: words.Shown
    counts: Counts


class ConfirmForm(forms.Form):
    """The count that was seen is typed; the list it counts does not change any more."""

    count = forms.IntegerField(
        min_value=1, widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"})
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Kept with this order, and in the history of every case. Name nobody here."),
    )
    rate = forms.TypedChoiceField(
        label=gettext_lazy("How fast"), coerce=int, initial=USUAL_RATE, choices=lambda: _rates()
    )

    def __init__(self, planned: int, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.planned = planned
        self.fields["count"].label = gettext("Type %(number)s") % {"number": planned}

    def clean_count(self) -> int:
        count: int = self.cleaned_data["count"]
        if count != self.planned:
            raise forms.ValidationError(gettext("Type %(number)s to confirm.") % {"number": self.planned})
        return count


def bar_for(person: Person, query: str, total: int | None) -> Bar | None:
    """What may be ordered for a list; None for somebody who orders recoveries nowhere, and where nobody knows for how
    many cases. One query."""
    rights = access.rights_anywhere(person)
    kinds = [(kind.value, kind_label(kind)) for kind in BulkKind if rights.issuperset(RIGHTS[kind])]
    return Bar(kinds, query, total) if kinds and total else None


def colleague_named(person: Person, username: str) -> Person | None:
    """Somebody who may work on cases where `person` may; nobody else is told apart from a stranger. Two queries."""
    found = Person.objects.filter(username=username.replace("\x00", "").strip(), is_active=True).first()
    if found is None:
        return None
    here = access.organisations_with(person, Right.SUPPLY_DATA)
    theirs = access.organisations_with(found, Right.SUPPLY_DATA)
    return found if here.filter(pk__in=theirs.values("pk")).exists() else None


def kind_label(kind: str) -> str:
    return gettext(bulk_words.KINDS[kind].label)


def item_sentence(item: BulkItem) -> str:
    """Why it was left out or failed; '' where it was not."""
    return gettext(bulk_words.SKIPS[item.reason]) if item.reason in bulk_words.SKIPS else item.reason


def status_word(status: str) -> words.Shown:
    word, (icon, tone) = bulk_words.STATUSES[status], _LOOKS[status]
    return words.Shown(status, gettext(word.label), gettext(word.help), icon, tone)


def item_word(status: str) -> words.Shown:
    icon, tone = _ITEM_LOOKS[status]
    return words.Shown(status, gettext(bulk_words.ITEMS[status]), "", icon, tone)


def progress_of(bulk: Bulk, person: Person) -> Progress:
    """Three queries."""
    here = Case.objects.filter(pk__in=bulk.items.values("case")).order_by()
    elsewhere = here.exclude(organisation__in=access.organisations_with(person, Right.RECOVER).values("pk"))
    left = [
        Left(item_word(status), gettext(bulk_words.SKIPS.get(reason, reason)), number)
        for status, reason, number in count_reasons(bulk)
    ]
    return Progress(
        bulk=bulk,
        status=status_word(bulk.status),
        kind=kind_label(bulk.kind),
        counts=counts_of(bulk),
        left=left,
        stalled=is_stalled(bulk),
        may=not elsewhere.exists(),
    )


def gather(bulk: Bulk, person: Person, query: QueryDict) -> BulkPage:
    """Six queries, whatever the length of the list."""
    progress = progress_of(bulk, person)
    chosen = {"status": one_of(query, "status", BulkItem.Status.values)}
    rows: QuerySet[BulkItem] = list_items(bulk, chosen["status"])
    paginator = Paginator(rows, PAGE)
    page = paginator.get_page(query.get("page"))
    counts = progress.counts
    return BulkPage(
        progress=progress,
        title=title_of(bulk.kind, counts.total),
        effect=gettext(bulk_words.KINDS[bulk.kind].help),
        affected=affected_text(counts.planned),
        skipped=skipped_text(counts.skipped),
        button=button_of(bulk.kind, counts.planned),
        mine=bulk.ordered_by_id == person.pk,
        tabs=[
            Tab(item_word(status), getattr(counts, status), address_of({}, status=status), status == chosen["status"])
            for status in BulkItem.Status.values
        ],
        all_address=address_of({}),
        address=address_of(chosen, id=bulk.public_id),
        page=page,
        lines=[Line(item, item_word(item.status), item_sentence(item)) for item in page.object_list],
        pages=pages_of(page, chosen),
    )


def rows_of(bulks: Iterable[Bulk]) -> list[Row]:
    return [Row(bulk, kind_label(bulk.kind), status_word(bulk.status), counts_of(bulk)) for bulk in bulks]


def title_of(kind: str, number: int) -> str:
    """The question: verb and how many."""
    said = {
        "observe_again": ngettext("Check %(number)s case again?", "Check %(number)s cases again?", number),
        "reconcile": ngettext(
            "Check %(number)s case with the service?", "Check %(number)s cases with the service?", number
        ),
        "ask_data": ngettext("Ask for data for %(number)s case?", "Ask for data for %(number)s cases?", number),
        "hand_over": ngettext("Hand %(number)s case over?", "Hand %(number)s cases over?", number),
    }
    return said[kind] % {"number": number}


def button_of(kind: str, number: int) -> str:
    """The same verb, and how many are affected."""
    said = {
        "observe_again": ngettext("Check %(number)s case again", "Check %(number)s cases again", number),
        "reconcile": ngettext(
            "Check %(number)s case with the service", "Check %(number)s cases with the service", number
        ),
        "ask_data": ngettext("Ask for data for %(number)s case", "Ask for data for %(number)s cases", number),
        "hand_over": ngettext("Hand %(number)s case over", "Hand %(number)s cases over", number),
    }
    return said[kind] % {"number": number}


def affected_text(number: int) -> str:
    return ngettext("%(number)s case will have its turn.", "%(number)s cases will have their turn.", number) % {
        "number": number
    }


def skipped_text(number: int) -> str:
    return ngettext("%(number)s case is skipped.", "%(number)s cases are skipped.", number) % {"number": number}


def refusal_text(reason: str) -> str:
    return gettext(bulk_words.REFUSALS.get(reason, reason))


def _rates() -> list[tuple[int, str]]:
    return [(number, _a_minute(number)) for number in RATES]


def _a_minute(number: int) -> str:
    return ngettext("%(number)s case a minute", "%(number)s cases a minute", number) % {"number": number}
