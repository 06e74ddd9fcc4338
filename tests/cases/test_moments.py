"""The moments between two steps: a worker faster than its bell, a COMMIT without a reply, a death at a deadline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError

from caseflow.domain import failpoints
from cases.dispatching import sweep
from cases.models import Observation, Task
from cases.models.task import QUICK
from cases.working import work_on
from tests.driving import Engine, Killed, Story, together


@contextmanager
def at(place: str, error: BaseException) -> Iterator[None]:
    """The first time a way leads through `place`, it ends there with `error`."""
    errors = [error]

    def hook(name: str, about: tuple[str, ...]) -> None:
        if name == place and errors:
            raise errors.pop()

    failpoints.arm(hook)
    try:
        yield
    finally:
        failpoints.arm(None)


def silence_is_noticed(story: Story) -> None:
    for task in Task.objects.filter(case_id=story.id, status="leased"):
        story.engine.lapse_lease(task)


def test_a_worker_faster_than_its_bell_is_not_set_back(engine: Engine) -> None:
    """The dispatcher marks before it rings, so nothing that it writes can come after the work."""
    story = engine.open()
    task = story.task("check").pk
    sweep([QUICK], lambda _queue, rung: work_on(rung))
    assert (story.state, Task.objects.get(pk=task).status) == ("WAITING_APPROVAL", "done")
    rung: list[int] = []
    sweep([QUICK], lambda _queue, again: rung.append(again))
    assert rung == []
    assert Task.objects.get(pk=task).status == "done"


def test_what_a_hundred_writers_commit_in_any_order_is_what_is_rung(engine: Engine) -> None:
    rung: Counter[int] = Counter()
    for name in engine.DECIDERS:  # otherwise each writer would hire them
        engine.person(name)

    def open_many() -> None:
        for _ in range(12):
            engine.open()

    def sweep_many() -> None:
        for _ in range(40):
            sweep([QUICK], lambda _queue, task: rung.update([task]), window=1000)

    results = together(*[open_many] * 8, sweep_many, sweep_many)
    assert results == [None] * 10
    sweep([QUICK], lambda _queue, task: rung.update([task]), window=1000)
    assert rung == Counter(Task.objects.values_list("pk", flat=True))
    assert len(rung) == 96


PLACES = ["observe.committed", "execute.committed", "notify.committed"]


@pytest.mark.parametrize("place", PLACES)
def test_a_settlement_whose_commit_got_no_reply_is_not_done_again(place: str, engine: Engine) -> None:
    """Stored or not: the task says which, and whoever comes next asks it."""
    story = engine.open()
    with at(place, OperationalError("the connection was closed in the middle of COMMIT")):
        story.run()
        if story.state == "WAITING_APPROVAL":
            story.decide()
        silence_is_noticed(story)
        story.run()
    silence_is_noticed(story)
    if story.state == "WAITING_APPROVAL":
        story.decide()
    story.run_later()
    assert story.state == "COMPLETED"
    assert (len(story.writes()), len(story.activations()), len(story.letters())) == (1, 1, 1)
    moves = [kind for kind in story.history() if kind.startswith("case.")]
    assert moves == [
        "case.opened",
        "case.check_started",
        "case.proposal_ready",
        "case.quorum_reached",
        "case.effects_confirmed",
        "case.notices_confirmed",
    ]
    first = Observation.objects.filter(case_id=story.id, name="payment").count()
    assert first == 2  # once for the proposal, once before the send


@pytest.mark.parametrize("stage", ["expire", "data_due"])
def test_an_end_of_time_whose_worker_or_dispatcher_dies_comes_once_all_the_same(stage: str, engine: Engine) -> None:
    story = engine.proposed()
    if stage == "data_due":
        story.decide("ask_data")
    story.make_due(stage)
    rung: list[int] = []

    def ring(_queue: str, task: int) -> None:
        rung.append(task)

    with at("dispatch.before_commit", Killed()), pytest.raises(Killed):
        sweep([QUICK], ring)
    assert rung == []
    sweep([QUICK], ring)
    (task,) = rung
    with at(f"{stage}.before_commit", Killed()), pytest.raises(Killed):
        work_on(task)
    assert story.state in ("WAITING_APPROVAL", "WAITING_DATA")
    silence_is_noticed(story)
    for _ in range(2):
        work_on(task)
    assert story.state == "NEEDS_ATTENTION"
    ends = {"expire": "case.expired", "data_due": "case.waited_too_long"}
    assert story.history().count(ends[stage]) == 1
