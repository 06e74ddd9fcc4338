"""A system whose workers are supervised and whose failpoints can be armed; each test finds and leaves it green."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from stand.system import System
from tests.flows.running import Bell
from tests.supervision.supervised import ROLES, Supervised

# Thousands of requests, of which only the last ones of a failed test would be of interest.
logging.getLogger("httpx2").setLevel(logging.WARNING)


@pytest.fixture(scope="session")
def supervised_system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervised]:
    folder = tmp_path_factory.mktemp("supervision")
    faults = folder / "faults"
    for name in ("armed", "taken"):
        (faults / name).mkdir(parents=True)
    bell = Bell(folder / "bell")
    environment = {
        "DJANGO_SETTINGS_MODULE": "caseflow.settings_faults",
        "CASEFLOW_FAILPOINTS": str(faults),
        "CASEFLOW_DEMO": "1",
        "CASEFLOW_UNDO_SECONDS": "0",
        "REDIS_URL": bell.url,
    }
    try:
        with System(folder, database="caseflow_supervision", environment=environment) as system:
            token = system.manage_json("bootstrap", "--demo")["token"]
            supervised = Supervised(system, bell, token, faults)
            try:
                yield supervised
            finally:
                supervised.close()
    finally:
        bell.close()


@pytest.fixture
def supervised(supervised_system: Supervised) -> Iterator[Supervised]:
    supervised_system.restore()
    yield supervised_system
    supervised_system.restore()
    assert set(ROLES) <= set(supervised_system.system.pids)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    report = yield
    supervised = getattr(item, "funcargs", {}).get("supervised")
    if report.failed and supervised is not None:
        kept = supervised.keep_logs(re.sub(r"\W+", "-", item.name))
        report.sections.append(("whole logs", str(kept)))
        report.sections += [(f"log of {name}", tail) for name, tail in supervised.log_tails()]
    return report
