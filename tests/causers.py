"""Every way to have taken part in a case, by somebody who also holds the right to decide (design §9)."""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction

from accounts.models import Person, ServiceAccount
from accounts.principal import SYSTEM, actor_of_person, actor_of_service
from accounts.services import create_service_account, grant_role
from approvals.proposing import ORDERS
from caseflow.domain.roles import RIGHTS_OF_SERVICES, Role
from cases.advancing import record_event
from cases.supplying import supply_data
from tests.stories import Engine, Story


def opened(engine: Engine, causer: Person) -> Story:
    return engine.proposed(actor=actor_of_person(causer))


def opened_by_their_machine(engine: Engine, causer: Person) -> Story:
    return engine.proposed(actor=actor_of_service(machine_of(engine, causer)))


def supplied(engine: Engine, causer: Person) -> Story:
    story = engine.proposed()
    supply_data(case_id=story.id, data={"claim": "Ещё"}, actor=actor_of_person(causer))
    return again(story)


def supplied_by_their_machine(engine: Engine, causer: Person) -> Story:
    story = engine.proposed()
    supply_data(case_id=story.id, data={"claim": "Ещё"}, actor=actor_of_service(machine_of(engine, causer)))
    return again(story)


def supplied_early_and_others_since(engine: Engine, causer: Person) -> Story:
    """Taking part is not forgotten when somebody else supplies later."""
    story = supplied(engine, causer)
    supply_data(case_id=story.id, data={"claim": "И ещё"}, actor=SYSTEM)
    return again(story)


def asked_again(engine: Engine, causer: Person) -> Story:
    return again(_ordered(stopped(engine), causer, "observe_again"))


def corrected(engine: Engine, causer: Person) -> Story:
    return again(_ordered(stopped(engine), causer, "correct_input"))


CAUSES: dict[str, Callable[[Engine, Person], Story]] = {
    cause.__name__: cause
    for cause in (
        opened,
        opened_by_their_machine,
        supplied,
        supplied_by_their_machine,
        supplied_early_and_others_since,
        asked_again,
        corrected,
    )
}


def after_order(kind: str) -> Callable[[Engine, Person], Story]:
    """A proposal that came after an order on record, of whatever kind it was."""

    def cause(engine: Engine, causer: Person) -> Story:
        story = engine.open()
        with transaction.atomic():
            record_event(story.row, kind, actor=actor_of_person(causer))
        return again(story)

    return cause


CAUSES |= {f"order {kind}": after_order(kind) for kind in ORDERS}


def causer_in(engine: Engine) -> Person:
    """An approver who may also do everything that makes a causer."""
    causer = engine.person("second")
    for role in (Role.OPERATOR, Role.RECOVERER):
        grant_role(person=causer, organisation=engine.organisation, role=role, by=SYSTEM)
    return causer


def stopped(engine: Engine) -> Story:
    """A case that an approver gave to be handled by hand."""
    story = engine.proposed()
    story.decide("reject", next="by_hand")
    assert story.state == "NEEDS_ATTENTION"
    return story


def again(story: Story) -> Story:
    story.run()
    assert story.state == "WAITING_APPROVAL", story.standing
    return story


def machine_of(engine: Engine, owner: Person) -> ServiceAccount:
    return create_service_account(
        organisation=engine.organisation, name="robot", owner=owner, rights=RIGHTS_OF_SERVICES, by=SYSTEM
    )


def _ordered(story: Story, causer: Person, kind: str) -> Story:
    said = {"data": {"claim": "Исправлено"}} if kind == "correct_input" else {}
    story.order(kind, person=causer.username, **said)
    return story
