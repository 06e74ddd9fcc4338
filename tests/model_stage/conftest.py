"""The engine for the tests of the model as a stage, with prices, and a model that says what a test scripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from accounts.principal import SYSTEM
from approvals.choosing import choose_proposer
from approvals.model_models import ModelCall
from tests.driving import Engine, Story, engine, simulator, test_processes
from tests.integrations.conftest import Outside

__all__ = ["engine", "simulator", "test_processes"]

ADDRESS = "/v1/chat/completions"
PRICES = {"in": "1.00", "out": "10.00", "currency": "EUR"}


@dataclass
class Oracle:
    """The simulator's model, as a test scripts it and looks at what it was asked."""

    engine: Engine
    outside: Outside

    def says(self, kind: str, *, times: int | None = 1, **more: Any) -> None:
        order = {"kind": kind, "times": times, **more}
        self.outside.ask("POST", "/model/answers", order).raise_for_status()

    def fails(self, kind: str, *, times: int | None = 1, **fault: Any) -> None:
        """What goes wrong with the server, not with its words."""
        self.outside.script(kind, path=ADDRESS, times=times, **fault)

    def asked(self) -> list[dict[str, Any]]:
        """The bodies of the requests that reached it, oldest first."""
        return [one["body"] for one in self.outside.ask("GET", "/model/requests").json()["requests"]]

    def log(self) -> str:
        return self.outside.ask("GET", "/model/requests").text

    def chosen(
        self, proposer: str = "model", *, process: str = "restore_access", rules_take_over: bool = False
    ) -> None:
        choose_proposer(
            organisation=self.engine.organisation,
            process=process,
            proposer=proposer,
            rules_take_over=rules_take_over,
            by=SYSTEM,
        )


@pytest.fixture
def oracle(engine: Engine, settings: Any) -> Iterator[Oracle]:
    settings.CASEFLOW_MODELS = {
        "main": {"url": f"{engine.outside.url}/v1", "model": "simulated-1", "seconds": 0.7, "prices": PRICES}
    }
    found = Oracle(engine, engine.outside)
    for path in ("/model/answers", "/model/requests"):
        engine.outside.ask("DELETE", path).raise_for_status()
    found.chosen()
    yield found
    engine.outside.ask("DELETE", "/model/answers")


def calls_of(story: Story) -> list[ModelCall]:
    return list(ModelCall.objects.filter(case_id=story.id).order_by("id"))
