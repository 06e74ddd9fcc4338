"""One world for all: built once, never changed."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django.plugin import DjangoDbBlocker

from tests.driving import simulator

from .walking import Walk
from .world import World, standing

__all__ = ["simulator"]

WALKED = pytest.StashKey[Walk]()


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: Any) -> Iterator[World]:
    # Not for the whole run: between two modules others empty the tables.
    with django_db_blocker.unblock(), standing(simulator) as built:
        yield built


@pytest.fixture(scope="session", autouse=True)
def _quiet() -> Iterator[None]:
    """Thousands of refusals are the point here; only failures are worth a line."""
    logger = logging.getLogger("django.request")
    level = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(level)


@pytest.fixture
def walked(request: pytest.FixtureRequest) -> Walk:
    """What all walks of this run found together."""
    return request.config.stash.setdefault(WALKED, Walk())


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if done := config.stash.get(WALKED, None):
        terminalreporter.write_line(done.line)
        if path := os.environ.get("CASEFLOW_LEAKS_LINE"):
            Path(path).write_text(done.line)
