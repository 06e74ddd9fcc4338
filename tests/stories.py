"""Tickets and the engine that carries them. Time is moved by moving rows as the owner, never by sleeping."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

import psycopg
from psycopg import sql

from accounts.models import Organisation, Person
from accounts.principal import SYSTEM, Actor
from accounts.services import grant_role
from actions.models import Action, ExternalCall
from approvals.deciding import Decided, decide
from approvals.models import Decision, Proposal
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.roles import Role
from cases.intake import open_case
from cases.models import Case, Task
from cases.rows import CaseRow
from operations.authorising import authorise_recovery
from operations.models import Recovery
from operations.ordering import Ordered, order_recovery
from tests.integrations.conftest import Outside
from tests.steps import run_due

CLAIM = "Деньги списали, а доступа нет 🙁"


@dataclass
class Story:
    """One ticket and the objects outside that it is about."""

    engine: Engine
    id: int
    payment: str
    subscription: str
    customer: str
    email: str

    @property
    def case(self) -> Case:
        return Case.objects.get(pk=self.id)

    @property
    def row(self) -> CaseRow:
        return CaseRow.of_case(self.case)

    @property
    def state(self) -> str:
        return self.case.state

    @property
    def standing(self) -> tuple[str, str]:
        """(state, reason)"""
        case = self.case
        return case.state, case.reason

    @property
    def proposal(self) -> Proposal:
        """The newest plan with effects."""
        return Proposal.objects.filter(case_id=self.id, has_effects=True).latest("number")

    @property
    def effect(self) -> Action:
        return Action.objects.filter(case_id=self.id, kind="effect").latest("id")

    @property
    def notice(self) -> Action:
        return Action.objects.filter(case_id=self.id, kind="notice").latest("id")

    def task(self, stage: str) -> Task:
        """The newest task of a stage."""
        return Task.objects.filter(case_id=self.id, stage=stage).latest("id")

    def history(self) -> list[str]:
        return list(AuditEvent.objects.filter(case_id=self.id).order_by("seq").values_list("kind", flat=True))

    def told(self, kind: str) -> dict[str, Any]:
        """The facts of the newest event of a kind."""
        event = AuditEvent.objects.filter(case_id=self.id, kind=kind).latest("seq")
        found: dict[str, Any] = facts_of(event.body)["facts"]
        return found

    def calls(self) -> list[tuple[str, str, str]]:
        """(kind, outcome, code) of every external call for the newest effect, oldest first."""
        calls = ExternalCall.objects.filter(action=self.effect).order_by("id")
        return list(calls.values_list("kind", "outcome", "code"))

    def activations(self) -> list[dict[str, Any]]:
        """What the outside ledger holds for the subscription."""
        effects = self.engine.outside.ask("GET", "/ledger").json()["effects"]
        return [effect for effect in effects if effect["subject"] == self.subscription]

    def letters(self) -> list[dict[str, Any]]:
        effects = self.engine.outside.ask("GET", "/ledger").json()["effects"]
        return [effect for effect in effects if effect["subject"] == self.email]

    def writes(self) -> list[str]:
        """The key of every request that tried to change the subscription, in order."""
        requests = self.engine.outside.ask("GET", "/ledger").json()["requests"]
        return [one["key"] for one in requests if one["path"] == f"/subscriptions/{self.subscription}/activate"]

    def change(self, collection: str, **fields: Any) -> None:
        name = {"payments": self.payment, "subscriptions": self.subscription, "customers": self.customer}[collection]
        self.engine.outside.ask("PATCH", f"/{collection}/{name}", fields).raise_for_status()

    def fault(self, kind: str, *, times: int | None = 1, **more: Any) -> None:
        """Something goes wrong with the next requests to activate the subscription."""
        self.engine.outside.script(kind, path=f"/subscriptions/{self.subscription}/activate", times=times, **more)

    def run(self, stage: str = "") -> None:
        run_due(case=self.id, stage=stage)

    def run_later(self, stage: str = "") -> None:
        """Let the time of what is planned come, then work on it."""
        self.make_due(stage)
        self.run()

    def make_due(self, stage: str = "") -> None:
        """Future tasks are due now; the far ones (expiry, waiting) only by name."""
        far = ["expire", "data_due", "recheck"]
        self.engine.owner.execute(
            "UPDATE cases_task SET available_at = clock_timestamp() WHERE case_id = %s AND status = 'due'"
            " AND available_at > clock_timestamp() AND CASE WHEN %s = '' THEN stage <> ALL(%s) ELSE stage = %s END",
            [self.id, stage, far, stage],
        )

    def decide(self, kind: str = "approve", *, person: Person | None = None, **said: Any) -> Decided:
        """As somebody who looked at the newest proposal just now."""
        proposal = said.pop("proposal", None) or self.proposal
        words: dict[str, Any] = {
            "seen_digest": proposal.digest,
            "seen_version": self.case.version,
            "reason": "" if kind == "approve" else "Нужна проверка",
        }
        return decide(proposal=proposal, person=person or self.engine.approver, kind=kind, **(words | said))

    def order(self, kind: str, person: str = "operator", **said: Any) -> Ordered:
        """As somebody who looked at the case just now."""
        words: dict[str, Any] = {"seen_version": self.case.version, "reason": "Проверьте ещё раз"}
        if kind in ("result_by_hand", "finish_by_hand"):
            words["evidence"] = "https://billing.example.org/S-77"
        if kind == "result_by_hand":
            words |= {"action": self.effect.public_id, "action_status": self.effect.status, "result": "done"}
        return order_recovery(case_id=self.id, kind=kind, person=self.engine.person(person), **(words | said))

    def sign(self, person: str = "approver", **said: Any) -> Ordered:
        """The second person, who looked at the newest order and at its action just now."""
        recovery = Recovery.objects.filter(case_id=self.id).latest("id")
        words: dict[str, Any] = {"seen_version": self.case.version}
        if recovery.action_id:
            words["action_status"] = self.effect.status
        return authorise_recovery(recovery=recovery, person=self.engine.person(person), **(words | said))

    def age_proposal(self, by: timedelta) -> None:
        """The newest plan becomes so much older."""
        self.engine.rewrite(
            "approvals_proposal",
            "UPDATE approvals_proposal SET valid_until = valid_until - %s WHERE id = %s",
            [by, self.proposal.pk],
        )
        self.engine.owner.execute(
            "UPDATE cases_task SET available_at = available_at - %s WHERE case_id = %s AND stage = 'expire'"
            " AND status = 'due'",
            [by, self.id],
        )

    def age_decision(self, by: timedelta) -> None:
        self.engine.rewrite(
            "approvals_decision",
            "UPDATE approvals_decision SET execute_by = execute_by - %s WHERE proposal_id = %s",
            [by, self.proposal.pk],
        )


@dataclass
class Engine:
    """An organisation with people, the outside world, and the owner's connection that moves time."""

    owner: psycopg.Connection[Any]
    outside: Outside
    organisation: Organisation
    people: dict[str, Person] = field(default_factory=dict)

    #: There from the first ticket on: a plan that too few may decide on does not wait for them.
    DECIDERS: ClassVar = ("approver", "second", "third")
    ROLES: ClassVar[dict[str, Role]] = {
        "approver": Role.APPROVER,
        "second": Role.APPROVER,
        "third": Role.APPROVER,
        "operator": Role.OPERATOR,
        "recoverer": Role.RECOVERER,
        "viewer": Role.VIEWER,
    }

    @property
    def approver(self) -> Person:
        return self.person("approver")

    def person(self, username: str) -> Person:
        if username not in self.people:
            person = Person.objects.create_user(username=username, name=username.title())
            if username in self.ROLES:
                grant_role(person=person, organisation=self.organisation, role=self.ROLES[username], by=SYSTEM)
            self.people[username] = person
        return self.people[username]

    def open(
        self,
        *,
        payment: dict[str, Any] | None = None,
        subscription: dict[str, Any] | None = None,
        customer: dict[str, Any] | None = None,
        about: Story | None = None,
        actor: Actor = SYSTEM,
        process: str = "restore_access",
        organisation: Organisation | None = None,
        claim: str = CLAIM,
        more: dict[str, Any] | None = None,
        missing: Sequence[str] = (),
    ) -> Story:
        """A ticket about a confirmed payment and an inactive subscription, but for what is said otherwise.

        `about` is an earlier ticket about the same customer and subscription; `missing` names collections outside that
        know nothing of it.
        """
        for username in self.DECIDERS:
            self.person(username)
        name = uuid.uuid4().hex[:12]
        who = about.customer if about else f"U-{name}"
        what = about.subscription if about else f"S-{name}"
        email = about.email if about else f"{name}@example.org"
        paid = f"PAY-{name}"
        world = {
            "customers": [{"id": who, "email": email, "language": "ru", **(customer or {})}],
            "payments": [
                {"id": paid, "customer_id": who, "subscription_id": what, "amount": "990.00", **(payment or {})}
            ],
            "subscriptions": [
                {"id": what, "customer_id": who, "plan": "basic", "price": "990.00", **(subscription or {})}
            ],
        }
        kept = {key: value for key, value in world.items() if key not in missing and not (about and key != "payments")}
        self.outside.ask("PUT", "/world", kept).raise_for_status()
        opened = open_case(
            organisation=organisation or self.organisation,
            process=process,
            source="helpdesk",
            external_id=f"T-{name}",
            intake={"customer_id": who, "subscription_id": what, "payment_id": paid, "claim": claim, **(more or {})},
            actor=actor,
        )
        return Story(self, opened.case.pk, paid, what, who, email)

    def proposed(self, **ticket: Any) -> Story:
        """A ticket whose proposal waits for a decision."""
        story = self.open(**ticket)
        story.run()
        assert story.state == "WAITING_APPROVAL", story.standing
        return story

    def approved(self, **ticket: Any) -> Story:
        """A ticket whose plan was approved just now; nothing was sent yet."""
        story = self.proposed(**ticket)
        story.decide()
        assert story.state == "EXECUTING"
        return story

    def rewrite(self, table: str, statement: str, values: Sequence[Any]) -> None:
        """As the owner, past the triggers of an append-only table, whose mode is put back."""
        with self.owner.transaction(), self.owner.cursor() as cursor:
            name = sql.Identifier(table)
            cursor.execute(
                "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE 'pgtrigger%%'", [table]
            )
            triggers = [sql.Identifier(row[0]) for row in cursor.fetchall()]
            for trigger in triggers:
                cursor.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER {}").format(name, trigger))
            cursor.execute(statement, values)
            for trigger in triggers:
                cursor.execute(sql.SQL("ALTER TABLE {} ENABLE ALWAYS TRIGGER {}").format(name, trigger))

    def lapse_lease(self, task: Task | int) -> None:
        """The worker fell silent long ago."""
        self.owner.execute(
            "UPDATE cases_task SET leased_until = clock_timestamp() - interval '1 second' WHERE id = %s"
            " AND status = 'leased'",
            [task if isinstance(task, int) else task.pk],
        )

    def now(self) -> datetime:
        row = self.owner.execute("SELECT clock_timestamp()").fetchone()
        assert row is not None
        now: datetime = row[0]
        return now


def decisions(story: Story) -> list[tuple[str, str, bool]]:
    """(person, kind, decisive), oldest first."""
    rows = Decision.objects.filter(proposal__case_id=story.id).select_related("person").order_by("id")
    return [(row.person.username, row.kind, row.decisive) for row in rows]
