"""Two who act on one case at the same instant, or queue for it in a known order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection

from accounts.platform import grant_platform
from accounts.principal import SYSTEM
from actions.withdrawing import withdraw
from approvals.deciding import decide
from caseflow.invariants.outside import ledger_agrees
from caseflow.invariants.running import ask_all
from cases.dispatching import sweep
from cases.intake import open_case
from cases.models.task import QUICK
from cases.supplying import supply_data
from cases.working import work_on
from operations.ordering import order_recovery
from operations.pausing import pause
from tests.driving import Engine, Story, together
from tests.stories import CLAIM

PATIENCE = 5.0  #: seconds until somebody who should wait for the case must be seen waiting

Act = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """What everybody saw before the race; nobody looks again."""

    story: Story
    version: int
    proposal: Any
    task: int | None

    def acts(self) -> dict[str, Act]:
        """Each side of a pair by its word. Persons are looked up before, each act is one service or one task."""
        story, people = self.story, self.story.engine
        approver, second, operator = (people.person(who) for who in ("approver", "second", "operator"))
        said = {"seen_digest": self.proposal.digest, "seen_version": self.version} if self.proposal else {}
        keeper, place = people.person("keeper"), people.organisation
        grant_platform(person=keeper, by=SYSTEM, reason="on duty")
        more = {"reason": "Нужна проверка", "next": "close"}
        ask_again = {"person": operator, "reason": "Проверьте ещё раз", "seen_version": self.version}
        told = {"organisation": people.organisation, "process": "restore_access", "source": "helpdesk", "actor": SYSTEM}
        told |= {"external_id": story.case.external_id, "intake": intake_of(story)}
        return {
            "approve": lambda: decide(proposal=self.proposal, person=approver, kind="approve", **said),
            "approve too": lambda: decide(proposal=self.proposal, person=second, kind="approve", **said),
            "reject": lambda: decide(proposal=self.proposal, person=second, kind="reject", **said, **more),
            "return": lambda: decide(proposal=self.proposal, person=second, kind="return", **said, reason="Ещё раз"),
            "withdraw": lambda: withdraw(proposal=self.proposal, person=approver),
            "supply": lambda: supply_data(case_id=story.id, data={"claim": "Ещё"}, actor=SYSTEM),
            "intake": lambda: open_case(**told),
            "other intake": lambda: open_case(**(told | {"intake": intake_of(story) | {"claim": "Другое"}})),
            "ask again": lambda: order_recovery(case_id=story.id, kind="observe_again", **ask_again),
            "pause": lambda: pause(kind="system", name="subscriptions", by=keeper, reason="an incident"),
            "pause all": lambda: pause(kind="organisation", organisation=place, by=keeper, reason="an incident"),
            "ring": lambda: ring(),
            "work": lambda: work_on(self.task or 0),
        }


def seen(story: Story, stage: str = "") -> Seen:
    """`stage` names the task that "work" is about."""
    return Seen(
        story,
        story.case.version,
        story.proposal if story.state not in ("RECEIVED", "WAITING_DATA") else None,
        story.task(stage).pk if stage else None,
    )


def intake_of(story: Story) -> dict[str, str]:
    return {
        "customer_id": story.customer,
        "subscription_id": story.subscription,
        "payment_id": story.payment,
        "claim": CLAIM,
    }


def ring() -> list[int]:
    rung: list[int] = []
    sweep([QUICK], lambda _queue, task: rung.append(task))
    return rung


def at_the_door(engine: Engine, case_id: int, *acts: Act, before_it_opens: Act | None = None) -> list[Any]:
    """All queue for the case, in this order, before the first gets it; who needs no case does not wait."""
    results: list[Any] = [None] * len(acts)

    def run(place: int, act: Act) -> None:
        try:
            results[place] = act()
        except Exception as error:
            results[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place, act)) for place, act in enumerate(acts)]
    with engine.owner.transaction():
        engine.owner.execute("SELECT FROM cases_case WHERE id = %s FOR NO KEY UPDATE", [case_id])
        for thread in threads:
            before = _waiting()
            thread.start()
            end = time.monotonic() + PATIENCE
            while thread.is_alive() and _waiting() <= before:
                assert time.monotonic() < end, "it neither waited nor ended"
        if before_it_opens is not None:
            before_it_opens()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive(), "an act did not end"
    return results


def meet(order: str, engine: Engine, case_id: int, first: Act, second: Act) -> tuple[str, str]:
    """What became of both, by name: "done", or the code of the refusal."""
    match order:
        case "together":
            results = together(first, second)
        case "first":
            results = at_the_door(engine, case_id, first, second)
        case _:
            results = at_the_door(engine, case_id, second, first)[::-1]
    return word(results[0]), word(results[1])


def word(result: Any) -> str:
    if isinstance(result, Exception):
        code = getattr(result, "code", None)
        if code is None:
            raise result
        return str(code)
    return "done"


def promises_hold(engine: Engine) -> None:
    found = {one.name: finding.shown for one, finding in ask_all() if finding.violations}
    assert found == {}
    effects = engine.outside.ask("GET", "/ledger").json()["effects"]
    assert ledger_agrees(effects).shown == []


def _waiting() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")
        (found,) = cursor.fetchone()
    return int(found)
