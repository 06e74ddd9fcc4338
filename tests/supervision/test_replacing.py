"""A part that died or is of no use turns liveness red and is replaced."""

from __future__ import annotations

import os
import signal
from datetime import timedelta

from caseflow.liveness import CHECK_EVERY, CHECKS_TO_DIE
from caseflow.watching import FETCH_SILENCE
from cases.beats import BEAT_SILENCE
from tests.supervision.supervised import Supervised

SOON = timedelta(seconds=10)
EXIT_RED = "ended with 70"


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_killed_worker_process_is_replaced(supervised: Supervised) -> None:
    old = supervised.part("worker-1")

    supervised.signal(old["pid"], signal.SIGKILL)

    # Its family ends with it, which on a busy machine is seen before anybody asked what it died of.
    supervised.wait_for_problem("worker-1", ("dead", "ended with 1"), SOON)
    new = supervised.wait_for_replacement("worker-1", old)
    assert new["restarts"] == old["restarts"] + 1
    assert supervised.problems("worker-2") == []
    supervised.wait_for(lambda: supervised.beat(new["pid"]).get("is_live"))


def test_a_killed_master_takes_its_worker_along_and_both_are_replaced(supervised: Supervised) -> None:
    old = supervised.part("worker-2")

    supervised.signal(old["master"], signal.SIGKILL)

    supervised.wait_for_problem("worker-2", "ended with -9", SOON)
    supervised.wait_for(lambda: not lives(old["pid"]))
    supervised.wait_for_replacement("worker-2", old)


def test_a_dead_consumer_thread_ends_its_process(supervised: Supervised) -> None:
    old = supervised.part("worker-1")
    # As in real life: an error in the loop, and another one while it is tidied up.
    supervised.arm("worker.fetch_closing", "raise", "quick", "worker-1")
    supervised.arm("worker.fetch", "raise", "quick", "worker-1")

    supervised.wait_for_problem("worker-1", "the consumer thread of quick is dead", SOON)
    supervised.wait_for_problem("worker-1", EXIT_RED, SOON)
    supervised.wait_for_replacement("worker-1", old)

    # What it said last stays to be read.
    assert supervised.beat(old["pid"])["reason"] == "the consumer thread of quick is dead"
    assert not supervised.beat(old["pid"])["is_live"]


def test_a_silent_fetch_loop_ends_its_process_and_one_that_stood_still_may_go_on(supervised: Supervised) -> None:
    silent, still = supervised.part("worker-2"), supervised.part("worker-1")

    supervised.arm("worker.fetch", "hold", "quick", "worker-2", seconds=120)
    supervised.signal(still["pid"], signal.SIGSTOP)
    try:
        patience = timedelta(seconds=FETCH_SILENCE + CHECKS_TO_DIE * CHECK_EVERY) + SOON
        supervised.wait_for_problem("worker-2", "the fetch loop of quick is silent", patience)
        supervised.wait_for_problem("worker-2", EXIT_RED, SOON)
        supervised.wait_for_problem("worker-1", "no beat for", BEAT_SILENCE + SOON)
    finally:
        supervised.signal(still["pid"], signal.SIGCONT)

    assert supervised.wait_for_replacement("worker-2", silent)["restarts"] == silent["restarts"] + 1
    supervised.wait_for(lambda: not supervised.problems("worker-1"), SOON)
    assert supervised.part("worker-1") == still
