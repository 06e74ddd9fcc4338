"""Recovery kind × place × guard × version: exactly the rows of design §4, written down here once more by hand."""

from __future__ import annotations

from typing import Any

import pytest

from actions.models import Action
from audit.models import AuditEvent
from caseflow.domain.errors import CaseflowError, VersionMoved
from caseflow.domain.recovery import Kind
from caseflow.invariants.running import ask_all
from operations.models import Recovery
from operations.ordering import order_recovery
from tests.driving import Engine, Story
from tests.operations import standings as at
from tests.operations.standings import STANDINGS, Start, more_processes, stand

ANYWHERE = {"close": "CLOSED_NO_CHANGE"}
CHECK = {"observe_again": "CHECKING", "correct_input": "CHECKING", "finish_by_hand": "COMPLETED"}
ASK = {"reconcile": "EXECUTING", "result_by_hand": "EXECUTING"}

#: What may be ordered where, and where it leads. What does not stand here is refused.
TABLE: dict[Start, dict[str, str]] = {
    at.received: ANYWHERE,
    at.checking: ANYWHERE,
    at.waiting_for_data: ANYWHERE,
    at.waiting_for_decision: ANYWHERE | {"ask_again": "CHECKING"},
    at.approved: ANYWHERE,
    at.sent_and_unanswered: {"reconcile": "EXECUTING"},
    at.sent_and_turned_away: ANYWHERE,
    at.telling: {},
    at.telling_of_nothing: ANYWHERE,
    at.rejected_to_hand: CHECK | ANYWHERE,
    at.refused: CHECK | ANYWHERE,
    at.unknown: ASK,
    at.denied_with_a_living_key: ASK | {"repeat": "EXECUTING"},
    at.not_applied: ASK | {"accept_not_applied": "NEEDS_ATTENTION"},
    at.unknown_without_look_up: ASK,
    at.never_read_back: ASK,
    at.told_nobody: CHECK | {"send_notice": "NOTIFYING", "finish_without_notice": "COMPLETED"},
    at.told_nobody_of_nothing: CHECK
    | ANYWHERE
    | {"send_notice": "NOTIFYING", "finish_without_notice": "CLOSED_NO_CHANGE"},
    at.half_done: CHECK,
    at.completed: {},
    at.closed: {},
}
#: Two kinds of refusal: the state or a guard column is against it, or what is known of the action or plan.
NO_ROW, NO_EVIDENCE, MOVED = "forbidden_transition", "recovery_not_possible", "version_moved"
OUTCOMES = {
    "finish_without_notice": {"COMPLETED": "partial", "CLOSED_NO_CHANGE": "no_change"},
    "finish_by_hand": {"COMPLETED": "by_hand"},
    "close": {"CLOSED_NO_CHANGE": "no_change"},
}
TWO_PERSONS = {"result_by_hand", "finish_by_hand"}
STAYS = {(at.sent_and_unanswered, "reconcile"), (at.not_applied, "accept_not_applied")}
PAIRS = [(start, kind) for start, kinds in TABLE.items() for kind in kinds]


def name(value: Any) -> str:
    return getattr(value, "__name__", str(value))


@pytest.fixture(autouse=True)
def two_effects(engine: Engine, settings: Any) -> Any:
    engine.person("approver")
    with more_processes(settings):
        yield


def rows_of(story: Story) -> tuple[Any, ...]:
    """Everything of a case but its history of refusals."""
    case = type(story.case).objects.filter(pk=story.id).values().get()
    for column in ("audit_count", "audit_head"):
        case.pop(column)
    actions = list(Action.objects.filter(case_id=story.id).order_by("id").values())
    tasks = list(story.case.tasks.order_by("id").values())
    return case, actions, tasks, list(story.case.recoveries.order_by("id").values())


def order(story: Story, kind: str, **said: Any) -> None:
    if kind == "correct_input":
        said = {"data": {"claim": "Исправлено"}} | said
    if kind == "result_by_hand" and not Action.objects.filter(case_id=story.id, kind="effect").exists():
        words = {"seen_version": story.case.version, "reason": "r", "evidence": "№ 7", "result": "done"}
        words |= {"action": "A-0000000000", "action_status": "UNKNOWN"} | said
        order_recovery(case_id=story.id, kind=kind, person=story.engine.person("operator"), **words)
        return
    story.order(kind, **said)


def clean() -> None:
    broken = {invariant.name: finding.shown for invariant, finding in ask_all("") if finding.violations}
    assert broken == {}


def test_the_table_speaks_of_every_kind_and_every_place() -> None:
    assert set(TABLE) == set(STANDINGS)
    assert {kind for kinds in TABLE.values() for kind in kinds} == {kind.value for kind in Kind}


@pytest.mark.parametrize("start", TABLE, ids=name)
def test_what_is_not_in_the_table_is_refused_and_changes_nothing_but_the_history(
    start: Start, engine: Engine, settings: Any
) -> None:
    story = stand(start, engine, settings)
    engine.person("operator")
    before = rows_of(story)
    for kind in Kind:
        with pytest.raises(VersionMoved) as moved:
            order(story, kind.value, seen_version=story.case.version - 1)
        assert moved.value.params["events"][-1]["to"] == story.state
        if kind.value not in TABLE[start]:
            with pytest.raises(CaseflowError) as refused:
                order(story, kind.value)
            assert refused.value.code in (NO_ROW, NO_EVIDENCE), kind
    assert rows_of(story) == before
    clean()


@pytest.mark.parametrize(("start", "kind"), PAIRS, ids=name)
def test_what_is_in_the_table_leads_where_the_table_says(
    start: Start, kind: str, engine: Engine, settings: Any
) -> None:
    story = stand(start, engine, settings)
    version = story.case.version
    before = rows_of(story)

    order(story, kind)

    if kind in TWO_PERSONS:
        assert rows_of(story)[:3] == before[:3]  # one person alone moves nothing
        assert Recovery.objects.get().status == "waiting"
        story.sign()
    stays = (start, kind) in STAYS
    case = story.case
    assert (case.state, case.version) == (TABLE[start][kind], version + (not stays))
    assert case.outcome == OUTCOMES.get(kind, {}).get(case.state, "")
    recovery = Recovery.objects.get()
    assert (recovery.kind, recovery.status, recovery.case_version) == (kind, "done", version)
    assert (recovery.version_after, recovery.asked_by.username) == (case.version, "operator")
    assert bool(recovery.authorised_by) == (kind in TWO_PERSONS)
    newest = AuditEvent.objects.filter(case_id=story.id).latest("seq")
    assert (newest.kind.startswith("case."), newest.version) == (not stays, None if stays else case.version)
    clean()
