"""The engine driven in one process, step by step: what a worker and the clock would do, without waiting for either.

The outside world is the simulator in its own process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from accounts.services import create_organisation
from cases.processes import all_processes
from tests.hooked import Killed, hooks
from tests.integrations.conftest import Outside
from tests.steps import claimed, fingerprint, run_due, together
from tests.stories import CLAIM, Engine, Story, decisions

__all__ = [
    "CLAIM",
    "Engine",
    "Killed",
    "Story",
    "claimed",
    "decisions",
    "engine",
    "fingerprint",
    "hooks",
    "processes",
    "run_due",
    "simulator",
    "test_processes",
    "together",
]


@pytest.fixture(scope="session")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    world = Outside(tmp_path_factory.mktemp("outside") / "ledger.sqlite3")
    yield world
    assert world.end() == 0


@pytest.fixture
def engine(
    committing_database: None, as_owner: psycopg.Connection[Any], simulator: Outside, settings: Any
) -> Iterator[Engine]:
    """The engine on a real database and the real outside world, without any fault; decisions wait for no undo."""
    simulator.ask("DELETE", "/faults")
    settings.SIMULATOR_URL = simulator.url
    hooked = {"subscriptions": "tests.hooked.HookedSubscriptions", "mail": "tests.hooked.HookedMail"}
    settings.ADAPTERS = settings.ADAPTERS | hooked
    settings.CASEFLOW_UNDO_SECONDS = 0
    yield Engine(as_owner, simulator, create_organisation(slug="acme", name="Acme"))
    hooks.clear()
    simulator.ask("DELETE", "/faults")


@contextmanager
def processes(settings: Any, *paths: str) -> Iterator[None]:
    """The processes of an installation that also has these."""
    before = settings.PROCESSES
    settings.PROCESSES = [*before, *paths]
    all_processes.cache_clear()
    try:
        yield
    finally:
        settings.PROCESSES = before
        all_processes.cache_clear()


@pytest.fixture
def test_processes(settings: Any) -> Iterator[None]:
    """The processes of `tests.process_examples` are there, too."""
    names = ("TwoApprovers", "ByAmount", "NoApproval", "TwoEffects", "Told")
    with processes(settings, *(f"tests.process_examples.{name}" for name in names)):
        yield
