"""Systems that keep fewer promises: without keys, without look-up, with a short memory (design §8)."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from actions.models import Action
from caseflow.domain.errors import ForbiddenTransition
from caseflow.domain.outcomes import Confirmed, NotApplied, Unknown
from caseflow.invariants.running import ask_all
from cases.leases import held, renew_held, sure_until
from integrations.subscriptions import Subscriptions
from tests.adapters import Keyless
from tests.driving import Engine, Killed, Story, claimed, hooks, processes
from tests.integrations.conftest import ROOT, Outside

LOST = 100  #: replies


def use(settings: Any, adapter: str) -> None:
    settings.ADAPTERS = settings.ADAPTERS | {"subscriptions": f"tests.adapters.{adapter}"}


@pytest.fixture
def impatient(settings: Any) -> Iterator[None]:
    with processes(settings, "tests.process_hold.ImpatientLegacy"):
        yield


@pytest.fixture
def keyless(engine: Engine, settings: Any, impatient: None) -> Engine:
    use(settings, "Keyless")
    return engine


@pytest.fixture
def lookup_only(engine: Engine, settings: Any, impatient: None) -> Engine:
    use(settings, "LookupOnly")
    return engine


def old_path(story: Story) -> str:
    return f"/legacy/subscriptions/{story.subscription}/activate"


def lose(story: Story, kind: str = "drop_after") -> None:
    story.engine.outside.script(kind, path=old_path(story))


def writes(story: Story) -> int:
    """Requests that tried to change the subscription, whatever became of them."""
    return len(story.engine.outside.requests(story.effect.key))


def to_the_end(story: Story, rounds: int = 5) -> None:
    for _ in range(rounds):
        if story.state != "EXECUTING":
            return
        story.run_later()


def clean() -> None:
    broken = {invariant.name: finding.shown for invariant, finding in ask_all("") if finding.violations}
    assert broken == {}


@pytest.mark.timeout(600)
def test_a_hundred_lost_replies_of_a_keyless_system_are_no_automatic_repeat(keyless: Engine) -> None:
    stories = [keyless.approved(process="impatient_legacy") for _ in range(LOST)]
    for number, story in enumerate(stories):
        lose(story, "drop_before" if number % 2 else "drop_after")
        story.run()
    for story in stories:
        to_the_end(story)
    standing = [story.standing for story in stories]
    # What was applied is read at the subject itself; what was not stays a doubt for a person.
    assert standing[::2] == [("COMPLETED", "")] * (LOST // 2)
    assert standing[1::2] == [("NEEDS_ATTENTION", "unknown_too_long")] * (LOST // 2)
    assert [writes(story) for story in stories] == [1] * LOST
    assert Action.objects.filter(kind="effect", status="REFUSED").count() == 0
    clean()


def test_a_worker_killed_while_it_sent_to_a_keyless_system_leaves_a_doubt_that_names_the_owner(
    keyless: Engine,
) -> None:
    story = keyless.approved(process="impatient_legacy")

    def die() -> None:
        raise Killed

    hooks.at("before_perform", die)
    with pytest.raises(Killed):
        story.run()
    keyless.lapse_lease(story.task("execute"))
    story.run()
    to_the_end(story)
    assert story.standing == ("NEEDS_ATTENTION", "unknown_too_long")
    assert (story.effect.status, writes(story)) == ("UNKNOWN", 0)
    owner = {"team": "Old billing", "contact": "old-billing@example.org"}
    assert story.told("case.effect_unknown")["owner"] == owner
    clean()


def test_a_refused_connection_is_provably_nothing_also_without_keys(keyless: Engine) -> None:
    story = keyless.approved(process="impatient_legacy")
    hooks.at("before_perform", lambda: keyless.outside.go_down(0.3))
    story.run()
    keyless.outside.wait_until_up()
    assert (story.effect.status, story.case.effects_open) == ("PLANNED", 0)
    story.run_later()
    assert story.state == "COMPLETED"
    assert (writes(story), len(story.activations())) == (1, 1)
    clean()


def test_who_overslept_the_lease_sends_nothing_to_a_keyless_system(keyless: Engine) -> None:
    """Stopped between the point of no return and the request, and woken when the case is somebody else's."""
    story = keyless.approved(process="impatient_legacy")

    # The process slept between the point of no return and the request, for longer than its lease.
    lease = replace(claimed(story.task("execute")), taken=time.monotonic() - 60)
    lease.definition.run(lease)

    assert writes(story) == 0
    assert story.activations() == []
    assert story.calls() == [("perform", "not_applied", "lease_over")]
    clean()


