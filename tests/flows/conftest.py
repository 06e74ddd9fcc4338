"""One system for all flows: real processes on a database of their own, with a Redis that tests may take away."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from stand.system import System
from tests.flows.post_office import PostOffice
from tests.flows.running import Bell, Running

# Thousands of requests, of which only the last ones of a failed test would be of interest.
logging.getLogger("httpx2").setLevel(logging.WARNING)

ALL_ROLES = ("simulator", "web", "worker-1", "worker-2", "dispatcher")


@pytest.fixture(scope="session")
def running_system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("flows")
    bell, post_office = Bell(folder / "bell"), PostOffice()
    try:
        environment = {
            "CASEFLOW_DEMO": "1",
            "CASEFLOW_UNDO_SECONDS": "0",
            "REDIS_URL": bell.url,
            # Letters to staff begin in an hour, or when a test asks for them; customers' stay in the simulator.
            "CASEFLOW_STAFF_MAIL": post_office.url,
        }
        with System(folder, database="caseflow_flows", environment=environment) as system:
            token = system.manage_json("bootstrap", "--demo")["token"]
            running = Running(system, bell, token, post_office)
            # Nobody is written to unless a test gives them an address, but for who reads the department's documents.
            running.ask("UPDATE accounts_person SET email = '' WHERE username <> 'reader' RETURNING id")
            try:
                yield running
            finally:
                running.close()
    finally:
        bell.close()
        post_office.close()


@pytest.fixture
def running(running_system: Running) -> Iterator[Running]:
    """The system with every process alive and no scripted fault, before and after."""
    assert set(ALL_ROLES) <= set(running_system.system.pids), "an earlier test left a process dead"
    running_system.outside.delete("/faults").raise_for_status()
    yield running_system
    running_system.bell.ensure()
    running_system.outside.delete("/faults").raise_for_status()
    running_system.start(*[role for role in ALL_ROLES if role not in running_system.system.pids])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    report = yield
    running = getattr(item, "funcargs", {}).get("running")
    if report.failed and running is not None:
        kept = running.keep_logs(re.sub(r"\W+", "-", item.name))
        report.sections.append(("whole logs", str(kept)))
        report.sections += [(f"log of {name}", tail) for name, tail in running.log_tails()]
    return report
