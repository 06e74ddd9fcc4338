"""A ticket becomes one case, and what is personal in it is readable to nobody who only has the database."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection, transaction

from accounts.models import Organisation
from accounts.principal import SYSTEM
from accounts.services import create_organisation
from caseflow.domain.errors import BadInput, IntakeConflict, Purged
from cases.intake import Opened, open_case
from cases.models import Case, CaseKey, IntakeRevision, Task
from cases.personal import read_texts
from tests.driving import Engine, fingerprint, together

SECRET = "Списали 990 рублей с карты, дочка осталась без уроков"
INTAKE = {"customer_id": "U-12", "subscription_id": "S-77", "payment_id": "PAY-31", "claim": SECRET}


@pytest.fixture
def acme(committing_database: None) -> Organisation:
    return create_organisation(slug="acme", name="Acme")


def ticket(organisation: Organisation, **said: Any) -> Opened:
    words: dict[str, Any] = {
        "process": "restore_access",
        "source": "helpdesk",
        "external_id": "T-4821",
        "intake": INTAKE,
        "actor": SYSTEM,
    }
    return open_case(organisation=organisation, **words | said)


def test_a_ticket_becomes_a_case_with_its_first_revision_its_event_and_its_task(acme: Organisation) -> None:
    opened = ticket(acme)
    case = Case.objects.get()
    assert opened.created
    assert (case.state, case.version, case.external_id, case.subject) == ("RECEIVED", 1, "T-4821", "S-77")
    assert list(IntakeRevision.objects.values_list("number", "body__payment_id")) == [(1, "PAY-31")]
    assert list(Task.objects.values_list("stage", "status", "generation")) == [("check", "due", 1)]


def test_the_same_ticket_again_is_the_same_case_and_nothing_is_written(acme: Organisation) -> None:
    first = ticket(acme)
    before = fingerprint()
    reordered = dict(reversed(INTAKE.items()))
    for spelling in ("T-4821", " T‑4821\u200b", "T–4821"):
        again = ticket(acme, external_id=spelling, intake=reordered)
        assert (again.created, again.case.pk) == (False, first.case.pk)
    assert fingerprint() == before


@pytest.mark.parametrize(
    "other",
    [
        {"intake": INTAKE | {"payment_id": "PAY-32"}},
        {"intake": INTAKE | {"claim": SECRET + "!"}},
        {"source_url": "https://helpdesk.example.org/T-4821"},
    ],
)
def test_the_same_ticket_with_other_content_is_refused_and_names_the_case(other: Any, acme: Organisation) -> None:
    first = ticket(acme)
    before = fingerprint()
    with pytest.raises(IntakeConflict) as refusal:
        ticket(acme, **other)
    assert refusal.value.params == {"external_id": "T-4821", "case": first.case.public_id}
    assert fingerprint() == before


def test_a_number_is_one_ticket_within_its_source_and_organisation_only(acme: Organisation) -> None:
    globex = create_organisation(slug="globex", name="Globex")
    opened = [ticket(acme), ticket(acme, source="mail"), ticket(globex), ticket(acme, external_id="t-4821")]
    assert len({one.case.pk for one in opened}) == 4


def test_twenty_at_the_same_instant_get_one_case(acme: Organisation) -> None:
    results = together(*[lambda: ticket(acme)] * 20)
    assert sorted(result.created for result in results) == [False] * 19 + [True]
    assert len({result.case.public_id for result in results}) == 1
    assert (Case.objects.count(), Task.objects.count(), IntakeRevision.objects.count()) == (1, 1, 1)


def test_of_two_contents_at_the_same_instant_one_is_the_case_and_the_other_is_told(acme: Organisation) -> None:
    other = INTAKE | {"payment_id": "PAY-32"}
    results = together(lambda: ticket(acme), lambda: ticket(acme, intake=other))
    assert sorted(type(result).__name__ for result in results) == ["IntakeConflict", "Opened"]
    assert Case.objects.count() == 1


def test_a_ticket_whose_transaction_is_undone_leaves_nothing(acme: Organisation) -> None:
    before = fingerprint()
    with pytest.raises(RuntimeError), transaction.atomic():
        ticket(acme)
        raise RuntimeError
    assert fingerprint() == before
    assert ticket(acme).created


@pytest.mark.parametrize(
    ("wrong", "code", "path"),
    [
        ({"process": "no_such_process"}, "unknown_process", "$.process"),
        ({"process": None}, "wrong_type", "$.process"),
        ({"source": ""}, "empty", "$.source"),
        ({"source": "h" * 65}, "too_long", "$.source"),
        ({"external_id": 4821}, "wrong_type", "$.external_id"),
        ({"external_id": " \u200b"}, "empty", "$.external_id"),
        ({"source_url": "javascript:alert(1)"}, "wrong_format", "$.source_url"),
        ({"intake": INTAKE | {"refund": "yes"}}, "unknown_field", "$.intake.refund"),
        ({"intake": INTAKE | {"payment_id": 31}}, "wrong_type", "$.intake.payment_id"),
        ({"intake": INTAKE | {"payment_id": "../admin"}}, "wrong_format", "$.intake.payment_id"),
        ({"intake": INTAKE | {"claim": ""}}, "empty", "$.intake.claim"),
        ({"intake": INTAKE | {"claim": "x" * 4001}}, "too_long", "$.intake.claim"),
        ({"intake": {"claim": SECRET}}, "missing", "$.intake.customer_id"),
        ({"intake": [INTAKE]}, "wrong_type", "$.intake"),
        ({"intake": None}, "wrong_type", "$.intake"),
    ],
)
def test_a_ticket_that_breaks_a_rule_is_refused_with_its_place_and_nothing_is_stored(
    wrong: dict[str, Any], code: str, path: str, database: None
) -> None:
    acme = create_organisation(slug="acme", name="Acme")
    before = fingerprint()
    with pytest.raises(BadInput) as refusal:
        ticket(acme, **wrong)
    assert (refusal.value.code, refusal.value.params["path"]) == (code, path)
    assert fingerprint() == before


def test_no_table_holds_the_claim_the_address_or_a_reason_in_clear_text(engine: Engine) -> None:
    story = engine.proposed(claim=SECRET)
    story.decide(reason="Клиентка плакала")
    story.run()
    assert story.state == "COMPLETED"
    words = [SECRET, "990 рублей с карты", story.email, "Клиентка плакала"]
    found = [(table, word) for table in fingerprint() for word in words if _holds(table, word)]
    assert found == []
    assert read_texts(story.id, ["intake.claim", "fact.customer.email"]) == {
        "intake.claim": SECRET,
        "fact.customer.email": story.email,
    }


def _holds(table: str, word: str) -> bool:
    """Whether a row of the table shows the word: as text, inside JSON with or without escapes, or inside bytes."""
    escaped = word.encode("unicode_escape").decode()
    with connection.cursor() as cursor:
        cursor.execute(
            f'SELECT EXISTS (SELECT FROM "{table}" t WHERE position(%s IN t::text) > 0 OR position(%s IN t::text) > 0'
            " OR position(encode(convert_to(%s, 'UTF8'), 'hex') IN t::text) > 0)",
            [word, escaped, word],
        )
        found: bool = cursor.fetchone()[0]
        return found


def test_the_search_for_clear_text_would_find_it(acme: Organisation) -> None:
    ticket(acme)
    assert _holds("cases_case", "T-4821")
    assert _holds("cases_intakerevision", "PAY-31")
    assert _holds("audit_auditevent", "restore_access")  # inside bytes


def test_two_cases_never_share_a_key_and_a_text_is_bound_to_its_field(engine: Engine) -> None:
    first, second = engine.open(claim=SECRET), engine.open(claim=SECRET)
    keys = {bytes(key.wrapped) for key in CaseKey.objects.all()}
    assert len(keys) == 2
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT ciphertext) FROM cases_personaltext WHERE field = 'intake.claim'")
        assert cursor.fetchone() == (2,)
    assert read_texts(first.id, ["intake.claim"]) == read_texts(second.id, ["intake.claim"])


def test_a_purged_text_is_gone_and_the_case_still_has_its_history(engine: Engine) -> None:
    story = engine.open(claim=SECRET)
    engine.owner.execute("DELETE FROM cases_casekey WHERE case_id = %s", [story.id])
    with pytest.raises(Purged):
        read_texts(story.id, ["intake.claim"])
    assert story.history() == ["case.opened"]