def test_also_with_keys_nobody_sends_after_the_end_of_its_lease_since_a_key_has_an_end_too(engine: Engine) -> None:
    story = engine.approved()
    lease = replace(claimed(story.task("execute")), taken=time.monotonic() - 60)
    lease.definition.run(lease)
    assert (story.effect.status, story.writes()) == ("PLANNED", [])
    story.run_later()
    assert (story.state, len(story.activations())) == ("COMPLETED", 1)


def test_the_right_to_send_ends_no_later_than_the_lease_and_grows_with_its_renewal(engine: Engine) -> None:
    story = engine.approved()
    task = story.task("execute")
    before = time.monotonic()
    lease = claimed(task)
    assert before < sure_until(lease) <= time.monotonic() + 10
    first = sure_until(lease)
    task.refresh_from_db()
    left = (task.leased_until - engine.now()).total_seconds()  # type: ignore[operator]
    assert sure_until(lease) - time.monotonic() <= left
    with held(lease):
        assert renew_held() == 1
        assert first < sure_until(lease) <= time.monotonic() + 10
        task.refresh_from_db()
        left = (task.leased_until - engine.now()).total_seconds()  # type: ignore[operator]
        assert sure_until(lease) - time.monotonic() <= left
        old = replace(lease, taken=lease.taken - 55)
        assert sure_until(old) < time.monotonic() + 5.1  # the stage's own limit of 60 s bounds every renewal


def test_nothing_leaves_when_the_right_to_send_is_over(engine: Engine) -> None:
    with closing(Keyless(base_url=engine.outside.url)) as adapter:
        subject = engine.outside.new_subscription()
        over = time.monotonic() - 0.001
        outcome = adapter.perform("activate", subject, {}, key="k:over", call_id="c-over", send_by=over)
        assert isinstance(outcome, NotApplied)
        assert outcome.code == "lease_over"
        assert engine.outside.requests("k:over") == []
        outcome = adapter.perform("activate", subject, {}, key="k:in", call_id="c-in", send_by=time.monotonic() + 5)
        assert isinstance(outcome, Confirmed)


def test_a_system_with_look_up_only_is_settled_by_what_it_remembers(lookup_only: Engine) -> None:
    story = lookup_only.approved(process="impatient_legacy")
    lose(story)
    story.run()
    assert story.effect.status == "UNKNOWN"
    story.run_later()
    assert (story.state, story.effect.confirmed_by, writes(story)) == ("COMPLETED", "lookup", 1)
    clean()


def let_it_settle(story: Story, seconds: float) -> None:
    """The unanswered request was sent so much earlier; the rest of the history keeps its moments."""
    story.engine.rewrite(
        "actions_externalcall",
        "UPDATE actions_externalcall SET begun_at = begun_at - %s, ended_at = ended_at - %s"
        " WHERE kind = 'perform' AND action_id = %s",
        [timedelta(seconds=seconds)] * 2 + [story.effect.pk],
    )
    story.engine.owner.execute(
        "UPDATE actions_action SET first_sent_at = first_sent_at - %s WHERE id = %s",
        [timedelta(seconds=seconds), story.effect.pk],
    )


def test_not_applied_counts_only_after_the_request_can_no_longer_land_and_then_goes_to_a_person(
    engine: Engine, settings: Any
) -> None:
    use(settings, "LookupOnly")
    story = engine.approved()
    lose(story, "drop_before")
    story.run()
    story.run_later()
    assert (story.state, story.effect.status) == ("EXECUTING", "UNKNOWN")  # "not applied" came too early to count
    let_it_settle(story, 25)
    story.run_later()
    assert (story.state, story.effect.status) == ("EXECUTING", "UNKNOWN")
    let_it_settle(story, 6)
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "not_applied")
    assert (story.effect.status, story.case.effects_open, writes(story)) == ("UNKNOWN", 1, 1)
    assert story.told("case.effect_not_applied")["owner"]["team"] == "Old billing"


