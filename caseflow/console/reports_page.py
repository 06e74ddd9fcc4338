"""Regular reports: what is owed and how far it is, and one of them with its editions, recipients and openings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.http import QueryDict
from django.utils.translation import gettext

from accounts import access
from accounts.models import Organisation, Person
from caseflow.domain.roles import Right
from documents import access as document_access
from documents.models import DocumentOpening
from documents.selectors import list_openings
from documents.wording import title
from operations.report_models import Obligation
from operations.report_selectors import Delivery, deliveries_of, list_obligations

from . import recoveries
from .addresses import Chip, Choice, chips_of, choice, plain
from .paging import MOST_COUNTED, Order, number_of, page_by_key
from .report_marks import Marks, Standing, standings_of

PAGE = 50  #: obligations


def _first_case(obligation: Obligation) -> str:
    """An obligation has no public id; the case of its first edition has."""
    return str(obligation.editions.all()[0].case.public_id)


NEWEST = Order("period_end", newest=True, named="editions__case__public_id", name_of=_first_case)


@dataclass(frozen=True, slots=True)
class Row:
    """One obligation of the list, by its newest edition."""

    obligation: Obligation
    title: str
    standing: Standing
    marks: Marks


@dataclass(frozen=True, slots=True)
class ReportsPage:
    """`total` is None where there are more than are counted."""

    rows: Sequence[Row]
    total: int | None
    most: int
    links: Mapping[str, str]
    choices: Sequence[Choice]
    chips: Sequence[Chip]


@dataclass(frozen=True, slots=True)
class Edition:
    """One edition with its marks."""

    standing: Standing
    marks: Marks


@dataclass(frozen=True, slots=True)
class ReportPage:
    """What one obligation's page shows. Who may only open documents sees neither cases nor recipients."""

    title: str
    current: Edition
    earlier: Sequence[Edition]
    sees_cases: bool
    may_open: bool
    deliveries: Sequence[Delivery]
    buttons: Sequence[recoveries.Button]
    openings: Sequence[DocumentOpening]


def gather_list(person: Person, query: QueryDict) -> ReportsPage:
    """Organisations, the page with its editions, and three queries for their marks."""
    chosen = {"organisation": plain(query, "organisation", 50)}
    in_sight = list_obligations(person, Right.SEE_CASES) | list_obligations(person, Right.OPEN_DOCUMENTS)
    owing = Organisation.objects.filter(Exists(in_sight.order_by().filter(organisation=OuterRef("pk"))))
    organisations = {one.slug: one.name for one in owing.order_by("name", "pk")}
    rows = in_sight.filter(organisation__slug=chosen["organisation"]) if chosen["organisation"] else in_sight
    page = page_by_key(rows, in_sight, NEWEST, query, chosen, size=PAGE)
    obligations = page.rows
    newest = {one.pk: list(one.editions.all())[-1] for one in obligations}
    standings = standings_of(newest.values())
    labels = {"organisation": organisations.get(chosen["organisation"], chosen["organisation"])}
    options = choice("organisation", gettext("Organisation"), organisations, chosen["organisation"])
    return ReportsPage(
        rows=[_row(one, standings[newest[one.pk].pk]) for one in obligations],
        total=number_of(rows),
        most=MOST_COUNTED,
        links=page.links,
        choices=[options] if len(organisations) > 1 or chosen["organisation"] else [],
        chips=chips_of(chosen, labels),
    )


def gather(person: Person, obligation: Obligation) -> ReportPage:
    """`obligation` comes with its editions and their cases."""
    editions = list(obligation.editions.all())
    standings = standings_of(editions)
    shown = [Edition(standings[one.pk], standings[one.pk].marks) for one in reversed(editions)]
    sees_cases = access.has_right(person, obligation.organisation_id, Right.SEE_CASES)
    may_open = document_access.may_open_in(person, obligation.department)
    current = shown[0]
    documents = [one.standing.document.pk for one in shown if one.standing.document]
    return ReportPage(
        title=_title(obligation),
        current=current,
        earlier=shown[1:],
        sees_cases=sees_cases,
        may_open=may_open,
        deliveries=deliveries_of(current.standing.case) if sees_cases else [],
        buttons=recoveries.section_of(current.standing.case, person).buttons if sees_cases else [],
        openings=list_openings(documents),
    )


def _row(obligation: Obligation, standing: Standing) -> Row:
    return Row(obligation, _title(obligation), standing, standing.marks)


def _title(obligation: Obligation) -> str:
    return title(obligation.kind, obligation.department.name, obligation.period)
