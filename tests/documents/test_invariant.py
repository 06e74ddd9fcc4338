"""Invariant 11 goes red when a row breaks it, and is green for what really happens."""

from __future__ import annotations

from caseflow.invariants.documents import one_current_document
from tests.commands.test_verify_invariants import corrupt
from tests.driving import engine, simulator
from tests.reports.conftest import Bureau, bureau

__all__ = ["bureau", "engine", "simulator"]


def test_a_told_report_is_clean_and_rows_that_break_it_are_named(bureau: Bureau) -> None:
    bureau.run(bureau.request(recipients=["anna", "boris"]))
    found = one_current_document()
    assert (found.checked, found.violations) == (1, 0)
    notice = "UPDATE actions_action SET subject = 'addresses.p1' WHERE kind = 'notice'"
    corrupt(bureau.engine.owner, "actions_action", notice)
    assert [one.problem.partition(":")[0].partition(" of the")[0] for one in one_current_document().shown] == [
        "several confirmed notices"
    ]
    forged = "UPDATE documents_document SET action_key = 'department_report:A-0000000000'"
    corrupt(bureau.engine.owner, "documents_document", forged)
    problems = "; ".join(one.problem for one in one_current_document().shown)
    assert "no action made the document" in problems
    assert "is confirmed, but there is no document of it" in problems
