"""Two organisations with a case in every standing, people of every role, and a canary in every text (one world)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connections, transaction
from django.test import TransactionTestCase, override_settings

from accounts.models import Department, Organisation, Person, ServiceAccount
from accounts.platform import grant_platform
from accounts.principal import SYSTEM, actor_of_person
from accounts.services import create_departments, create_organisation, create_service_account, grant_role, issue_token
from actions.models import Action
from approvals.models import Proposal
from caseflow.domain.roles import RIGHTS_OF_SERVICES, Role
from cases.intake import open_case
from cases.models import Case, Pause
from cases.webhook_sources import create_source
from documents.models import Document
from operations.bulk import preview_bulk
from operations.bulk_models import Bulk
from operations.hooks import Wanted as Listener
from operations.hooks import create_hook
from operations.models import Hook, Obligation, Recovery
from operations.ordering import order_recovery
from operations.pausing import pause
from operations.reporting import request_report
from operations.scheduling import Wanted, set_schedule
from operations.spreading_hooks import spread_portion
from tests.stories import Engine, Story

from .canaries import Kind, Owner, found_in, word

TRIES = 10
PUBLIC_ID = re.compile(r"\b[A-Z]-[0-9A-HJKMNP-TV-Z]{10}\b")


@dataclass
class House:
    """One organisation with all it has."""

    owner: Owner
    engine: Engine
    departments: list[Department]
    people: dict[Role, Person] = field(default_factory=dict)
    stories: dict[str, Story] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    accounts: list[ServiceAccount] = field(default_factory=list)
    reports: list[Obligation] = field(default_factory=list)

    @property
    def organisation(self) -> Organisation:
        return self.engine.organisation

    def says(self, kind: Kind) -> str:
        return word(self.owner, kind)


@dataclass
class World:
    home: House
    away: House
    #: In no organisation: they look after the platform.
    superuser: Person
    platform_operator: Person
    #: Public ids are told apart from each other by their owner alone.
    ids: dict[str, tuple[Owner, Kind]] = field(default_factory=dict)

    def found_in(self, text: str) -> set[tuple[Owner, Kind]]:
        """Whose words and whose ids stand in `text`, and of what kind."""
        ids = (self.ids[name] for name in PUBLIC_ID.findall(text) if name in self.ids)
        return found_in(text) | set(ids)

    def house(self, owner: Owner) -> House:
        return self.home if owner is Owner.HOME else self.away

    @property
    def houses(self) -> tuple[House, House]:
        return self.home, self.away


@contextmanager
def standing(outside: Any) -> Iterator[World]:
    """The world, committed, until the block ends; then every table is as the migrations left it."""
    told = {"SIMULATOR_URL": outside.url, "CASEFLOW_UNDO_SECONDS": 0, "CASEFLOW_LIMITS": {}}
    with override_settings(**told):
        try:
            with psycopg.connect(**connections["owner"].get_connection_params(), autocommit=True) as owner:
                yield build(owner, outside)
        finally:
            TransactionTestCase._fixture_teardown(None)  # type: ignore[arg-type]


@contextmanager
def undone() -> Iterator[None]:
    """Nothing of it stays: everybody meets the same world."""
    block = transaction.atomic()
    # As Django's own TestCase says it: a service's "durable" transaction is durable within the test only.
    block._from_testcase = True  # type: ignore[attr-defined]
    # As Django's own test client does: else the end of a request would close the connection under the transaction.
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        with block:
            yield
            transaction.set_rollback(True)
    finally:
        for signal in signals:
            signal.connect(close_old_connections)


def build(owner_connection: Any, outside: Any) -> World:
    houses = [_house(owner, owner_connection, outside) for owner in Owner]
    superuser = Person.objects.create_superuser(username="root", name="Root", language="en")
    keeper = Person.objects.create_user(username="keeper", name="Keeper", language="en")
    grant_platform(person=keeper, by=SYSTEM, reason="looks after the platform")
    ids = {name: mark for house in houses for name, mark in _ids_of(house)}
    return World(*houses, superuser=superuser, platform_operator=keeper, ids=ids)


def _ids_of(house: House) -> Iterator[tuple[str, tuple[Owner, Kind]]]:
    content: list[Any] = [Case, Proposal, Action, Recovery]
    named: list[Any] = [Pause, ServiceAccount, Document, Hook]
    kinds = [(model, Kind.CONTENT) for model in content] + [(model, Kind.NAME) for model in named]
    for model, kind in kinds:
        rows = model.objects.filter(**{model.organisation_path: house.organisation})
        yield from ((public_id, (house.owner, kind)) for public_id in rows.values_list("public_id", flat=True))
    bulks = Bulk.objects.filter(items__case__organisation=house.organisation).distinct()
    yield from ((public_id, (house.owner, Kind.CONTENT)) for public_id in bulks.values_list("public_id", flat=True))


def _house(owner: Owner, owner_connection: Any, outside: Any) -> House:
    name = word(owner, Kind.NAME)
    organisation = create_organisation(slug=f"{name}-org", name=f"Org {name}")
    departments = create_departments(organisation=organisation, names=[(f"{name}-dep", f"Dep {name}")])
    house = House(owner, Engine(owner_connection, outside, organisation), departments)
    for role in Role:
        person = Person.objects.create_user(
            username=f"{name}-{role.value}", name=f"{role.value} {name}", email=f"{name}@example.org", language="en"
        )
        department = house.departments[0] if role is Role.REPORT_READER else None
        grant_role(person=person, organisation=organisation, role=role, by=SYSTEM, department=department)
        house.people[role] = person
    _plant_machines(house)
    _plant_cases(house)
    _plant_recoveries(house)
    _plant_pauses(house)
    _plant_bulk(house)
    _plant_report(house)
    assert spread_portion(organisation.pk)
    return house


def _plant_report(house: House) -> None:
    """One that is made; its reader is the department's, who sees none of the cases it is about."""
    requested = request_report(
        organisation=house.organisation,
        department=house.departments[0].slug,
        kind="requests",
        period="2024-10-01",
        principal=house.people[Role.OPERATOR],
    )
    story = Story(house.engine, requested.edition.case_id, payment="", subscription="", customer="", email="")
    _settle(story, "RECEIVED", "CHECKING", "EXECUTING", "NOTIFYING")
    assert story.state == "COMPLETED", story.standing
    house.reports.append(requested.obligation)
    wanted = Wanted(
        department=house.departments[0].slug,
        kind="requests",
        length="day",
        at="08:00",
        cron="",
        zone="UTC",
        grace_minutes=60,
        recipients=[house.people[Role.REPORT_READER].username],
    )
    set_schedule(organisation=house.organisation, wanted=wanted, person=house.people[Role.ORG_ADMIN])


