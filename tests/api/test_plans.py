"""Proposals, decisions and actions at the REST face."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
import rfc8785
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.principal import actor_of_person
from approvals.models import Decision
from audit.models import AuditEvent
from caseflow.domain.roles import Role
from cases.models import Case
from cases.observing import ask_what_is_known, keep_readings, read_now
from tests.driving import Engine, Story, hooks, together
from tests.factories import make_organisation, make_person

from .conftest import Caller, browser_of, machine_of


def path_of(story: Story, part: str = "") -> str:
    return f"/api/v1/proposals/{story.proposal.public_id}/{part}"


def approval(story: Story, **changes: Any) -> dict[str, Any]:
    return {"decision": "approve", "digest": story.proposal.digest, "version": story.case.version} | changes


@pytest.fixture
def story(engine: Engine) -> Story:
    return engine.proposed()


@pytest.fixture
def approver(engine: Engine) -> Caller:
    return browser_of(engine.approver)


def test_a_proposal_shows_what_a_person_decides_on(story: Story, approver: Caller) -> None:
    shown = approver.get(path_of(story)).json()

    assert hashlib.sha256(rfc8785.dumps(shown["snapshot"])).hexdigest() == shown["digest"]
    assert shown["case"] == {
        "id": story.case.public_id,
        "external_id": story.case.external_id,
        "state": "WAITING_APPROVAL",
        "version": shown["case_version"],
    }
    assert shown["needs"] == {"right": "decide_proposal", "quorum": 1, "approvals": 0, "four_eyes": True}
    assert story.subscription in shown["request_text"]
    assert (shown["changed"], shown["obstacle"], shown["decisions"]) == (False, "", [])
    assert all(fact["then"] == fact["now"] and fact["observed_now"] for fact in shown["facts"])
    assert story.email not in approver.get(path_of(story)).content.decode()


def test_an_approval_of_what_was_seen_counts(story: Story, approver: Caller) -> None:
    answer = approver.post(path_of(story, "decision/"), approval(story, reason="Проверено"))

    body = answer.json()
    assert answer.status_code == 201, body
    assert body["case"]["state"] == "EXECUTING"
    assert (body["decision"]["kind"], body["decision"]["decisive"], body["decision"]["has_reason"]) == (
        "approve",
        True,
        True,
    )
    assert body["decision"]["execute_by"] > body["decision"]["undo_until"]


def test_the_same_approval_again_changes_nothing(story: Story, approver: Caller) -> None:
    words = approval(story)
    approver.post(path_of(story, "decision/"), words)

    again = approver.post(path_of(story, "decision/"), words)

    assert again.status_code == 200
    assert Decision.objects.count() == 1


@pytest.mark.parametrize(
    ("digest", "code"),
    [
        (None, "wrong_type"),
        ("", "bad_digest"),
        ("cut", "bad_digest"),
        ("upper", "bad_digest"),
        ("line", "bad_digest"),
        ("other", "stale_snapshot"),
        ("absent", "missing"),
    ],
)
def test_no_digest_but_the_whole_one_ever_passes(story: Story, approver: Caller, digest: str | None, code: str) -> None:
    whole = story.proposal.digest
    forms = {"cut": whole[:-1], "upper": whole.upper(), "line": whole + "\n", "other": "0" * 64}
    words = approval(story, digest=forms.get(digest, digest) if digest else digest)
    if digest == "absent":
        del words["digest"]

    answer = approver.post(path_of(story, "decision/"), words)

    assert answer.status_code == (409 if code == "stale_snapshot" else 400)
    assert answer.json()["code"] == code
    assert story.state == "WAITING_APPROVAL"
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"decision": "yes"}, "unknown_decision", "$.decision"),
        ({"decision": "withdraw"}, "unknown_decision", "$.decision"),
        ({"version": "3"}, "wrong_type", "$.version"),
        ({"version": True}, "wrong_type", "$.version"),
        ({"decision": "reject"}, "empty", "$.reason"),
        ({"decision": "reject", "reason": "No"}, "wrong_next", "$.next"),
        ({"next": "close"}, "wrong_next", "$.next"),
        ({"force": True}, "unknown_field", "$.force"),
    ],
)
def test_a_decision_of_another_form_is_refused(
    story: Story, approver: Caller, changes: dict[str, Any], code: str, path: str
) -> None:
    answer = approver.post(path_of(story, "decision/"), approval(story, **changes))

    assert (answer.status_code, answer.json()["code"], answer.json()["path"]) == (400, code, path)
    assert not Decision.objects.exists()


def test_an_approval_of_an_older_version_says_what_differs_and_is_recorded(story: Story, approver: Caller) -> None:
    answer = approver.post(path_of(story, "decision/"), approval(story, version=story.case.version - 1))

    assert (answer.status_code, answer.json()["code"]) == (409, "stale_snapshot")
    assert answer.json()["differences"] == {"version": {"then": story.case.version - 1, "now": story.case.version}}
    assert story.told("decision.refused")["code"] == "stale_snapshot"


def test_of_two_approvals_at_the_same_instant_the_second_is_told_who_decided(engine: Engine, story: Story) -> None:
    callers = [browser_of(engine.person(name)) for name in ("approver", "second")]
    path, words = path_of(story, "decision/"), approval(story)

    answers = together(*[lambda caller=caller: caller.post(path, words) for caller in callers])

    won, lost = sorted(answers, key=lambda answer: answer.status_code)
    assert (won.status_code, lost.status_code, lost.json()["code"]) == (201, 409, "already_decided")
    assert lost.json()["person"] == won.json()["decision"]["person"]
    assert lost.json()["at"]
    assert Decision.objects.count() == 1
    assert story.told("decision.refused")["code"] == "already_decided"


def test_a_machine_never_decides_and_never_withdraws(engine: Engine, story: Story) -> None:
    machine = machine_of(engine.organisation)

    for part, words in (("decision/", approval(story)), ("withdrawal/", {})):
        for path in (path_of(story, part), f"/api/v1/proposals/P-0000000000/{part}"):
            answer = machine.post(path, words)
            assert (answer.status_code, answer.json()["code"]) == (403, "service_never_decides")
    assert not Decision.objects.exists()
    assert AuditEvent.objects.filter(kind="access.refused").count() == 4


def test_a_viewer_sees_a_proposal_and_may_not_decide_on_it(engine: Engine, story: Story) -> None:
    viewer = browser_of(engine.person("viewer"))

    assert viewer.get(path_of(story)).json()["obstacle"] == "not_permitted"
    answer = viewer.post(path_of(story, "decision/"), approval(story))
    assert (answer.status_code, answer.json()["code"]) == (403, "not_permitted")
    assert story.told("decision.refused")["code"] == "not_permitted"


def test_who_supplied_the_ticket_does_not_decide_on_it(engine: Engine) -> None:
    story = engine.proposed(actor=actor_of_person(engine.approver))
    approver = browser_of(engine.approver)

    assert approver.get(path_of(story)).json()["obstacle"] == "causer_may_not_decide"
    answer = approver.post(path_of(story, "decision/"), approval(story))
    assert (answer.status_code, answer.json()["code"]) == (403, "causer_may_not_decide")


def test_a_decision_without_the_csrf_token_counts_for_nothing(story: Story, approver: Caller) -> None:
    approver.headers.clear()

    answer = approver.post(path_of(story, "decision/"), approval(story))

    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")
    assert not Decision.objects.exists()


def test_another_organisations_proposal_and_action_answer_as_if_they_were_not_there(
    engine: Engine, story: Story, approver: Caller
) -> None:
    approver.post(path_of(story, "decision/"), approval(story))
    story.run()
    globex = make_organisation("globex")
    stranger = browser_of(make_person("stranger", globex, Role.APPROVER))

    for path in (path_of(story), f"/api/v1/actions/{story.effect.public_id}/"):
        hidden, missing = stranger.get(path), stranger.get(path[:-11] + "0000000000/")
        assert hidden.status_code == missing.status_code == 404
        assert hidden.json() == missing.json()
    hidden = stranger.post(path_of(story, "decision/"), approval(story))
    missing = stranger.post("/api/v1/proposals/P-0000000000/decision/", approval(story))
    assert hidden.status_code == missing.status_code == 404
    assert hidden.json() == missing.json()


def test_an_approval_is_taken_back_before_the_request_was_sent(story: Story, approver: Caller, engine: Engine) -> None:
    first = path_of(story)
    approver.post(path_of(story, "decision/"), approval(story))

    answer = approver.post(f"{first}withdrawal/")

    body = answer.json()
    assert answer.status_code == 201, body
    assert body["case"]["state"] == "WAITING_APPROVAL"
    assert body["proposal"]["number"] == 2
    assert body["proposal"]["repeats"] == first.split("/")[-2]
    assert approver.get(first).json()["newest"] == body["proposal"]["id"]
    assert approver.get(first).json()["obstacle"] == "already_decided"


def test_after_the_request_was_sent_it_is_too_late_and_the_answer_names_it(story: Story, approver: Caller) -> None:
    approver.post(path_of(story, "decision/"), approval(story))
    story.run()

    answer = approver.post(path_of(story, "withdrawal/"))

    assert (answer.status_code, answer.json()["code"]) == (409, "too_late_to_withdraw")
    assert answer.json()["action"] == story.effect.public_id
    assert story.told("decision.refused")["code"] == "too_late_to_withdraw"


def test_a_fact_that_changed_stands_beside_the_one_in_the_snapshot(story: Story, approver: Caller) -> None:
    story.change("payments", status="refunded")
    known = ask_what_is_known(story.id).answered()
    readings = read_now(story.row.definition, known.intake, revision=known.revision)
    keep_readings(story.id, readings, at=story.engine.now())

    shown = approver.get(path_of(story)).json()
    changed = [fact for fact in shown["facts"] if fact["changed"]]
    assert [(fact["path"], fact["then"], fact["now"]) for fact in changed] == [
        ("payment.status", "confirmed", "refunded")
    ]
    assert (shown["changed"], shown["obstacle"]) == (True, "stale_snapshot")
    answer = approver.post(path_of(story, "decision/"), approval(story))
    assert answer.json()["differences"] == {"payment.status": {"then": "confirmed", "now": "refunded"}}


def test_requested_is_not_called_confirmed_until_it_was_read_back(story: Story, approver: Caller) -> None:
    approver.post(path_of(story, "decision/"), approval(story))
    outside, subscription = story.engine.outside, f"/subscriptions/{story.subscription}"
    # The service accepts the request, but shows its old state until later.
    hooks.at("after_perform", lambda: outside.script("stale_read", method="GET", path=subscription))
    story.run()
    path = f"/api/v1/actions/{story.effect.public_id}/"
    machine = machine_of(story.engine.organisation)

    requested = [machine.client.get(path, headers={"Accept-Language": each}).json() for each in ("en", "ru")]
    story.run_later()
    confirmed = [machine.client.get(path, headers={"Accept-Language": each}).json() for each in ("en", "ru")]

    assert {(shown["status"], shown["confirmed_by"]) for shown in requested} == {("REQUESTED", "")}
    assert [shown["status_text"] for shown in requested] == ["Requested, not confirmed", "Запрошено, не подтверждено"]
    assert {(shown["status"], shown["confirmed_by"]) for shown in confirmed} == {("CONFIRMED", "read")}
    assert [shown["status_text"] for shown in confirmed] == ["Confirmed by the service", "Подтверждено сервисом"]
    assert [call["kind"] for call in confirmed[0]["calls"]].count("perform") == 1
    assert confirmed[0]["key"] == f"restore_access:{confirmed[0]['id']}"
    assert story.email not in str(confirmed)


def test_the_history_tells_events_tries_and_calls_in_order(story: Story, approver: Caller) -> None:
    approver.post(path_of(story, "decision/"), approval(story))
    story.run()

    history = approver.get(f"/api/v1/cases/{story.case.public_id}/timeline/").json()

    assert history["complete"]
    lines = history["results"]
    assert {line["type"] for line in lines} == {"event", "attempt", "call"}
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)
    assert [line["kind"] for line in lines if line["type"] == "event"] == story.history()
    assert story.email not in str(history)


def test_a_proposal_costs_the_same_however_much_happened(story: Story, approver: Caller) -> None:
    path = path_of(story)
    with CaptureQueriesContext(connection) as queries:
        approver.get(path)
    before = len(queries)
    approver.post(path_of(story, "decision/"), approval(story))
    story.run()

    with CaptureQueriesContext(connection) as queries:
        approver.get(path)

    assert len(queries) == before == 8  # session, person, proposal, four of the review, the right
    assert Case.objects.get().state == "COMPLETED"


def test_a_case_that_waited_for_data_is_completed_by_what_a_machine_supplies(engine: Engine, approver: Caller) -> None:
    waiting = engine.open(missing=["payments"])
    waiting.run()
    assert waiting.standing == ("WAITING_DATA", "payment_not_found")
    right = engine.open(about=waiting)  # its payment exists, with another number
    machine = machine_of(engine.organisation)

    supplied = machine.post(f"/api/v1/cases/{waiting.case.public_id}/data/", {"data": {"payment_id": right.payment}})

    assert (supplied.status_code, supplied.json()["moved"]) == (201, True)
    waiting.run()
    assert approver.post(path_of(waiting, "decision/"), approval(waiting)).status_code == 201
    waiting.run()
    assert (waiting.state, len(waiting.activations())) == ("COMPLETED", 1)
