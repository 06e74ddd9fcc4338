"""Waking the dispatcher: NOTIFY as its own statement after COMMIT, since inside it would serialise commits (§3)."""

from __future__ import annotations

from django.db import transaction

from caseflow.statements import run

CHANNEL = "caseflow_due"


def ring_after_commit() -> None:
    """Tell the dispatcher, once the present transaction is stored, that something is due. Losing it costs a second."""
    transaction.on_commit(_notify, robust=True)


def _notify() -> None:
    run(f"NOTIFY {CHANNEL}")
