"""Recoveries at the REST face."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.models import AuditEvent
from caseflow.domain.roles import Role
from operations.models import Recovery
from tests.driving import Engine, Story, fingerprint, together
from tests.factories import make_organisation, make_person
from tests.operations import standings as at
from tests.operations.standings import stand

from .conftest import Caller, browser_of, machine_of


def path_of(story: Story) -> str:
    return f"/api/v1/cases/{story.case.public_id}/recoveries/"


def an_order(story: Story, kind: str = "observe_again", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "version": story.case.version, "reason": "Банк починил сервис"} | more


def by_hand(story: Story, **more: Any) -> dict[str, Any]:
    action = story.effect
    return an_order(story, "result_by_hand", action=action.public_id, action_status=action.status, result="done",
                    evidence="№ 20931") | more  # fmt: skip


@pytest.fixture
def operator(engine: Engine) -> Caller:
    return browser_of(engine.person("operator"))


@pytest.fixture
def approver(engine: Engine) -> Caller:
    return browser_of(engine.approver)


def test_the_list_says_what_may_be_ordered_by_whom_for_this_version(
    engine: Engine, settings: Any, operator: Caller, approver: Caller
) -> None:
    story = stand(at.unknown, engine, settings)

    seen = operator.get(path_of(story)).json()

    assert seen["possible"] == ["reconcile", "result_by_hand"]
    assert (seen["in_doubt"], seen["in_doubt_status"]) == (story.effect.public_id, "UNKNOWN")
    assert (seen["case"]["version"], seen["may_authorise"], seen["results"]) == (story.case.version, True, [])
    assert approver.get(path_of(story)).json()["possible"] == []
    assert machine_of(engine.organisation).get(path_of(story)).json()["possible"] == []


def test_an_order_is_carried_out_and_told_with_who_and_what_came_of_it(
    engine: Engine, settings: Any, operator: Caller
) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    version = story.case.version

    answer = operator.post(path_of(story), an_order(story))

    body = answer.json()
    assert answer.status_code == 201, body
    assert (body["case"]["state"], body["case"]["version"]) == ("CHECKING", version + 1)
    told = body["recovery"]
    assert (told["status"], told["outcome"], told["stage"]) == ("done", "CHECKING", "observe")
    assert (told["asked_by"], told["case_version"], told["version_after"]) == ("Operator", version, version + 1)
    assert operator.get(path_of(story)).json()["results"] == [told]
    assert operator.get(f"/api/v1/recoveries/{told['id']}/").json() == told
    assert "Банк" not in operator.get(path_of(story)).content.decode()


def test_an_order_for_a_version_that_moved_on_says_what_happened_since(
    engine: Engine, settings: Any, operator: Caller
) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    late = an_order(story, "close")
    operator.post(path_of(story), an_order(story))

    answer = operator.post(path_of(story), late)

    body = answer.json()
    assert (answer.status_code, body["code"]) == (409, "version_moved")
    assert (body["seen"], body["current"]) == (late["version"], late["version"] + 1)
    (event,) = body["events"]
    assert (event["event"], event["from"], event["to"], event["actor"]) == (
        "case.observe_again",
        "NEEDS_ATTENTION",
        "CHECKING",
        "Operator",
    )
    assert story.state == "CHECKING"
    assert story.told("recovery.refused")["code"] == "version_moved"


def test_a_result_by_hand_takes_two_people(engine: Engine, settings: Any, operator: Caller, approver: Caller) -> None:
    story = stand(at.unknown, engine, settings)
    ordered = operator.post(path_of(story), by_hand(story)).json()
    assert (ordered["recovery"]["status"], ordered["case"]["state"]) == ("waiting", "NEEDS_ATTENTION")
    sign = f"/api/v1/recoveries/{ordered['recovery']['id']}/authorisation/"
    words = {"version": story.case.version, "action_status": "UNKNOWN"}

    own = operator.post(sign, words)
    assert (own.status_code, own.json()["code"]) == (403, "second_person_needed")
    answer = approver.post(sign, words)

    assert answer.status_code == 201, answer.json()
    assert (answer.json()["case"]["state"], answer.json()["recovery"]["authorised_by"]) == ("EXECUTING", "Approver")
    assert (story.effect.status, story.effect.confirmed_by) == ("CONFIRMED", "hand")
    again = approver.post(sign, words)
    assert (again.status_code, again.json()["code"]) == (409, "recovery_ended")


def test_of_two_second_people_at_the_same_instant_one_signs(engine: Engine, settings: Any, operator: Caller) -> None:
    story = stand(at.unknown, engine, settings)
    ordered = operator.post(path_of(story), by_hand(story)).json()["recovery"]
    sign = f"/api/v1/recoveries/{ordered['id']}/authorisation/"
    words = {"version": story.case.version, "action_status": "UNKNOWN"}
    callers = [browser_of(engine.person(who)) for who in ("approver", "second")]

    answers = together(*[lambda caller=caller: caller.post(sign, words) for caller in callers])

    assert sorted(answer.status_code for answer in answers) == [201, 409]
    assert story.history().count("case.result_by_hand") == 1
    assert story.case.effects_done == 1


def test_an_order_that_waits_is_taken_back_by_who_gave_it(engine: Engine, settings: Any, operator: Caller) -> None:
    story = stand(at.unknown, engine, settings)
    ordered = operator.post(path_of(story), by_hand(story)).json()["recovery"]
    answer = operator.post(f"/api/v1/recoveries/{ordered['id']}/withdrawal/")
    assert (answer.status_code, answer.json()["recovery"]["status"]) == (201, "withdrawn")
    assert story.effect.status == "UNKNOWN"


def test_an_action_is_reconciled_at_its_own_address(engine: Engine, settings: Any, operator: Caller) -> None:
    story = stand(at.sent_and_unanswered, engine, settings)
    path = f"/api/v1/actions/{story.effect.public_id}/reconcile/"

    answer = operator.post(path, {"version": story.case.version, "reason": "Клиент спрашивает"})

    assert (answer.status_code, answer.json()["recovery"]["kind"]) == (201, "reconcile")
    story.run()
    assert (story.state, len(story.writes())) == ("COMPLETED", 1)
    late = operator.post(path, {"version": story.case.version, "reason": "Ещё раз"})
    assert (late.status_code, late.json()["code"]) == (409, "forbidden_transition")


def test_a_refusal_names_what_is_missing(engine: Engine, settings: Any, operator: Caller) -> None:
    story = stand(at.unknown, engine, settings)
    answer = operator.post(path_of(story), an_order(story, "repeat"))
    assert (answer.status_code, answer.json()["code"], answer.json()["reason"]) == (
        409,
        "recovery_not_possible",
        "no_evidence",
    )
    guarded = operator.post(path_of(story), an_order(story, "close"))
    assert (guarded.status_code, guarded.json()["guards"]) == (409, ["no_effects_open"])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"kind": "set_state"}, "unknown_kind"),
        ({"version": "3"}, "wrong_type"),
        ({"reason": ""}, "empty"),
        ({"state": "COMPLETED"}, "unknown_field"),
        ({"evidence": "№ 7"}, "not_wanted"),
    ],
)
def test_an_order_of_another_form_is_refused(
    changes: dict[str, Any], code: str, engine: Engine, settings: Any, operator: Caller
) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    answer = operator.post(path_of(story), an_order(story) | changes)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert not Recovery.objects.exists()


def test_a_machine_never_orders_and_never_signs(engine: Engine, settings: Any, operator: Caller) -> None:
    story = stand(at.unknown, engine, settings)
    waiting = operator.post(path_of(story), by_hand(story)).json()["recovery"]["id"]
    machine = machine_of(engine.organisation)
    words = {"version": story.case.version, "action_status": "UNKNOWN"}
    asked = [
        (path_of(story), an_order(story)),
        (f"/api/v1/actions/{story.effect.public_id}/reconcile/", {"version": 1, "reason": "r"}),
        (f"/api/v1/recoveries/{waiting}/authorisation/", words),
        (f"/api/v1/recoveries/{waiting}/withdrawal/", {}),
        ("/api/v1/recoveries/R-0000000000/authorisation/", words),
    ]
    for path, body in asked:
        answer = machine.post(path, body)
        assert (answer.status_code, answer.json()["code"]) == (403, "service_never_recovers"), path
    assert Recovery.objects.get().status == "waiting"
    assert AuditEvent.objects.filter(kind="access.refused").count() == len(asked)


def test_another_organisations_recoveries_answer_as_if_they_were_not_there(
    engine: Engine, settings: Any, operator: Caller
) -> None:
    story = stand(at.unknown, engine, settings)
    waiting = operator.post(path_of(story), by_hand(story)).json()["recovery"]["id"]
    stranger = browser_of(make_person("stranger", make_organisation("globex"), Role.OPERATOR))
    stranger.get("/api/v1/cases/")
    before = fingerprint()
    words = {"version": story.case.version, "action_status": "UNKNOWN"}
    asked = [
        ("get", path_of(story), path_of(story).replace(story.case.public_id, "C-0000000000"), None),
        ("post", path_of(story), path_of(story).replace(story.case.public_id, "C-0000000000"), an_order(story)),
        ("get", f"/api/v1/recoveries/{waiting}/", "/api/v1/recoveries/R-0000000000/", None),
        ("post", f"/api/v1/recoveries/{waiting}/authorisation/", "/api/v1/recoveries/R-0000000000/authorisation/",
         words),
        ("post", f"/api/v1/recoveries/{waiting}/withdrawal/", "/api/v1/recoveries/R-0000000000/withdrawal/", {}),
        ("post", f"/api/v1/actions/{story.effect.public_id}/reconcile/", "/api/v1/actions/A-0000000000/reconcile/",
         {"version": 1, "reason": "r"}),
    ]  # fmt: skip
    for method, there, nowhere, body in asked:
        answers = [stranger.get(path) if method == "get" else stranger.post(path, body) for path in (there, nowhere)]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].json() == answers[1].json()
    assert fingerprint() == before


def test_the_list_costs_the_same_however_much_was_ordered(engine: Engine, settings: Any, operator: Caller) -> None:
    story = stand(at.rejected_to_hand, engine, settings)
    operator.get(path_of(story))
    with CaptureQueriesContext(connection) as queries:
        operator.get(path_of(story))
    before = len(queries)
    for _ in range(3):
        row = story.order("finish_by_hand").recovery
        operator.post(f"/api/v1/recoveries/{row.public_id}/withdrawal/")
    with CaptureQueriesContext(connection) as queries:
        operator.get(path_of(story))
    assert len(queries) == before