def _plant_bulk(house: House) -> None:
    """An order for many cases that waits to be confirmed, made from a list that names what is looked for."""
    preview_bulk(
        person=house.people[Role.OPERATOR],
        kind="observe_again",
        cases=Case.objects.filter(organisation=house.organisation).order_by("pk"),
        wanted={"source": f"desk-{house.says(Kind.CONTENT)}"},
    )


def _plant_machines(house: House) -> None:
    account = create_service_account(
        organisation=house.organisation,
        name=f"machine {house.says(Kind.NAME)}",
        owner=house.people[Role.ORG_ADMIN],
        rights=RIGHTS_OF_SERVICES,
        by=SYSTEM,
    )
    house.accounts.append(account)
    house.tokens["machine"] = issue_token(account=account)[1]
    create_source(organisation=house.organisation, name=f"bell {house.says(Kind.NAME)}", system="payments", by=SYSTEM)
    address = f"https://{house.says(Kind.NAME)}.example.org/hook"
    listener = Listener(f"hook {house.says(Kind.NAME)}", "webhook", ["opened", "attention"], address)
    with override_settings(CASEFLOW_HOOK_HOSTS=["*"]):
        create_hook(organisation=house.organisation, wanted=listener, by=SYSTEM)


def _plant_cases(house: House) -> None:
    """A case for every way one can stand."""
    reason = f"reason {house.says(Kind.PERSONAL)}"
    approver, operator = house.people[Role.APPROVER], house.people[Role.OPERATOR]

    proposed = _proposed(house, "proposed")
    approved = _proposed(house, "approved")
    approved.decide(person=approver, reason=reason)
    completed = _proposed(house, "completed")
    completed.decide(person=approver, reason=reason)
    _settle(completed, "EXECUTING", "NOTIFYING")
    doubtful = _proposed(house, "doubtful")
    doubtful.decide(person=approver, reason=reason)
    doubtful.fault("drop_after")
    doubtful.run()
    rejected = _proposed(house, "rejected")
    rejected.decide("reject", person=approver, reason=reason, next="close")
    returned = _proposed(house, "returned")
    returned.decide("return", person=approver, reason=reason)
    asked = _proposed(house, "asked")
    asked.decide("ask_data", person=approver, reason=reason)
    _ticket(house, "waiting", missing=("payments",))
    _ticket(house, "attention", payment={"amount": "1.00"})
    _ticket(house, "refused", payment={"amount": "2.00"})
    _ticket(house, "by-machine", actor=actor_of_person(operator))
    _ticket(house, "fresh", run=False)
    assert proposed.state == "WAITING_APPROVAL", proposed.standing
    assert completed.state == "COMPLETED", completed.standing


