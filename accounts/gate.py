"""The gate of `begin_call` (design §3): whatever changes roles or pauses takes it alone, every first send shares it.

Each call is a statement of its own inside the caller's transaction, so that reads after it see what it waited for.
Lock order everywhere: gate, a name behind the gate, case, task, organisation.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection
from django.db.transaction import TransactionManagementError

from caseflow.statements import Values, run

GATE = 4_821_000_001  #: the key of the advisory lock; one for the whole database
NAMES = 4_821  #: the first half of the keys that stand for a name


def shared() -> tuple[str, Values]:
    """The statement of `hold_shared`, to be sent with others."""
    return "SELECT pg_advisory_xact_lock_shared(%s)", _within_transaction(GATE)


def shared_alone(name: str) -> tuple[str, Values]:
    """The same, and then nobody else who asks by this name: what they have to count together they count in turn.

    One statement; the inner row is made first, so that nobody waits for the gate with the name in hand.
    """
    return (
        "SELECT pg_advisory_xact_lock(%s, hashtext(%s)) FROM (SELECT pg_advisory_xact_lock_shared(%s) OFFSET 0) gate",
        _within_transaction(NAMES, name, GATE),
    )


def hold_shared() -> None:
    """Until the end of this transaction nobody changes roles or pauses."""
    run(*shared())


def hold_exclusive() -> None:
    """Waits for the sends that are beginning now; until the end of this transaction no other begins."""
    run("SELECT pg_advisory_xact_lock(%s)", _within_transaction(GATE))


def _within_transaction(*values: int | str) -> Sequence[int | str]:
    if not connection.in_atomic_block:
        # Outside a transaction the lock would be gone before the next statement.
        raise TransactionManagementError("the gate is held by a transaction")
    return values
