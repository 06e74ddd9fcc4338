"""What did not count, did not hold or was not accepted: H6 to H8."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from operations.indicators import judging
from operations.indicators.scope import Scope, Window

from . import charts, words
from .proposers_page import proposer_label
from .tables import Cell, Section, Table, age, number, number_text, share

#: Why an approval did not count, by the code of the refusal.
REFUSALS: dict[str, Promise] = {
    "stale_snapshot": gettext_lazy("the data had changed since it was seen"),
    "stale_case": gettext_lazy("the case had moved on since it was seen"),
    "already_decided": gettext_lazy("somebody had decided already"),
    "proposal_expired": gettext_lazy("the time for the decision had run out"),
    "not_decidable": gettext_lazy("the proposal waited for no decision"),
    "causer_may_not_decide": gettext_lazy("the person took part in the case"),
    "not_permitted": gettext_lazy("the person had no right to decide"),
}


def sections(scope: Scope, window: Window, *, process: str) -> Iterator[Section]:
    """Four queries."""
    yield _refused(judging.count_refused_approvals(scope, window))
    yield _drift(judging.count_drift(scope, window))
    yield _proposals(judging.measure_proposals(scope, window), judging.count_broken_answers(scope, window), process)


def _refused(found: judging.RefusedApprovals) -> Section:
    rows = [(str(REFUSALS.get(code, code)), value) for code, value in found.by_code.items()]
    rows += [
        (gettext("facts changed after an approval: nothing was sent"), found.facts_changed),
        (gettext("approved, and not sent in time or no longer permitted"), found.lapsed),
    ]
    rows = [(label, value) for label, value in rows if value]
    title = gettext("Approvals that did not count")
    return Section(
        name="h6",
        title=title,
        hint=gettext("In this time, of all processes. Nothing was sent on any of them."),
        empty=gettext("Every approval counted."),
        charts=[
            charts.bars(
                title,
                gettext("One bar for each cause; its length is the number of approvals."),
                [charts.Row(label, number_text(value), [charts.Piece(value, "wait", label)]) for label, value in rows],
            )
        ],
        tables=[
            Table([gettext("Cause"), gettext("Approvals")], [[Cell(label), number(value)] for label, value in rows])
        ],
    )


def _drift(found: judging.DriftCount) -> Section:
    values = [
        (gettext("Confirmed changes that the outside no longer shows"), found.effects),
        (gettext("Found for the first time"), found.news),
    ]
    title = gettext("Differences with the outside systems")
    seen = found.last_run is not None
    return Section(
        name="h7",
        title=title,
        hint=gettext("In this time, of all processes."),
        empty=gettext("No comparison is on record yet. The dispatcher starts one every hour."),
        charts=[
            charts.bars(
                title,
                gettext("One bar for each number of confirmed changes."),
                [
                    charts.Row(gettext("Differ"), number_text(found.effects), [_piece(found.effects)]),
                    charts.Row(gettext("New"), number_text(found.news), [_piece(found.news)]),
                ],
            )
        ],
        tables=[
            Table(
                [gettext("What"), gettext("Number")],
                [
                    *([Cell(label), Cell(number_text(value), reverse("console:drift"))] for label, value in values),
                    [Cell(gettext("The last comparison was through before")), age(found.last_run)],
                ]
                if seen or found.effects
                else [],
            )
        ],
    )


def _piece(value: int) -> charts.Piece:
    return charts.Piece(value, "alert", number_text(value))


def _proposals(rows: list[judging.ProposalsJudged], broken: list[judging.BrokenAnswers], process: str) -> Section:
    rows = [row for row in rows if process in ("", row.process)]
    broken = [row for row in broken if process in ("", row.process)]
    title = gettext("What people said of proposals")
    legend = [
        ("done", gettext("approved")),
        ("alert", gettext("rejected")),
        ("wait", gettext("returned or more data asked")),
        ("queue", gettext("not decided")),
    ]
    return Section(
        name="h8",
        title=title,
        hint=gettext("Of the proposals made in this time. The share is of those that were decided."),
        empty=gettext("No proposal was made in this time."),
        charts=[
            charts.bars(
                title,
                gettext("One bar for each proposer, divided by what people decided."),
                [
                    charts.Row(
                        f"{_proposer(row)}, {words.newest_title(row.process)}",
                        number_text(row.made),
                        [
                            charts.Piece(amount, tone, f"{label}: {number_text(amount)}")
                            for (tone, label), amount in zip(
                                legend,
                                (row.approved, row.rejected, row.returned + row.data_asked, row.undecided),
                                strict=True,
                            )
                        ],
                    )
                    for row in rows
                ],
                legend=legend,
            )
        ],
        tables=[
            Table(
                [
                    gettext("Process"),
                    gettext("Proposer"),
                    gettext("Made"),
                    gettext("Approved"),
                    gettext("Rejected"),
                    gettext("Returned"),
                    gettext("Data asked for"),
                    gettext("Withdrawn"),
                    gettext("Not decided"),
                    gettext("Share not approved"),
                ],
                [
                    [
                        Cell(words.newest_title(row.process)),
                        Cell(_proposer(row)),
                        *(
                            number(value)
                            for value in (
                                row.made,
                                row.approved,
                                row.rejected,
                                row.returned,
                                row.data_asked,
                                row.withdrawn,
                                row.undecided,
                            )
                        ),
                        Cell(share(row.refused_share)),
                    ]
                    for row in rows
                ],
            ),
            Table(
                [gettext("Process"), gettext("Answers"), gettext("The newest")],
                [[Cell(words.newest_title(row.process)), number(row.number), age(row.newest)] for row in broken],
                label=gettext("Answers that the rules did not let through"),
            ),
        ],
    )


def _proposer(row: judging.ProposalsJudged) -> str:
    return proposer_label(row.proposer, row.model, row.prompt_version)
