"""Lists of stopped cases, and the task that goes through a bulk, without waiting for its pace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from caseflow.domain import failpoints
from cases.models import Case, Task
from cases.working import work_on
from operations.bulk import confirm_bulk, preview_bulk
from operations.models import Bulk
from tests.driving import Engine, Killed, Story

WHY = "The payment service showed wrong amounts until noon"


def stopped(engine: Engine, number: int = 1, **ticket: Any) -> list[Story]:
    """Cases that wait for a person, since price and payment differ."""
    stories = [engine.open(payment={"amount": "1.00"}, **ticket) for _ in range(number)]
    for story in stories:
        story.run()
        assert story.standing == ("NEEDS_ATTENTION", "amount_differs")
    return stories


def cases_of(*stories: Story) -> Any:
    return Case.objects.filter(pk__in=[story.id for story in stories]).order_by("pk")


def previewed(engine: Engine, *stories: Story, kind: str = "observe_again", person: str = "operator") -> Bulk:
    return preview_bulk(person=engine.person(person), kind=kind, cases=cases_of(*stories), wanted={"chosen": "rows"})


def confirmed(bulk: Bulk, *, rate: int = 600, **said: Any) -> Bulk:
    words: dict[str, Any] = {"person": bulk.ordered_by, "count": numbers(bulk)["planned"], "reason": WHY}
    return confirm_bulk(bulk=bulk, rate=rate, **(words | said))


def numbers(bulk: Bulk) -> dict[str, int]:
    """Status → cases, each status named."""
    found = dict.fromkeys(("planned", "done", "failed", "skipped"), 0)
    for status in bulk.items.values_list("status", flat=True):
        found[status] += 1
    return found


def results(bulk: Bulk) -> list[tuple[str, str]]:
    """(status, reason) in the order of the list."""
    return list(bulk.items.order_by("position").values_list("status", "reason"))


def the_task(bulk: Bulk) -> Task:
    return Task.objects.filter(stage="bulk", subject=bulk.public_id).latest("id")


def run_once(engine: Engine, bulk: Bulk) -> None:
    """What a worker does with the task when its time has come, or the lease of the one before has lapsed."""
    task = the_task(bulk)
    engine.lapse_lease(task)
    engine.owner.execute(
        "UPDATE cases_task SET available_at = clock_timestamp() WHERE id = %s AND status = 'due'", [task.pk]
    )
    work_on(task.pk)


@contextmanager
def at_place(place: str, *about: str, do: Callable[[], None]) -> Iterator[None]:
    """`do` when somebody passes `place` with all these words."""

    def hook(passed: str, told: tuple[str, ...]) -> None:
        if passed == place and set(about) <= set(told):
            do()

    failpoints.arm(hook)
    try:
        yield
    finally:
        failpoints.arm(None)


def die() -> None:
    raise Killed
