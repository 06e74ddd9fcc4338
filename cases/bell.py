"""Waking the dispatcher: NOTIFY as its own statement after COMMIT, since inside it would serialise commits (§3)."""

from __future__ import annotations

from django.db import connection, transaction

CHANNEL = "caseflow_due"


def ring_after_commit() -> None:
    """Tell the dispatcher, once the present transaction is stored, that something is due. Losing it costs a second."""
    transaction.on_commit(_notify, robust=True)


def _notify() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"NOTIFY {CHANNEL}")
