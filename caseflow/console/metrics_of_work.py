"""Where cases stand and how the machine works: H1 to H5."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext

from caseflow.domain.lifecycle import State
from operations.indicators import standing, work
from operations.indicators.scope import Scope, Window

from . import charts, vocabulary, words
from .addresses import address_of
from .moments import ago_text
from .tables import Cell, Section, Table, age, number, number_text, seconds_since, share


def sections(scope: Scope, window: Window, *, process: str, organisation: str) -> Iterator[Section]:
    """Six queries."""
    yield _states(standing.count_states(scope), process, organisation)
    yield queues(work.measure_queues(scope))
    yield _retries(work.measure_retries(scope, window), work.count_retry_causes(scope, window))
    yield _stopped(standing.count_stopped(scope), process, organisation)
    yield exhausted(work.count_exhausted(scope, window))
    yield _unknown(standing.count_unknown(scope))


def _states(rows: list[standing.StateCount], process: str, organisation: str) -> Section:
    rows = [row for row in rows if process in ("", row.process)]
    numbers: dict[str, int] = defaultdict(int)
    oldest: dict[str, datetime] = {}
    for row in rows:
        numbers[row.state] += row.number
        if row.oldest:
            oldest[row.state] = min(row.oldest, oldest.get(row.state, row.oldest))
    shown = [words.state_word(state.value) for state in State if state.value in numbers]
    ages = [
        _bar(word, ago_text(oldest[word.code]), seconds_since(oldest[word.code]))
        for word in shown
        if word.code in oldest
    ]
    return Section(
        name="h1",
        title=gettext("Open cases by state"),
        hint=gettext("How many stand where now, and how long the oldest has been there."),
        empty=gettext("No case is open."),
        charts=[
            charts.bars(
                gettext("Open cases by state"),
                gettext("One bar for each state; its length is the number of cases."),
                [_bar(word, number_text(numbers[word.code]), numbers[word.code]) for word in shown],
            ),
            charts.bars(
                gettext("Age of the oldest case in each state"),
                gettext("One bar for each state; its length is how long the oldest case has been in it."),
                ages,
            ),
        ],
        tables=[
            Table(
                [gettext("State"), gettext("Process"), gettext("Cases"), gettext("The oldest in it")],
                [
                    [
                        Cell(word=words.state_word(row.state)),
                        Cell(words.newest_title(row.process)),
                        Cell(
                            number_text(row.number),
                            _cases(process=row.process, organisation=organisation, state=row.state),
                        ),
                        age(row.oldest),
                    ]
                    for row in rows
                ],
            )
        ],
    )


def queues(rows: list[work.QueueNow]) -> Section:
    """Also of the page of operations."""
    return Section(
        name="queues",
        title=gettext("Queues now"),
        hint=gettext(
            "Tasks that are due wait for a worker; later ones wait for their time: retries, deadlines, timers."
        ),
        empty=gettext("No task waits and none is at work."),
        charts=[
            charts.bars(
                gettext("Due tasks by queue"),
                gettext("One bar for each queue; its length is the number of tasks that wait for a worker."),
                [
                    charts.Row(
                        row.queue,
                        number_text(row.due),
                        [charts.Piece(row.due, "queue", f"{row.queue}: {number_text(row.due)}")],
                    )
                    for row in rows
                ],
            )
        ],
        tables=[
            Table(
                [
                    gettext("Queue"),
                    gettext("Due"),
                    gettext("The oldest waits"),
                    gettext("At work"),
                    gettext("Longest at work"),
                    gettext("Later"),
                ],
                [
                    [
                        Cell(row.queue, is_code=True),
                        number(row.due),
                        age(row.oldest_due),
                        number(row.leased),
                        age(row.oldest_lease),
                        number(row.later),
                    ]
                    for row in rows
                ],
            )
        ],
    )


def _retries(rows: list[work.StageRetries], causes: list[work.RetryCause]) -> Section:
    return Section(
        name="h3",
        title=gettext("Tasks that had to be tried again"),
        hint=gettext("Of the tasks made in this time, of all processes: how many needed more than one try, and why."),
        empty=gettext("No task was tried in this time."),
        charts=[
            charts.bars(
                gettext("Share of tasks tried again"),
                gettext("One bar for each step; the whole width is 100 %."),
                [
                    charts.Row(
                        _stage(row.stage),
                        share(row.share),
                        [charts.Piece(row.share, "wait", f"{_stage(row.stage)}: {share(row.share)}")],
                    )
                    for row in rows
                ],
                most=1,
            )
        ],
        tables=[
            Table(
                [gettext("Step"), gettext("Tried"), gettext("Tried again"), gettext("Share")],
                [
                    [Cell(_stage(row.stage)), number(row.tried), number(row.retried), Cell(share(row.share))]
                    for row in rows
                ],
            ),
            Table(
                [gettext("Step"), gettext("How it ended"), gettext("Code"), gettext("Tries"), gettext("The newest")],
                [
                    [
                        Cell(_stage(row.stage)),
                        Cell(words.attempt_outcome(row.outcome)),
                        Cell(row.error, is_code=True) if row.error else Cell("–"),
                        number(row.attempts),
                        age(row.newest),
                    ]
                    for row in causes
                ],
                label=gettext("Why"),
            ),
        ],
    )


def _stopped(rows: list[standing.StoppedCount], process: str, organisation: str) -> Section:
    rows = [row for row in rows if process in ("", row.process)]
    numbers: dict[str, int] = defaultdict(int)
    for row in rows:
        numbers[row.reason] += row.number
    return Section(
        name="h4",
        title=gettext("Cases that need attention, by reason"),
        hint=gettext("What stands now, what waits longest first."),
        empty=gettext("There is nothing to sort out."),
        charts=[
            charts.bars(
                gettext("Cases that need attention, by reason"),
                gettext("One bar for each reason; its length is the number of cases."),
                [_bar(words.reason_word(reason), number_text(found), found) for reason, found in numbers.items()],
            )
        ],
        tables=[
            Table(
                [gettext("Reason"), gettext("Process"), gettext("Cases"), gettext("The oldest waits")],
                [
                    [
                        Cell(words.reason_word(row.reason).label),
                        Cell(words.newest_title(row.process)),
                        Cell(
                            number_text(row.number),
                            _cases(
                                state=State.NEEDS_ATTENTION.value,
                                reason=row.reason,
                                process=row.process,
                                organisation=organisation,
                            ),
                        ),
                        age(row.oldest),
                    ]
                    for row in rows
                ],
            )
        ],
    )


def exhausted(rows: list[work.ExhaustedCount]) -> Section:
    """Also of the page of operations."""
    return Section(
        name="exhausted",
        title=gettext("Tasks that were given up"),
        hint=gettext("In this time, of all processes. The case of each one needs attention; none is lost."),
        empty=gettext("No task was given up in this time."),
        tables=[
            Table(
                [gettext("Step"), gettext("Code"), gettext("Tasks"), gettext("The newest")],
                [
                    [
                        Cell(_stage(row.stage)),
                        Cell(row.error, is_code=True) if row.error else Cell("–"),
                        number(row.number),
                        age(row.newest),
                    ]
                    for row in rows
                ],
            )
        ],
    )


def _unknown(rows: list[standing.UnknownCount]) -> Section:
    desk = reverse("console:actions") + "?status=unknown"
    labels = {
        "effect": gettext("changes"),
        "notice": gettext("messages"),
    }
    return Section(
        name="h5",
        title=gettext("Actions whose result is unknown"),
        hint=gettext("Of all processes. Nothing is repeated before its state was checked."),
        empty=gettext("No result is unknown."),
        charts=[
            charts.bars(
                gettext("Actions whose result is unknown"),
                gettext("One bar for each system; its length is the number of actions in doubt."),
                [
                    charts.Row(
                        f"{vocabulary.system_label(row.system)}, {labels.get(row.kind, row.kind)}",
                        number_text(row.number),
                        [charts.Piece(row.number, "alert", number_text(row.number))],
                    )
                    for row in rows
                ],
            )
        ],
        tables=[
            Table(
                [gettext("System"), gettext("Kind"), gettext("Actions"), gettext("The oldest waits")],
                [
                    [
                        Cell(vocabulary.system_label(row.system)),
                        Cell(labels.get(row.kind, row.kind)),
                        Cell(number_text(row.number), f"{desk}&kind={row.kind}"),
                        age(row.oldest),
                    ]
                    for row in rows
                ],
            )
        ],
    )


def _bar(word: words.Shown, value: str, amount: float) -> charts.Row:
    return charts.Row(word.label, value, [charts.Piece(amount, word.tone, f"{word.label}: {value}")])


def _cases(**chosen: str) -> str:
    return reverse("console:cases") + address_of(chosen)


def _stage(code: str) -> str:
    return str(words.STAGES.get(code, code))