def test_without_a_new_approval_nothing_is_ever_sent_again_to_a_system_with_look_up_only(
    engine: Engine, settings: Any
) -> None:
    use(settings, "LookupOnly")
    story = engine.approved()
    lose(story, "drop_before")
    story.run()
    let_it_settle(story, 31)
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "not_applied")
    with pytest.raises(ForbiddenTransition):
        story.order("observe_again", reason="Отправить ещё раз")
    story.make_due()
    story.run()
    assert (story.state, writes(story)) == ("NEEDS_ATTENTION", 1)


def test_a_request_that_lands_late_at_a_system_with_look_up_only_is_found(engine: Engine, settings: Any) -> None:
    use(settings, "LookupOnly")
    story = engine.approved()
    lose(story, "drop_before")
    story.run()
    story.run_later()
    key = story.effect.key
    engine.outside.ask("POST", old_path(story), {}, Idempotency_Key=key).raise_for_status()
    let_it_settle(story, 31)
    story.run_later()
    assert (story.state, story.effect.confirmed_by) == ("COMPLETED", "lookup")


class Forgetful(Outside):
    """A simulator whose keys live for half a second."""

    def start(self) -> None:
        command = [sys.executable, "-m", "simulator", "--port", "0", "--ledger", str(self.ledger), "--key-life", "0.5"]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().split()[-1]
        self.port = int(self.url.rsplit(":", 1)[1])
        self.door = httpx2.Client(base_url=self.url, trust_env=False, timeout=10)


@pytest.fixture
def forgetful(engine: Engine, settings: Any, tmp_path: Path) -> Iterator[Engine]:
    world = Forgetful(tmp_path / "ledger.sqlite3")
    settings.SIMULATOR_URL = world.url
    use(settings, "ShortMemory")
    yield Engine(engine.owner, world, engine.organisation)
    world.end()


def forgotten(outside: Outside, key: str) -> None:
    """Until the outside system knows nothing of the key any more; bounded by its half second."""
    end = time.monotonic() + 10
    while outside.ask("GET", f"/operations/{key}").status_code != 404:
        assert time.monotonic() < end


def test_a_key_that_was_forgotten_is_not_sent_again_and_the_subject_shows_what_was_done(forgetful: Engine) -> None:
    story = forgetful.approved()
    story.fault("drop_after")
    story.run()
    forgotten(forgetful.outside, story.effect.key)
    story.run_later()
    assert (story.state, story.effect.confirmed_by) == ("COMPLETED", "read")
    assert len(story.writes()) == len(story.activations()) == 1
    clean()


def test_a_key_that_was_forgotten_without_an_effect_goes_to_a_person_and_is_not_sent_again(forgetful: Engine) -> None:
    story = forgetful.approved()
    story.fault("drop_before")
    story.run()
    sent = story.effect.first_sent_at
    assert sent is not None
    while forgetful.now() - sent < timedelta(seconds=0.6):
        pass  # the key's own short life
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "not_applied")
    assert (story.effect.status, len(story.writes()), story.activations()) == ("UNKNOWN", 1, [])
    clean()


def test_the_system_itself_would_do_it_twice_with_a_forgotten_key(forgetful: Engine) -> None:
    """Why an old key is never sent again: outside it is a new one."""
    subject = forgetful.outside.new_subscription()
    with closing(Subscriptions(base_url=forgetful.outside.url)) as adapter:
        for operation in ("activate", "deactivate"):
            assert isinstance(
                adapter.perform(operation, subject, {}, key=f"k:{operation}", call_id=operation), Confirmed
            )
        forgotten(forgetful.outside, "k:activate")
        assert isinstance(adapter.perform("activate", subject, {}, key="k:activate", call_id="again"), Confirmed)
    assert len(forgetful.outside.effects("k:activate")) == 2


def test_a_system_that_can_be_asked_nothing_answers_unknown(engine: Engine) -> None:
    with closing(Keyless(base_url=engine.outside.url)) as adapter:
        assert isinstance(adapter.lookup(key="k", call_id="c"), Unknown)
