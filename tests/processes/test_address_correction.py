"""A customer's address is corrected: what the facts allow, one effect in the address book, and no address in it."""

from __future__ import annotations

import copy
import uuid
from typing import Any

import pytest
from django.utils import translation

from accounts.principal import SYSTEM
from actions.models import Action
from approvals.deciding import decide
from approvals.models import Proposal
from approvals.snapshots import opened
from caseflow.checks import check_process, resolved_adapters
from caseflow.console import vocabulary, words
from caseflow.domain.process import EndingKind
from caseflow.processes.address_correction import AddressCorrection
from cases.intake import open_case
from cases.models import Case
from cases.supplying import supply_data
from tests.driving import Engine, run_due

PROCESS = AddressCorrection()
INTAKE = {"customer_id": "U-12", "correction_id": "COR-5"}
GOOD: dict[str, dict[str, Any]] = {
    "customer": {"status": "known", "language": "ru", "email": {"personal": "fact.customer.email", "digest": "e"}},
    "address": {"status": "known", "line": {"personal": "fact.address.line", "digest": "a"}, "correction_id": None},
    "correction": {
        "status": "pending",
        "customer_id": "U-12",
        "check": "deliverable",
        "line": {"personal": "fact.correction.line", "digest": "c"},
    },
}

#: (ending, its kind, the fact that brings it about, letters to the customer), in the order in which the facts count
ENDINGS: list[tuple[str, EndingKind, dict[str, str], int]] = [
    ("correction_not_found", EndingKind.ASK_DATA, {"correction.status": "not_found"}, 1),
    ("customer_unknown", EndingKind.ASK_DATA, {"customer.status": "unknown"}, 0),
    ("another_customer", EndingKind.PERSON, {"correction.customer_id": "U-99"}, 0),
    ("correction_withdrawn", EndingKind.CLOSE, {"correction.status": "withdrawn"}, 1),
    ("already_applied", EndingKind.CLOSE, {"correction.status": "applied"}, 1),
    ("address_unknown", EndingKind.PERSON, {"address.status": "unknown"}, 0),
    ("being_checked", EndingKind.WAIT, {"correction.check": "pending"}, 0),
    ("not_deliverable", EndingKind.ASK_DATA, {"correction.check": "undeliverable"}, 1),
    ("unclear_facts", EndingKind.PERSON, {"correction.check": "lost"}, 0),
]
OLD, NEW = "Казань, улица Мира, 1", "Казань, улица Мира, 2"


def facts(change: dict[str, str]) -> dict[str, dict[str, Any]]:
    found = copy.deepcopy(GOOD)
    for path, value in change.items():
        name, _, part = path.partition(".")
        found[name][part] = value
    return found


def test_it_fits_the_engine() -> None:
    assert check_process(PROCESS, resolved_adapters()[0]) == []


@pytest.mark.parametrize(("ending", "kind", "change", "letters"), ENDINGS, ids=[row[0] for row in ENDINGS])
def test_each_ending_has_its_fact_and_none_of_them_changes_anything(
    ending: str, kind: EndingKind, change: dict[str, str], letters: int
) -> None:
    said = PROCESS.decide(facts=facts(change), intake=INTAKE)
    assert (said.decision, PROCESS.endings[ending].kind) == (ending, kind)
    plan = PROCESS.plan(decision=ending, facts=facts(change), intake=INTAKE, effects=())
    assert (list(plan.effects), len(plan.notices)) == ([], letters)


def test_the_earlier_trouble_counts() -> None:
    for place, (ending, _, change, _) in enumerate(ENDINGS):
        for _, _, later, _ in ENDINGS[place + 1 :]:
            assert PROCESS.decide(facts=facts(later | change), intake=INTAKE).decision == ending


@pytest.mark.parametrize("missing", ["customer", "address", "correction"])
def test_too_few_facts_are_never_a_reason_to_act(missing: str) -> None:
    known = {name: value for name, value in GOOD.items() if name != missing}
    assert PROCESS.decide(facts=known, intake=INTAKE).decision in ("unclear_facts", "another_customer")


def test_the_plan_names_the_correction_and_hangs_on_its_line_without_holding_it() -> None:
    assert PROCESS.decide(facts=GOOD, intake=INTAKE).decision == "correct_address"
    plan = PROCESS.plan(decision="correct_address", facts=GOOD, intake=INTAKE, effects=())
    (effect,) = plan.effects
    assert (effect.system, effect.operation, effect.subject) == ("addresses", "apply", "U-12")
    assert effect.request == {"correction_id": "COR-5"}
    assert set(effect.preconditions) == set(PROCESS.critical)
    assert effect.preconditions["correction.line"] == GOOD["correction"]["line"]
    assert [notice.template for notice in plan.notices] == ["address_correction/corrected"]


