"""For every state and every role: what a page offers is exactly what the server accepts.

Each button of the case's and the proposal's page is pressed by everybody, shown or not, with all that it asks for; then
everything is rolled back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction

from accounts.principal import SYSTEM
from accounts.services import grant_role
from approvals.models import Decision
from caseflow.console.recoveries import name_to_type, seen_by
from caseflow.domain.lifecycle import State
from caseflow.domain.recovery import RULES, Evidence, Kind
from caseflow.domain.roles import Role
from cases.holding import hold_case
from cases.models import Case
from operations.selectors import choices_for
from tests.console.conftest import Desk
from tests.driving import Engine, Story
from tests.operations import standings
from tests.operations.standings import Start, stand

Desks = Callable[..., Desk]

#: One for every state; what may be ordered in each of its corners is the matter of tests.operations.
PLACES: tuple[Start, ...] = (
    standings.received,
    standings.checking,
    standings.waiting_for_data,
    standings.waiting_for_decision,
    standings.approved,
    standings.telling,
    standings.unknown,
    standings.told_nobody,
    standings.completed,
    standings.closed,
)
PEOPLE = ("viewer", "operator", "recoverer", "approver")
#: Where two of a role differ: of two operators the first has the case, of two approvers the first decided.
MORE = {standings.waiting_for_decision: ("colleague",), standings.approved: ("second",)}
STEPS = ("approve", "reject", "return", "ask-data")


@dataclass(frozen=True, slots=True)
class Button:
    """`shown` is where its link or form leads, `says` all that it asks for."""

    name: str
    shown: str
    post: str
    says: Mapping[str, Any]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_what_is_shown_is_what_is_accepted(engine: Engine, desk: Desks, settings: Any, place: Start) -> None:
    settings.CASEFLOW_UNDO_SECONDS = 60 if place is standings.approved else 0
    colleague = engine.person("colleague")
    grant_role(person=colleague, organisation=engine.organisation, role=Role.OPERATOR, by=SYSTEM)
    story = stand(place, engine, settings)
    if story.case.closed_at is None:
        hold_case(case_id=story.id, person=engine.person("operator"))
    wrong = []
    for username in (*PEOPLE, *MORE.get(place, ())):
        reader = desk(username)
        pages = "".join(reader.get(path).html for path in pages_of(story))
        for button in buttons_of(engine, story):
            shown = button.shown in pages
            accepted = press(reader, button)
            if shown != accepted:
                wrong.append((username, button.name, "shown" if shown else "hidden", accepted))
    assert wrong == []


def test_there_is_a_place_for_every_state() -> None:
    assert {standings.STANDINGS[place][0] for place in PLACES} == {state.value for state in State}


def pages_of(story: Story) -> Iterator[str]:
    yield f"/console/cases/{story.case.public_id}/"
    proposal = story.case.proposals.filter(has_effects=True).order_by("-number").first()
    if proposal is not None:
        yield f"/console/approvals/{proposal.public_id}/"


def buttons_of(engine: Engine, story: Story) -> Iterator[Button]:
    case = story.case
    here = f"/console/cases/{case.public_id}/"
    plain = {
        "take": {},
        "release": {},
        "hand-over": {"to": ""},
        "note": {"text": "Звонил клиент"},
    }
    for name, says in plain.items():
        yield Button(name, f'action="{here}{name}/"', f"{here}{name}/", says)
    yield Button("show", f'action="{here}show-text/"', f"{here}show-text/", {"field": "intake.claim"})
    supplied = {"payment_id": "PAY-another", "revision": case.intake_revisions.count()}
    if case.state in ("WAITING_DATA", "WAITING_APPROVAL"):
        yield Button("supply", f'action="{here}supply/"', f"{here}supply/", supplied)
    yield from _orders(engine, case, here)
    proposal = case.proposals.filter(has_effects=True).order_by("-number").first()
    if proposal is None:
        return
    there = f"/console/approvals/{proposal.public_id}/"
    seen = {"digest": proposal.digest, "version": case.version, "reason": "Нужна проверка"}
    for step in STEPS:
        says = seen | ({"next": "by_hand"} if step == "reject" else {})
        yield Button(step, f'href="{there}{step}/"', f"{there}{step}/", says)
    yield Button("withdraw", f'action="{there}withdraw/"', f"{there}withdraw/", {})


def _orders(engine: Engine, case: Case, here: str) -> Iterator[Button]:
    """Every kind of recovery, as somebody would order it who may order everything and saw the case just now."""
    choices = choices_for(engine.person("operator"), case)
    for kind in Kind:
        says = {name: str(value) for name, value in seen_by(kind, case, choices).items()}
        says |= {"reason": "Проверьте ещё раз"}
        if RULES[kind].evidence is Evidence.WRITTEN:
            says |= {"evidence": "https://billing.example.org/S-77", "typed": name_to_type(kind, case, choices)}
        if kind is Kind.RESULT_BY_HAND:
            says["result"] = "done"
        if kind is Kind.CORRECT_INPUT:
            says["data_payment_id"] = "PAY-another"
        address = f"{here}recover/{kind.value.replace('_', '-')}/"
        yield Button(kind.value, f'href="{address}"', address, says)


def press(reader: Desk, button: Button) -> bool:
    """Whether the server does it; nothing of it stays."""
    outer = transaction.atomic()
    outer._from_testcase = True  # what is durable in the product may be rolled back here
    with outer:
        before = Decision.objects.count()
        answer = reader.client.post(button.post, button.says)
        # The same said twice by one person is answered as before and decides nothing more.
        decided = button.name not in STEPS or Decision.objects.count() > before
        transaction.set_rollback(True)
    assert answer.status_code in (200, 302, 400, 403, 409), (button.name, answer.status_code)
    return answer.status_code in (200, 302) and decided
