"""Everybody who acts on cases, and everything that may befall them, as acts of one state machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from accounts.principal import SYSTEM, actor_of_person
from accounts.services import grant_role, revoke_role
from actions.withdrawing import Withdrawn, withdraw
from approvals.deciding import Decided, decide
from approvals.models import Proposal
from caseflow.domain.errors import CaseflowError, ForbiddenTransition, IntakeConflict
from caseflow.domain.roles import Role
from cases.dispatching import sweep
from cases.intake import open_case
from cases.models.task import QUICK, SLOW
from cases.supplying import supply_data
from operations.ordering import order_recovery
from tests.commands.conftest import Run
from tests.hooked import Killed
from tests.stateful.world import World
from tests.stories import CLAIM

TICKETS = 6  #: of one example at most
GARBAGE = "0" * 64

PLACE = st.integers(0, 7)
WHERE = st.integers(0, 23)

INTERRUPTIONS = [
    *["die", "die", "die", "die unnoticed", "overtake", "overtake", "overtake", "twin", "lapse", "withdraw", "return"],
    *["supply", "pause", "refund", "revoke", "sweep", "use up"],
]

#: What may happen next, some of it more often. One rule chooses: with a rule for each, Hypothesis leaves half of them
#: out of every example, and what has to come together hardly ever does.
ACTS: list[st.SearchStrategy[tuple[str, dict[str, Any]]]] = []
Method = TypeVar("Method", bound=Callable[..., None])


def act(often: int = 1, **told: st.SearchStrategy[Any]) -> Callable[[Method], Method]:
    def register(method: Method) -> Method:
        ACTS.extend(st.tuples(st.just(method.__name__), st.fixed_dictionaries(told)) for _ in range(often))
        return method

    return register


class CaseMachine(RuleBasedStateMachine):
    """People, workers, dispatchers, outside systems and death, each in one act."""

    make_world: Callable[[], World]
    run_command: Run

    def __init__(self) -> None:
        super().__init__()
        self.world = self.make_world()

    @act()
    def redis_loses_everything(self) -> None:
        """The first of all acts, and so what the simplest example consists of: nothing is written."""
        self.world.bells.clear()

    # Tickets

    @initialize(begin=st.sampled_from(["received", "proposed", "proposed", "approved", "approved", "in doubt"]))
    def a_ticket(self, begin: str) -> None:
        story = self.world.open()
        if begin != "received":
            story.run()
        if begin in ("approved", "in doubt"):
            story.decide()
        if begin == "in doubt":
            story.fault("drop_after")
            story.run()

    @act(about=st.booleans(), status=st.sampled_from(["confirmed", "confirmed", "pending", "refunded"]))
    def another_ticket(self, about: bool, status: str) -> None:
        if len(self.world.stories) < TICKETS:
            more = {"about": self.world.stories[0]} if about else {}
            self.world.open(payment={"status": status}, **more)

    @act(
        place=PLACE,
        spelling=st.sampled_from(["{}", " {} ", "\ufeff{}", "{}\u200b"]),
        other=st.booleans(),
        dies=st.sampled_from(["", "", "intake.before_commit"]),
    )
    def the_same_ticket_comes_again(self, place: int, spelling: str, other: bool, dies: str) -> None:
        story = self.world.story(place)
        case = story.case
        intake = {
            "customer_id": story.customer,
            "subscription_id": story.subscription,
            "payment_id": story.payment,
            "claim": "Другое" if other else CLAIM,
        }
        told: dict[str, Any] = {"organisation": self.world.engine.organisation, "process": case.process}
        told |= {"source": case.source, "external_id": spelling.format(case.external_id), "actor": SYSTEM}
        try:
            with self.world.at(dies, die):
                opened = open_case(intake=intake, **told)
        except IntakeConflict as conflict:
            assert other and conflict.params["case"] == case.public_id
            self.world.reached["intake conflict"] += 1
        except Killed:
            pass
        else:
            assert (opened.case.pk, opened.created, other) == (story.id, False, False)

    @act(
        place=PLACE,
        data=st.sampled_from([{"claim": "Ещё раз"}, {"payment_id": "PAY-none"}, {"payment_id": ""}]),
        who=st.sampled_from(["", "operator", "second"]),
    )
    def data_is_supplied(self, place: int, data: dict[str, str], who: str) -> None:
        story = self.world.story(place)
        told = data if data.get("payment_id") != "" else {"payment_id": story.payment}
        supply_data(case_id=story.id, data=told, actor=actor_of_person(self.world.person(who)) if who else SYSTEM)

    # Bells and workers

    @act(dies=st.sampled_from(["", "", "dispatch.before_commit", "dispatch.marked", "dispatch.rung_one"]))
    def a_dispatcher_sweeps(self, dies: str) -> None:
        try:
            with self.world.at(dies, die):
                sweep([QUICK, SLOW], lambda _queue, task: self.world.bells.append(task))
        except Killed:
            self.world.reached["dispatcher died"] += 1

    @act(place=PLACE, times=st.integers(0, 2), stays=st.booleans())
    def a_message_is_delivered(self, place: int, times: int, stays: bool) -> None:
        """Or lost, or delivered twice, or seen again later."""
        bells = self.world.bells
        if bells:
            task = bells[place % len(bells)] if stays else bells.pop(place % len(bells))
            for _ in range(times):
                self.world.deliver(task)

    @act(place=st.integers(0, 40))
    def a_forged_message_is_delivered(self, place: int) -> None:
        """The id of any task there ever was: ended, not due, held by another."""
        tasks = self.world.tasks(["due", "leased", "done", "failed", "obsolete", "cancelled"], far=True)
        self.world.deliver(tasks[place % len(tasks)] if tasks else 4_821)

    @act(2, place=PLACE)
    def a_worker_takes_a_task(self, place: int) -> None:
        task = self._work(place)
        if task is not None:
            self.world.deliver(task)

    @act(3, place=PLACE, runs=st.booleans())
    def a_case_goes_its_way(self, place: int, runs: bool) -> None:
        """What everybody hopes for: people answer, workers work."""
        self._somebody_answers(place)
        if runs:
            self.world.story(place).run_later()

    def _somebody_answers(self, place: int) -> None:
        """Whoever a case waits for does what brings it on; where all are closed another ticket comes."""
        match self.world.story(place).state:
            case "WAITING_APPROVAL":
                self.somebody_decides(place=place, kind="approve", digest="current", who="second", dies="")
            case "NEEDS_ATTENTION":
                self.somebody_asks_again(place=place)
            case "WAITING_DATA":
                self.data_is_supplied(place=place, data={"payment_id": ""}, who="")
            case "COMPLETED" | "CLOSED_NO_CHANGE" if len(self.world.stories) < TICKETS:
                self.world.open().run()

    def _work(self, place: int) -> int | None:
        """A task that may be worked on now; where nobody left one, somebody makes one."""
        task = self.world.live_task(place)
        if task is None:
            self._somebody_answers(place)
            task = self.world.live_task(place)
        return task

    @act(what=st.sampled_from(["soon", "soon", "data_due", "recheck", "silence"]), place=PLACE)
    def time_passes(self, what: str, place: int) -> None:
        leased = self.world.tasks(["leased"], far=True)
        match what:
            case "soon":
                self.world.time_passes()
            case "silence":
                for task in leased[place:]:
                    self.world.lapse(task)
            case stage:
                self.world.story(place).make_due(stage)
                self.world.story(place).run(stage)

    # Death and delay

    @act(10, place=PLACE, where=WHERE, what=st.sampled_from(INTERRUPTIONS))
    def something_happens_in_the_middle(self, place: int, where: int, what: str) -> None:
        """A worker dies between two of its steps, is overtaken there, or somebody else acts just there."""
        task = self._work(place)
        if task is None:
            return
        doings: dict[str, Callable[[], Any]] = {
            "die": die,
            "die unnoticed": die,
            "overtake": lambda: self.world.overtaken(task),
            "twin": lambda: self.world.deliver(task),
            "lapse": lambda: self.world.lapse(task),
            "withdraw": lambda: self.somebody_withdraws(place=place, who="second"),
            "return": lambda: self.somebody_decides(
                place=place, kind="return", digest="current", who="approver", dies=""
            ),
            "supply": lambda: self.data_is_supplied(place=place, data={"claim": "Ещё"}, who=""),
            "pause": lambda: self.world.pause("subscriptions"),
            "refund": lambda: self.world.story(place).change("payments", status="refunded"),
            "revoke": lambda: self._revoke("second"),
            "sweep": lambda: sweep([QUICK], lambda _queue, rung: self.world.bells.append(rung)),
            "use up": lambda: self.world.use_up_approval(self.world.story(place)),
        }

        def interrupt() -> None:
            self.world.reached[what] += 1
            doings[what]()

        with self.world.at(self.world.place(task, where, dying=what.startswith("die")), interrupt):
            self.world.deliver(task)
        if what == "die":
            self.world.lapse(task)

    # People

    @act(
        4,
        place=PLACE,
        kind=st.sampled_from(["approve", "approve", "approve", "return", "ask_data", "close", "by_hand"]),
        digest=st.sampled_from(["current", "current", "current", "current", "old", "garbage"]),
        who=st.sampled_from(["approver", "approver", "approver", "second", "viewer"]),
        dies=st.sampled_from(["", "", "", "", "decide.before_commit", "decide.committed"]),
    )
    def somebody_decides(self, place: int, kind: str, digest: str, who: str, dies: str) -> None:
        story = self.world.story(place)
        proposals = list(Proposal.objects.filter(case_id=story.id, has_effects=True).order_by("number"))
        if not proposals:
            return
        newest = proposals[-1]
        seen = {"current": newest.digest, "old": proposals[0].digest, "garbage": GARBAGE}[digest]
        rejects = kind in ("close", "by_hand")
        try:
            with self.world.at(dies, die):
                decided = decide(
                    proposal=proposals[0] if digest == "old" else newest,
                    person=self.world.person(who),
                    kind="reject" if rejects else kind,
                    seen_digest=seen,
                    seen_version=story.case.version,
                    reason="" if kind == "approve" else "Нужна проверка",
                    next=kind if rejects else "",
                )
        except CaseflowError as refused:
            self.world.reached[refused.code] += 1
        except Killed:
            pass
        else:
            assert isinstance(decided, Decided) and who != "viewer"
            assert (decided.decision.proposal_id, decided.decision.digest) == (newest.pk, newest.digest)

    @act(2, place=PLACE, who=st.sampled_from(["approver", "second"]))
    def somebody_withdraws(self, place: int, who: str) -> None:
        story = self.world.story(place)
        newest = Proposal.objects.filter(case_id=story.id, has_effects=True).order_by("-number").first()
        if newest is None:
            return
        begun = story.case.plan_begun
        try:
            done = withdraw(proposal=newest, person=self.world.person(who))
        except CaseflowError as refused:
            self.world.reached[refused.code] += 1
        else:
            assert isinstance(done, Withdrawn) and not begun and story.state == "WAITING_APPROVAL"

    @act(place=PLACE, whose=st.sampled_from(["decision", "decision", "send"]))
    def time_runs_out(self, place: int, whose: str) -> None:
        story = self.world.story(place)
        if whose == "send":
            self.world.use_up_approval(story)
        elif self.world.expire(story):
            story.run("expire")

    @act(place=PLACE)
    def somebody_asks_again(self, place: int) -> None:
        story = self.world.story(place)
        state, doubts = story.state, story.case.effects_open
        try:
            order_recovery(
                case_id=story.id,
                kind="observe_again",
                person=self.world.person("operator"),
                seen_version=story.case.version,
                reason="Проверьте ещё раз",
            )
        except ForbiddenTransition:
            assert state != "NEEDS_ATTENTION" or doubts
        else:
            assert state == "NEEDS_ATTENTION" and not doubts
            self.world.reached["asked again"] += 1

    def _revoke(self, who: str) -> None:
        organisation = self.world.engine.organisation
        revoke_role(person=self.world.person(who), organisation=organisation, role=Role.APPROVER, by=SYSTEM)

    @act(what=st.sampled_from(["give", "take", "process", "organisation", "subscriptions", "mail", "resume", "resume"]))
    def somebody_changes_what_may_be_done(self, what: str) -> None:
        match what:
            case "give":
                for who in ("approver", "second"):
                    person, organisation = self.world.person(who), self.world.engine.organisation
                    grant_role(person=person, organisation=organisation, role=Role.APPROVER, by=SYSTEM)
            case "take":
                self._revoke("approver")
            case "resume":
                self.world.resume()
            case kind:
                self.world.pause(kind)

    # Outside

    @act(
        place=PLACE,
        change=st.sampled_from(
            [
                ("payments", {"status": "refunded"}),
                ("payments", {"status": "confirmed"}),
                ("subscriptions", {"status": "active"}),
                ("subscriptions", {"status": "inactive"}),
                ("subscriptions", {"price": "1.00"}),
            ]
        ),
    )
    def the_world_changes(self, place: int, change: tuple[str, dict[str, str]]) -> None:
        collection, fields = change
        self.world.story(place).change(collection, **fields)

    @act(
        2,
        place=PLACE,
        kind=st.sampled_from(
            ["drop_before", "drop_after", "drop_after", "error_after", "reset_after", "conflict", "too_many", "garbage"]
        ),
    )
    def a_request_meets_trouble(self, place: int, kind: str) -> None:
        self.world.story(place).fault(kind)

    @act(
        method=st.sampled_from(["GET", "POST"]),
        path=st.sampled_from(["/operations/*", "/payments/*", "/subscriptions/*", "/mail/*"]),
        kind=st.sampled_from(["error_before", "drop_after", "reset"]),
    )
    def a_system_has_a_bad_moment(self, method: str, path: str, kind: str) -> None:
        self.world.engine.outside.script(kind, method=method, path=path)

    # Repairs

    @act(command=st.sampled_from(["reconcile_actions", "requeue_tasks", "expire_decisions"]), apply=st.booleans())
    def somebody_repairs(self, command: str, apply: bool) -> None:
        organisation, operator = self.world.engine.organisation.slug, self.world.person("operator").username
        how = ["--apply", "--as", operator, "--reason", "Проверка"] if apply else []
        done = self.run_command(command, "--organisation", organisation, *how)
        assert done.code in (0, 3), done

    # By number: `one_of` takes what is there twice for one.
    @rule(what=st.sampled_from(range(len(ACTS))).flatmap(lambda number: ACTS[number]))
    def then(self, what: tuple[str, dict[str, Any]]) -> None:
        name, told = what
        getattr(self, name)(**told)

    # Promises

    @invariant()
    def every_promise_holds(self) -> None:
        self.world.promises_hold()

    def teardown(self) -> None:
        self.world.come_to_rest()
        self.world.promises_hold()
        self.world.note_reached()


def die() -> None:
    raise Killed
