"""A case's events are one chain that nobody can fork, rewrite or cut unseen."""

from __future__ import annotations

import json

import pytest
from django.db import IntegrityError, connection, transaction

from accounts.principal import SYSTEM
from audit.bodies import chain_hash, event_body
from audit.models import AuditEvent
from caseflow.domain.canonical import canonical_bytes
from cases.advancing import record_event
from cases.models import Case
from tests.driving import Engine, Story, hooks, together

FORGE = """
INSERT INTO audit_auditevent (organisation_id, case_id, seq, kind, actor_kind, actor_id, from_state, to_state, version,
                              at, at_us, body, hash)
VALUES (%(organisation)s, %(case)s, %(seq)s, %(kind)s, 'system', NULL, %(from)s, %(to)s, %(version)s, now(), %(us)s,
        %(body)s, %(hash)s)
"""


def broken_at(case: Case) -> int | None:
    """The first event whose hash is not the one of the written formula; None when the chain is whole."""
    previous, expected = b"", 1
    for event in AuditEvent.objects.filter(case_id=case.pk).order_by("seq"):
        previous = chain_hash(previous, event.at_us, bytes(event.body))
        if event.seq != expected or bytes(event.hash) != previous:
            return event.seq
        expected += 1
    return None if (case.audit_count, bytes(case.audit_head)) == (expected - 1, previous) else expected


def forge(story: Story, **said: object) -> None:
    """Write an audit row by hand; what is not said is what an honest row would say."""
    case = story.case
    last = AuditEvent.objects.get(case_id=case.pk, seq=case.audit_count)
    row: dict[str, object] = {
        "organisation": case.organisation_id,
        "case": case.pk,
        "seq": case.audit_count + 1,
        "kind": "case.note",
        "from": "",
        "to": "",
        "version": None,
        "us": last.at_us + 1,
    } | said
    body = said.get("body") or event_body(str(row["kind"]), actor=SYSTEM, facts={})
    row["body"] = body
    row.setdefault("hash", chain_hash(bytes(last.hash), last.at_us + 1, bytes(body)))  # type: ignore[arg-type]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(FORGE, row)


def test_the_chain_of_a_whole_case_can_be_recomputed_without_the_database(engine: Engine) -> None:
    story = engine.approved()
    story.run()
    assert story.state == "COMPLETED"
    assert broken_at(story.case) is None
    bodies = [bytes(event.body) for event in AuditEvent.objects.filter(case_id=story.id)]
    assert all(canonical_bytes(json.loads(body)) == body for body in bodies)


def test_a_nested_value_changed_by_the_owner_breaks_the_chain_at_that_event(engine: Engine) -> None:
    story = engine.proposed()
    engine.rewrite(
        "audit_auditevent",
        "UPDATE audit_auditevent SET body = convert_to(replace(convert_from(body, 'UTF8'), 'calls', 'cells'), 'UTF8')"
        " WHERE case_id = %s AND kind = 'facts.observed'",
        [story.id],
    )
    assert broken_at(story.case) == story.history().index("facts.observed") + 1


def test_events_recorded_at_the_same_instant_do_not_fork_the_chain(engine: Engine) -> None:
    story = engine.open()
    row = story.row

    def note(number: int) -> int:
        with transaction.atomic():
            return record_event(row, "case.note", actor=SYSTEM, facts={"number": number}).seq

    numbers = together(*(lambda number=number: note(number) for number in range(20)))
    assert sorted(numbers) == list(range(2, 22))
    assert broken_at(story.case) is None


def test_an_event_recorded_between_claim_and_settlement_does_not_fork_the_chain(engine: Engine) -> None:
    story = engine.open()
    hooks.at("after_read", lambda: record_event(story.row, "case.note", actor=SYSTEM) and None)
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert story.history().index("case.note") < story.history().index("facts.observed")
    assert broken_at(story.case) is None


def test_an_audit_row_that_no_change_of_the_case_stands_behind_is_refused(engine: Engine) -> None:
    story = engine.open()
    with pytest.raises(IntegrityError, match="is not in its chain"):
        forge(story)
    assert broken_at(story.case) is None


def test_an_audit_row_with_a_wrong_hash_is_refused(engine: Engine) -> None:
    with pytest.raises(IntegrityError, match="is not in its chain"):
        forge(engine.open(), hash=b"\x00" * 32)


def test_an_audit_row_that_leaves_a_gap_is_refused(engine: Engine) -> None:
    story = engine.open()
    with pytest.raises(IntegrityError, match="is not in its chain"):
        forge(story, seq=story.case.audit_count + 2)


def test_a_second_row_for_one_number_is_refused(engine: Engine) -> None:
    with pytest.raises(IntegrityError, match="audit_one_number_within_case"):
        forge(engine.open(), seq=1)


def test_an_audit_row_whose_columns_and_body_differ_is_refused(engine: Engine) -> None:
    body = event_body("case.other", actor=SYSTEM, facts={})
    with pytest.raises(IntegrityError, match="do not say what its body says"):
        forge(engine.open(), body=body)


def test_a_row_that_claims_a_transition_which_never_was_is_refused(engine: Engine) -> None:
    body = event_body("case.completed", actor=SYSTEM, facts={}, from_state="RECEIVED", to_state="COMPLETED", version=2)
    said = {"kind": "case.completed", "from": "RECEIVED", "to": "COMPLETED", "version": 2}
    with pytest.raises(IntegrityError, match="is not in its chain"):
        forge(engine.open(), body=body, **said)
