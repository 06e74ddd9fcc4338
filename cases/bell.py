"""Waking the dispatcher: NOTIFY as its own transaction after COMMIT, since inside it would serialise commits (§3)."""

from __future__ import annotations

from caseflow.statements import tell_after_commit

CHANNEL = "caseflow_due"


def ring_after_commit() -> None:
    """Tell the dispatcher, once the present transaction is stored, that something is due. Losing it costs a second."""
    tell_after_commit(f"NOTIFY {CHANNEL}")
