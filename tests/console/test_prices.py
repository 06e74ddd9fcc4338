"""What every page asks of the database: so many queries, whether there is a little of everything or much."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Organisation, Person, ServiceToken
from accounts.principal import SYSTEM
from accounts.services import create_departments, create_service_account, grant_role, issue_token
from caseflow.console.urls import urlpatterns
from caseflow.domain.roles import Right, Role
from cases.holding import add_note
from cases.models import Pause
from cases.webhook_sources import create_source
from documents.models import Document
from documents.opening import open_document
from operations.authorising import take_back_recovery
from operations.hooks import Wanted as Told
from operations.hooks import create_hook
from operations.models import Bulk, Obligation, Recovery
from operations.ordering import order_recovery
from operations.pausing import pause
from operations.reporting import correct_report, request_report
from operations.scheduling import Wanted, set_schedule
from operations.spreading_hooks import spread_portion
from tests.console.conftest import Desk
from tests.console.seeing import Desks, in_doubt
from tests.console.test_drift import drifted
from tests.console.test_ops import QUEUES, beats
from tests.console.test_paging import rows_of, walk
from tests.driving import Engine, Story
from tests.generated.making import make_cases
from tests.operations.bulks import confirmed, previewed, run_once, stopped
from tests.operations.test_drift import regular
from tests.pauses import resume

HOOK = "https://desk.example.org/hook"
LENGTHS = ("day", "week", "month")

#: Page → what it asks in all: the session, the person, four of the frame (reach, counts, health, pauses), its own.
PRICES = {
    "home": 10, "drift": 12, "help": 6, "metrics": 22, "metrics of a month": 22, "proposers": 14, "ops": 18, "me": 6,
    "approvals": 7, "approvals of everybody": 7, "proposal": 17,
    "approve": 18, "reject": 18, "return": 18, "ask-data": 18,
    "audit": 10, "pauses": 10, "pause-end": 9, "people-of": 13, "people-grant": 9, "people-revoke": 10,
    "choose-proposer": 9, "machines": 13, "machine-create": 9, "machine-rotate": 9, "machine-owner": 10,
    "machine-revoke": 10, "bell-create": 8, "bell-rotate": 9, "hook-create": 8, "hook": 12, "hook-rotate": 9,
    "actions": 9, "unknown results": 9, "action": 15, "attention": 12, "attention, narrowed": 12,
    "processes": 8, "process": 10, "search": 7, "search for nothing": 11, "search for many": 11,
    "bulks": 7, "bulk": 11, "preview": 11, "cases": 11, "cases, narrowed": 11,
    "case": 29, "case in doubt": 29, "case that stopped": 27,
    "case-timeline": 12, "case-facts": 17, "case-proposals": 18, "order-recovery": 12, "recovery": 24,
    "reports": 14, "report": 24, "report-ask": 9, "report-correct": 9, "document": 12, "schedules": 8, "schedule": 10,
    # Without a frame: parts that are looked at again, a file, and what leads on to another page.
    "case-status": 9, "bulk-status": 5, "process-mermaid": 2, "document-download": 8,
    "sign-in": 2, "people": 3, "machines-first": 3,
}  # fmt: skip

#: Lists that are paged by another name than their rows' own, or have none: page → module.
LISTS = {
    "approvals of everybody": "views.approvals", "bulks": "views.bulk", "drift": "drift_page", "hook": "hooks_page",
    "reports": "reports_page",
}  # fmt: skip


class House:
    """One organisation with something of everything, of which `grow` makes more; and one who may look everywhere."""

    def __init__(self, engine: Engine, owner: psycopg.Connection[Any], settings: Any, folder: Path) -> None:
        self.engine, self.owner, self.settings, self.rounds = engine, owner, settings, 0
        self.person = engine.person("everybody")
        for role in (Role.OPERATOR, Role.APPROVER, Role.RECOVERER, Role.AUDITOR, Role.ORG_ADMIN):
            grant_role(person=self.person, organisation=engine.organisation, role=role, by=SYSTEM)
        settings.CASEFLOW_HOOK_HOSTS = ["*"]
        place = settings.STORAGES["documents"]
        settings.STORAGES = settings.STORAGES | {"documents": place | {"OPTIONS": {"location": folder}}}
        (self.department,) = create_departments(organisation=engine.organisation, names=[("sales", "Sales")])
        self.heads: list[str] = []
        self.waits, self.doubtful, (self.stopped,) = engine.proposed(), in_doubt(engine), stopped(engine)

    def grow(self) -> None:
        """The first time a little of everything, then twice as much more."""
        self.rounds += 1
        engine, organisation = self.engine, self.engine.organisation
        resume()
        for order in Recovery.objects.filter(status=Recovery.Status.WAITING):
            take_back_recovery(recovery=order, person=self.person)
        self.waits.decide("return", person=engine.person("second"))
        self.waits.run()
        for number in range(self.rounds):
            self._more(f"{self.rounds}-{number}")
        self._order()
        bulk = confirmed(previewed(engine, *stopped(engine, self.rounds)))
        run_once(engine, bulk)
        self.preview = previewed(engine, *stopped(engine, self.rounds))
        regular("day")
        self.settings.CASEFLOW_UNDO_SECONDS = 15
        make_cases(self.owner, count=60, seed=self.rounds)
        self.settings.CASEFLOW_UNDO_SECONDS = 0
        for other in Organisation.objects.exclude(pk=organisation.pk):
            grant_role(person=self.person, organisation=other, role=Role.VIEWER, by=SYSTEM)
        pause(kind="process", name="restore_access", organisation=organisation, by=self.person, reason="-")

    def _more(self, name: str) -> None:
        engine, organisation = self.engine, self.engine.organisation
        engine.proposed(about=self.waits), in_doubt(engine), drifted(engine)
        engine.outside.script("error_before", path="/operations/*")
        self.doubtful.run_later("reconcile")
        for story in (self.waits, self.doubtful, self.stopped):
            add_note(case_id=story.id, text=name, principal=self.person)
        take_back_recovery(recovery=self._order(), person=self.person)
        beats("worker", pid=int(name.replace("-", "")), queues=QUEUES)
        grant_role(person=engine.person(f"viewer {name}"), organisation=organisation, role=Role.VIEWER, by=SYSTEM)
        issue_token(
            account=create_service_account(
                organisation=organisation, name=name, owner=self.person, rights=[Right.OPEN_CASE], by=SYSTEM
            )
        )
        create_source(organisation=organisation, name=name, system="payments", by=SYSTEM)
        create_hook(organisation=organisation, wanted=Told(name, "webhook", ["changed"], HOOK), by=SYSTEM)
        spread_portion(organisation.pk)
        self._report(name)

    def _report(self, name: str) -> None:
        """One more recipient, one more report, one more edition of the first one, opened once more."""
        organisation, head = self.engine.organisation, self.engine.person(f"head {name}")
        where = {"organisation": organisation, "department": self.department}
        for person in (head, self.person):
            grant_role(person=person, role=Role.REPORT_READER, by=SYSTEM, **where)
        Person.objects.filter(pk=head.pk).update(email=f"{name}@example.org")
        self.heads.append(head.username)
        day = date(2024, 10, 1) + timedelta(days=len(self.heads))
        wanted = {"organisation": organisation, "department": "sales", "kind": "requests", "period": day.isoformat()}
        made = [request_report(**wanted, principal=self.person, recipients=self.heads)]
        if len(self.heads) > 1:
            made.append(correct_report(obligation=self.first, reason="-", person=self.person))
        for requested in made:
            Story(self.engine, requested.edition.case.pk, payment="", subscription="", customer="", email="").run()
        self.first = Obligation.objects.earliest("pk")
        self.document = Document.objects.filter(period=self.first.period).latest("pk")
        open_document(self.person, self.document.public_id, "xlsx").file.close()
        schedule = Wanted("sales", "requests", LENGTHS[len(self.heads) % 3], "09:00", "", "UTC", 60, self.heads)
        self.schedule = set_schedule(organisation=organisation, wanted=schedule, person=self.person)

    def _order(self) -> Recovery:
        case = self.stopped.case
        return order_recovery(
            case_id=case.pk,
            kind="finish_by_hand",
            person=self.person,
            seen_version=case.version,
            reason="-",
            evidence="-",
        ).recovery

    def addresses(self) -> dict[str, str]:
        """Page → its address, for what is newest."""
        acme = self.engine.organisation.slug
        token = ServiceToken.objects.select_related("account").latest("pk")
        machine = token.account
        case, proposal = [self.waits.case.public_id], [self.waits.proposal.public_id]
        bulk = [Bulk.objects.exclude(pk=self.preview.pk).latest("pk").public_id]
        recovery = [Recovery.objects.get(status=Recovery.Status.WAITING).public_id]
        of_machine = [acme, machine.public_id]
        of_bell = [acme, self.engine.organisation.webhook_sources.latest("pk").public_id]
        of_hook = [acme, self.engine.organisation.hooks.earliest("pk").public_id]
        viewer = Person.objects.get(username="viewer 1-0")
        about: dict[str, list[Any]] = {
            "export": ["cases"],
            "proposal withdraw approve reject return ask-data": proposal,
            "pause-end": [Pause.objects.latest("pk").public_id],
            "people-of people-grant choose-proposer machines machine-create bell-create hook-create": [acme],
            "people-revoke": [acme, viewer.pk, "viewer"],
            "machine-rotate machine-owner machine-switch": of_machine,
            "machine-revoke": [*of_machine, token.prefix],
            "bell-rotate bell-switch": of_bell,
            "hook hook-rotate hook-switch": of_hook,
            "hook-again": [*of_hook, *case, 2],
            "action": [self.doubtful.effect.public_id],
            "process process-mermaid": ["restore_access"],
            "bulk bulk-status bulk-pause bulk-resume bulk-cancel": bulk,
            "recovery recovery-take-back": recovery,
            "order-recovery": [self.stopped.case.public_id, "close"],
        }
        first = self.first
        about |= {
            "report report-correct": [acme, "sales", first.kind, first.period],
            "report-ask schedule": [acme],
            "schedule-off": [acme, self.schedule.pk],
            "document": [self.document.public_id],
            "document-download": [self.document.public_id, "pdf"],
        }
        told = {name: words for names, words in about.items() for name in names.split()}
        found = {}
        for pattern in urlpatterns:
            name = str(pattern.name)
            found[name] = reverse(f"console:{name}", args=told.get(name, case if pattern.pattern.converters else []))
        cases, search = found["cases"], found["search"]
        return found | {
            "case in doubt": reverse("console:case", args=[self.doubtful.case.public_id]),
            "case that stopped": reverse("console:case", args=[self.stopped.case.public_id]),
            "cases, narrowed": f"{cases}?state=NEEDS_ATTENTION&organisation=acme&sort=newest",
            "approvals of everybody": found["approvals"] + "?view=all",
            "unknown results": found["actions"] + "?status=unknown&kind=effect",
            "attention, narrowed": found["attention"] + "?turn=stop",
            "metrics of a month": found["metrics"] + "?window=30d",
            "preview": reverse("console:bulk", args=[self.preview.public_id]),
            "search for nothing": f"{search}?q=nothing",
            "search for many": f"{search}?q={self.waits.subscription}",
        }


def prices(reader: Desk, house: House) -> dict[str, int]:
    """Page → its queries; what only answers to a press shows nothing and is left out."""
    found = {}
    for name, address in house.addresses().items():
        with CaptureQueriesContext(connection) as seen:
            answer = reader.client.get(address)
            answer.close()  # a file that is not read to its end
        if answer.status_code != 405:
            assert answer.status_code in (200, 302), (name, answer.status_code)
            found[name] = len(seen)
    return found


def test_every_page_asks_as_much_for_many_rows_as_for_few_and_every_list_goes_on_and_back(
    engine: Engine,
    desk: Desks,
    as_owner: psycopg.Connection[Any],
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Once a minute a page notes that its reader was here; which page that is depends on the machine.
    monkeypatch.setattr("accounts.sessions.NOTED_EVERY", timedelta(hours=1))
    house, reader = House(engine, as_owner, settings, tmp_path), desk("everybody")
    for _ in range(2):
        house.grow()
        found = prices(reader, house)
        assert {name: (price, PRICES.get(name)) for name, price in found.items() if price != PRICES.get(name)} == {}
        assert found.keys() == PRICES.keys()
    addresses = house.addresses()
    for name, module in LISTS.items():
        monkeypatch.setattr(f"caseflow.console.{module}.PAGE", 1000)
        whole = rows_of(reader.get(addresses[name]).html)
        monkeypatch.setattr(f"caseflow.console.{module}.PAGE", max(1, len(whole) // 3))
        forward, last = walk(reader, addresses[name], "next")
        assert ([row for page in forward for row in page], len(forward) >= 3) == (whole, True), name
        assert walk(reader, last, "prev")[0] == forward[::-1], name
