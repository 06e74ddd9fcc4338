"""Asking every invariant of one consistent moment, beside live workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from django.db import connection, transaction

from .attempts import attempts_have_limits
from .chains import chains_verify
from .counts import counts_equal_rows
from .documents import one_current_document
from .doubt import doubt_needs_evidence
from .drivers import open_cases_are_driven
from .finding import Finding
from .guards import guard_columns_equal_rows
from .histories import histories_are_paths
from .outside import ledger_agrees, read_ledger
from .plans import nothing_is_planned_in_doubt
from .results import results_are_confirmed
from .sends import sends_follow_decisions
from .tickets import one_case_per_ticket


@dataclass(frozen=True, slots=True)
class Invariant:
    """One promise: its number in design §13 (what belongs to the spine alone has none), and its question."""

    name: str
    number: int | None
    ask: Callable[[], Finding]


LEDGER = "ledger_agrees"

INVARIANTS = (
    Invariant("one_case_per_ticket", 1, one_case_per_ticket),
    Invariant("open_cases_are_driven", 2, open_cases_are_driven),
    Invariant("histories_are_paths", 3, histories_are_paths),
    Invariant("guard_columns_equal_rows", None, guard_columns_equal_rows),
    Invariant("counts_equal_rows", None, counts_equal_rows),
    Invariant("results_are_confirmed", 5, results_are_confirmed),
    Invariant("sends_follow_decisions", 6, sends_follow_decisions),
    Invariant("attempts_have_limits", 7, attempts_have_limits),
    Invariant("doubt_needs_evidence", 8, doubt_needs_evidence),
    Invariant("chains_verify", 9, chains_verify),
    Invariant("one_current_document", 11, one_current_document),
    Invariant("nothing_is_planned_in_doubt", 15, nothing_is_planned_in_doubt),
)


def ask_all(ledger_url: str = "") -> Iterator[tuple[Invariant, Finding]]:
    """Each invariant with what it found, as it is found. Raises DatabaseError, and httpx2.HTTPError for the ledger."""
    with one_moment():
        for invariant in INVARIANTS:
            yield invariant, invariant.ask()
        ledger = Invariant(LEDGER, 4, partial(_ask_ledger, ledger_url))
        yield ledger, ledger.ask()


@contextmanager
def one_moment() -> Iterator[None]:
    """All statements see the same rows, and none is cut off: a big installation takes its time."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            # Inside a transaction of a caller the moment is the caller's.
            if len(connection.savepoint_ids) == 0:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SET LOCAL statement_timeout = 0")
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        yield


def _ask_ledger(url: str) -> Finding:
    if not url:
        return Finding(0, skipped="no ledger was named")
    return ledger_agrees(read_ledger(url))