def _plant_recoveries(house: House) -> None:
    """An order that waits for a second person, and one that is done."""
    reason = f"order {house.says(Kind.PERSONAL)}"
    case, operator = house.stories["attention"].case, house.people[Role.OPERATOR]
    order_recovery(
        case_id=case.pk,
        kind="finish_by_hand",
        person=operator,
        seen_version=case.version,
        reason=reason,
        evidence=f"evidence {house.says(Kind.PERSONAL)}",
    )
    refused = house.stories["refused"].case
    order_recovery(case_id=refused.pk, kind="close", person=operator, seen_version=refused.version, reason=reason)


def _plant_pauses(house: House) -> None:
    """One that stands; nothing of this world works on."""
    pause(
        kind="process",
        name="restore_access",
        organisation=house.organisation,
        by=house.people[Role.OPERATOR],
        reason=f"pause {house.says(Kind.NAME)}",
    )


def _proposed(house: House, name: str) -> Story:
    story = _ticket(house, name)
    assert story.state == "WAITING_APPROVAL", (story.standing, story.history())
    return story


def _ticket(
    house: House,
    name: str,
    *,
    run: bool = True,
    missing: tuple[str, ...] = (),
    payment: dict[str, Any] | None = None,
    actor: Any = SYSTEM,
) -> Story:
    content, personal = house.says(Kind.CONTENT), house.says(Kind.PERSONAL)
    who, what, paid = (f"{letter}-{content}-{name}" for letter in ("U", "S", "PAY"))
    email = f"{personal}-{name}@example.org"
    world = {
        "customers": [{"id": who, "email": email, "language": "ru"}],
        "payments": [{"id": paid, "customer_id": who, "subscription_id": what, "amount": "990.00", **(payment or {})}],
        # Said outright: an earlier world may have changed it.
        "subscriptions": [{"id": what, "customer_id": who, "plan": content, "price": "990.00", "status": "inactive"}],
    }
    kept = {key: value for key, value in world.items() if key not in missing}
    house.engine.outside.ask("PUT", "/world", kept).raise_for_status()
    opened = open_case(
        organisation=house.organisation,
        process="restore_access",
        source=f"desk-{content}",
        external_id=f"T-{content}-{name}",
        source_url=f"https://desk.example.org/{content}/{name}",
        intake={"customer_id": who, "subscription_id": what, "payment_id": paid, "claim": f"claim {personal}"},
        actor=actor,
        department_id=house.departments[0].pk,
    )
    story = Story(house.engine, opened.case.pk, paid, what, who, email)
    house.stories[name] = story
    if run:
        _settle(story, "RECEIVED", "CHECKING")
    return story


def _settle(story: Story, *passing: str) -> None:
    """Until the case has left these states: on a busy machine a read may have to be tried again."""
    story.run()
    for _ in range(TRIES):
        if story.state not in passing:
            return
        story.run_later()
    raise AssertionError(f"the case stays where it is: {story.standing}")