def test_pages_say_it_in_the_readers_own_words() -> None:
    with translation.override("ru"):
        assert vocabulary.path_label("correction.check") == "Исправление адреса: проверка доставки"
        assert vocabulary.value_text("correction.check", "deliverable") == "пройдена"
        assert vocabulary.operation_label("addresses", "apply") == "Внести исправление адреса"
        assert words.newest_title(PROCESS.slug) == "Исправить адрес клиента"


class Book:
    """One customer with an address, a correction of it, and the ticket that asks for it."""

    def __init__(self, engine: Engine, **correction: Any) -> None:
        for username in engine.DECIDERS:
            engine.person(username)
        self.engine, self.customer = engine, f"U-{uuid.uuid4().hex[:12]}"
        self.email = f"{self.customer}@example.org"
        self.tell("customers", id=self.customer, email=self.email, language="ru")
        self.tell("addresses", id=self.customer, line=OLD)
        self.correction = self.new_correction(**correction)
        intake = {"customer_id": self.customer, "correction_id": self.correction, "claim": "Я переехала"}
        self.id = open_case(
            organisation=engine.organisation,
            process=PROCESS.slug,
            source="helpdesk",
            external_id=f"T-{self.customer}",
            intake=intake,
            actor=SYSTEM,
        ).case.pk
        run_due(case=self.id)

    def new_correction(self, **fields: Any) -> str:
        name = f"COR-{uuid.uuid4().hex[:12]}"
        self.tell("corrections", **{"id": name, "customer_id": self.customer, "line": NEW} | fields)
        return name

    def tell(self, collection: str, **fields: Any) -> None:
        self.engine.outside.ask("PUT", "/world", {collection: [fields]}).raise_for_status()

    def approve(self) -> None:
        proposal = Proposal.objects.filter(case_id=self.id, has_effects=True).latest("number")
        person, version = self.engine.approver, self.case.version
        decide(proposal=proposal, person=person, kind="approve", seen_digest=proposal.digest, seen_version=version)
        run_due(case=self.id)

    @property
    def case(self) -> Case:
        return Case.objects.get(pk=self.id)

    @property
    def line(self) -> str:
        line: str = self.engine.outside.ask("GET", f"/addresses/{self.customer}").json()["line"]
        return line

    def effects(self, subject: str) -> list[dict[str, Any]]:
        found = self.engine.outside.ask("GET", "/ledger").json()["effects"]
        return [effect for effect in found if effect["subject"] == subject]


def test_an_approved_correction_is_applied_once_read_back_and_told_to_the_customer(engine: Engine) -> None:
    book = Book(engine)
    assert (book.case.state, book.line) == ("WAITING_APPROVAL", OLD)
    book.approve()
    assert (book.case.state, book.case.outcome, book.line) == ("COMPLETED", "done", NEW)
    (applied,) = book.effects(book.customer)
    assert (applied["operation"], applied["body"]) == ("apply", {"correction_id": book.correction})
    (letter,) = book.effects(book.email)
    assert letter["body"]["subject"] == "Ваш адрес исправлен"
    assert NEW not in str(letter["body"])


def test_no_address_stands_in_what_people_decide_on(engine: Engine) -> None:
    book = Book(engine)
    snapshot = bytes(Proposal.objects.get(case_id=book.id).snapshot).decode()
    assert "Казань" not in snapshot and book.correction in snapshot
    assert opened(snapshot.encode())["facts"]["correction.line"]["personal"] == "fact.correction.line"


def test_another_line_under_the_same_number_is_not_what_was_approved(engine: Engine) -> None:
    book = Book(engine)
    book.tell("corrections", id=book.correction, line="Казань, улица Мира, 3")
    book.approve()
    assert (book.case.state, book.line) == ("WAITING_APPROVAL", OLD)
    assert book.effects(book.customer) == []
    assert Action.objects.get(case_id=book.id, kind="effect").status == "CANCELLED"


def test_an_address_that_the_post_does_not_reach_is_asked_for_again(engine: Engine) -> None:
    book = Book(engine, check="undeliverable")
    assert (book.case.state, book.case.ending) == ("WAITING_DATA", "not_deliverable")
    supply_data(case_id=book.id, data={"correction_id": book.new_correction()}, actor=SYSTEM)
    run_due(case=book.id)
    book.approve()
    assert (book.case.state, book.line, len(book.effects(book.customer))) == ("COMPLETED", NEW, 1)
