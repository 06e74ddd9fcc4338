"""What one example of the machine lives in: an organisation of its own, its tickets, the bells that were rung.

Nothing is emptied between examples: each has new people and new tickets, and what the last one left is at rest.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from accounts.models import Person
from actions.models import Action, ActionStatus
from approvals.models import Decision, Proposal
from audit.models import AuditEvent
from caseflow.domain import failpoints
from caseflow.domain.lifecycle import CLOSED
from caseflow.invariants.outside import ledger_agrees
from caseflow.invariants.running import ask_all
from cases.models import Case, Task
from cases.working import work_on
from tests.factories import make_organisation, make_person
from tests.hooked import Killed
from tests.pauses import pause, pause_work, resume
from tests.stories import Engine, Story

FAR = ("expire", "data_due", "recheck")  #: stages whose moment comes only by name
LIVE = ("due", "leased")

#: Places of a stage's way at which no transaction is open, so that others may act just there.
OPEN_PLACES = {
    "check": (),
    "observe": ("observe.before_read", "observe.after_read", "propose.answered", "observe.committed"),
    "propose": ("propose.answered", "propose.committed"),
    "execute": (
        "execute.before_begin",
        "execute.begun",
        "execute.answered",
        "execute.read_back",
        "execute.committed",
    ),
    "reconcile": (
        "reconcile.before_lookup",
        "reconcile.looked_up",
        "reconcile.before_store",
        "execute.begun",
        "execute.answered",
        "reconcile.committed",
    ),
    "notify": ("notify.begun", "notify.answered", "notify.committed"),
    "expire": ("expire.committed",),
}
ANYWHERE = ("worker.claimed", "worker.before_fault_stored")
#: A worker follows its case through stages of one queue.
GOES_ON = {"check": ("observe",), "execute": ("notify",), "reconcile": ("notify",)}

#: Where a case may be when nothing more happens by itself.
WAITING = frozenset({"WAITING_APPROVAL", "WAITING_DATA", "NEEDS_ATTENTION", *CLOSED})


@dataclass
class World:
    """Verbs of everybody who acts on cases, in the words of the rooms; `reached` counts what was seen."""

    engine: Engine
    reached: Counter[str] = field(default_factory=Counter)
    stories: list[Story] = field(default_factory=list)
    bells: list[int] = field(default_factory=list)
    _checked_at: str = ""

    @classmethod
    def new(cls, engine: Engine, reached: Counter[str]) -> World:
        name = uuid.uuid4().hex[:8]
        organisation = make_organisation(f"org-{name}")
        roles = dict.fromkeys(Engine.DECIDERS, "approver") | {"operator": "operator", "viewer": "viewer"}
        people = {who: make_person(f"{who}-{name}", organisation, role) for who, role in roles.items()}
        engine.outside.ask("DELETE", "/faults")
        return cls(Engine(engine.owner, engine.outside, organisation, people), reached)

    def person(self, who: str) -> Person:
        return self.engine.people[who]

    def story(self, place: int) -> Story:
        """One of the tickets that are still open; of all where none is."""
        stories = [story for story in self.stories if story.state not in CLOSED] or self.stories
        return stories[place % len(stories)]

    def open(self, **ticket: Any) -> Story:
        self.stories.append(self.engine.open(**ticket))
        return self.stories[-1]

    def tasks(self, statuses: Sequence[str] = LIVE, *, far: bool = False) -> list[int]:
        found = Task.objects.filter(organisation_key=self.engine.organisation.pk, status__in=statuses)
        if not far:
            found = found.exclude(stage__in=FAR)
        return list(found.order_by("id").values_list("id", flat=True))

    def live_task(self, place: int) -> int | None:
        """One of the live tasks that carry work, the newest first; made due, as time would."""
        tasks = self.tasks()[::-1]
        if not tasks:
            return None
        task = tasks[place % len(tasks)]
        self.engine.owner.execute(
            "UPDATE cases_task SET available_at = clock_timestamp() WHERE id = %s AND status = 'due'"
            " AND available_at > clock_timestamp()",
            [task],
        )
        return task

    def place(self, task: int, where: int, *, dying: bool = False) -> str:
        """A place that the way of the task leads through; with `dying` also one inside a transaction."""
        stage = Task.objects.values_list("stage", flat=True).get(pk=task)
        stages = [stage, *GOES_ON.get(stage, ())]
        places = [place for one in stages for place in OPEN_PLACES.get(one, ())]
        if dying:
            places += [f"{one}.before_commit" for one in stages]
        places += ANYWHERE
        return places[where % len(places)]

    def deliver(self, task: int) -> None:
        """What a worker does with a message; it may die on the way."""
        try:
            work_on(task)
        except Killed:
            self.reached["died"] += 1

    @contextmanager
    def at(self, place: str, do: Callable[[], None]) -> Iterator[None]:
        """The first time the way leads through `place`, `do` happens there."""
        hit = False

        def hook(name: str, about: tuple[str, ...]) -> None:
            nonlocal hit
            if name == place and not hit:
                hit = True
                self.reached[f"at {place}"] += 1
                do()

        failpoints.arm(hook)
        try:
            yield
        finally:
            failpoints.arm(None)

    def lapse(self, task: int) -> None:
        self.engine.lapse_lease(task)

    def overtaken(self, task: int) -> None:
        """The worker fell silent, another took its task over and finished it; then the first one wakes."""
        self.lapse(task)
        self.deliver(task)

    def time_passes(self) -> None:
        """What is planned for soon is due, and bells that nobody answered were rung long ago."""
        for story in self.stories:
            story.make_due()
        self.engine.owner.execute(
            "UPDATE cases_task SET rung_at = rung_at - interval '10 seconds' WHERE rung_at IS NOT NULL"
        )

    def pause(self, kind: str) -> None:
        if kind in ("process", "organisation"):
            pause_work(kind, self.engine.organisation)
        else:
            pause("system", kind)

    def resume(self) -> None:
        resume()

    def expire(self, story: Story) -> bool:
        """The time for a decision runs out, as far as nobody has decided."""
        newest = Proposal.objects.filter(case_id=story.id, has_effects=True).order_by("-number").first()
        if story.state != "WAITING_APPROVAL" or newest is None:
            return False
        story.age_proposal(timedelta(days=2))
        return True

    def use_up_approval(self, story: Story) -> bool:
        """The time for the first send runs out, as far as nothing was sent."""
        if story.state != "EXECUTING" or story.case.plan_begun:
            return False
        story.age_decision(timedelta(hours=2))
        return True

    def come_to_rest(self) -> None:
        """Every fault ends; then each case has to come to where only a person or a date moves it (invariant 12)."""
        failpoints.arm(None)
        self.resume()
        self.engine.outside.ask("DELETE", "/faults")
        # A request that got no answer is long over: it can land no more.
        self.engine.rewrite(
            "actions_externalcall",
            "UPDATE actions_externalcall SET ended_at = ended_at - interval '5 minutes' WHERE outcome = 'unknown'"
            " AND ended_at IS NOT NULL AND action_id IN (SELECT id FROM actions_action WHERE organisation_id = %s)",
            [self.engine.organisation.pk],
        )
        for turn in range(6):
            if turn >= 3:
                # What is still looked at again and again, such as an effect that somebody undid, has its time.
                self.engine.owner.execute(
                    "UPDATE cases_task SET deadline_at = clock_timestamp() WHERE status = 'due'"
                    " AND deadline_at IS NOT NULL AND organisation_key = %s",
                    [self.engine.organisation.pk],
                )
            for task in self.tasks(["leased"], far=True):
                self.lapse(task)
            self.time_passes()
            for story in self.stories:
                story.run()
        restless = [story.standing for story in self.stories if story.state not in WAITING]
        assert restless == [], f"not at rest: {restless}"

    def promises_hold(self) -> None:
        """Every invariant of the database and of the ledger outside, and one effect at most for each plan."""
        written = str(self.engine.owner.execute("SELECT pg_current_wal_insert_lsn()").fetchone())
        if written == self._checked_at:
            return  # nothing was written since the last look
        self._checked_at = written
        # Only ours: what an example broke is still there when Hypothesis tries it again.
        ours = {"", *Case.objects.filter(organisation=self.engine.organisation).values_list("public_id", flat=True)}
        asked = [(one.name, finding) for one, finding in ask_all() if finding.violations]
        found = [(name, told) for name, finding in asked for told in finding.shown if told.case in ours]
        assert found == []
        organisation = self.engine.organisation.pk
        assert Case.objects.filter(organisation_id=organisation).count() == len(self.stories)
        effects = self.engine.outside.ask("GET", "/ledger").json()["effects"]
        assert [told for told in ledger_agrees(effects).shown if told.case in ours] == []
        subjects = {story.subscription for story in self.stories}
        keys = Counter(effect["key"] for effect in effects if effect["subject"] in subjects)
        rows = Action.objects.filter(organisation_id=organisation, kind="effect")
        plans = Counter(plan for key, plan in rows.values_list("key", "proposal_id") if keys.pop(key, 0))
        assert keys == {}, "an effect of no plan"
        assert all(times == 1 for times in plans.values()), "a plan took effect twice"
        approved = Decision.objects.filter(proposal_id__in=plans, kind="approve", decisive=True)
        assert approved.count() == len(plans), "an effect without an approval"

    def note_reached(self) -> None:
        """Count what this example came to, so that a machine that never gets anywhere is noticed."""
        organisation = self.engine.organisation.pk
        self.reached.update(AuditEvent.objects.filter(organisation_id=organisation).values_list("kind", flat=True))
        statuses = Action.objects.filter(organisation_id=organisation).values_list("kind", "status")
        self.reached.update(f"{kind} {ActionStatus(status)}" for kind, status in statuses)
        self.reached.update(story.state for story in self.stories)
