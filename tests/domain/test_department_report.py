"""A department's report: what the facts allow, and that its plan is one file and one message a recipient."""

from __future__ import annotations

from typing import Any

import pytest

from caseflow.domain.process import EndingKind, is_personal
from caseflow.processes.department_report import DepartmentReport

PROCESS = DepartmentReport()
INTAKE: dict[str, Any] = {
    "obligation": "acme/rd/requests/2026-10-01/r2",
    "department": "rd",
    "kind": "requests",
    "period": "2026-10-01",
    "edition": 2,
    "zone": "Europe/Moscow",
    "language": "ru",
    "recipients": [17, 18],
}
FACTS: dict[str, Any] = {
    "data_set": {"status": "ready", "digest": "d" * 64, "rows": 214},
    "document": {"status": "none"},
    "access": {"p17": "open", "p18": "none"},
    "addresses": {"p17": {"personal": "fact.addresses.p17", "digest": "x"}},
    "languages": {"p17": "en", "p18": "ru"},
}


@pytest.mark.parametrize(
    ("change", "decision", "kind"),
    [
        ({}, "make_report", EndingKind.ACT),
        ({"data_set": {"status": "not_closed"}}, "not_closed", EndingKind.WAIT),
        ({"data_set": {"status": "unknown"}}, "unclear_facts", EndingKind.PERSON),
        ({"document": {"status": "made"}}, "already_made", EndingKind.PERSON),
        ({"document": {"status": "lost"}}, "file_lost", EndingKind.PERSON),
        ({"document": {}}, "unclear_facts", EndingKind.PERSON),
    ],
)
def test_a_file_is_made_of_a_chosen_data_set_and_never_beside_another_one(
    change: dict[str, Any], decision: str, kind: EndingKind
) -> None:
    proposed = PROCESS.decide(facts=FACTS | change, intake=INTAKE)
    assert (proposed.decision, PROCESS.endings[decision].kind) == (decision, kind)
    plan = PROCESS.plan(decision=decision, facts=FACTS | change, intake=INTAKE, effects=())
    assert bool(plan.effects) == bool(plan.notices) == (decision == "make_report")


def test_the_plan_is_one_file_of_these_data_and_a_message_to_each_that_hangs_on_their_own_access() -> None:
    plan = PROCESS.plan(decision="make_report", facts=FACTS, intake=INTAKE, effects=())
    (effect,) = plan.effects
    assert (effect.system, effect.operation, effect.subject) == ("documents.store", "make_report", INTAKE["obligation"])
    assert effect.request["data_set"] == effect.preconditions["data_set.digest"] == "d" * 64
    assert effect.confirms == {"document.status": "made", "document.data_set": "d" * 64}
    assert [notice.preconditions for notice in plan.notices] == [{"access.p17": "open"}, {"access.p18": "open"}]
    assert [(notice.to, notice.language) for notice in plan.notices] == [
        ("addresses.p17", "en"),
        ("addresses.p18", "ru"),
    ]
    assert all(is_personal(PROCESS, notice.to) and notice.otherwise == "no_access" for notice in plan.notices)
    # The page of the obligation, whatever its edition; a department's short name may begin with r, too.
    assert {notice.params["page"] for notice in plan.notices} == {"acme/rd/requests/2026-10-01"}
