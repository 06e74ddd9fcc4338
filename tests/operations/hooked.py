"""A hook, a program that listens, and the regular work that tells it."""

from __future__ import annotations

import json
from typing import Any

from accounts.principal import SYSTEM
from operations.hook_models import Hook
from operations.hooks import Wanted, create_hook
from operations.spreading_hooks import spread_portion
from tests.driving import Engine
from tests.integrations.between import Asked, Between
from tests.steps import run_due

ALL = ("opened", "changed", "attention", "closed")


def listen(engine: Engine, line: Between, *, kinds: tuple[str, ...] = ALL, name: str = "desk") -> tuple[Hook, str]:
    wanted = Wanted(name=name, channel="webhook", kinds=kinds, url=f"{line.url}/hook?tenant=7")
    return create_hook(organisation=engine.organisation, wanted=wanted, by=SYSTEM)


def tell(engine: Engine, *, rounds: int = 12) -> None:
    """The regular reading, then every delivery that is due, and those that had to wait in line."""
    spread_portion(engine.organisation.pk)
    for _ in range(rounds):
        due_now(engine)
        if not run_due(stage="tell_hook"):
            return


def due_now(engine: Engine) -> None:
    engine.owner.execute(
        "UPDATE cases_task SET available_at = clock_timestamp() WHERE stage = 'tell_hook' AND status = 'due'"
    )


def told(line: Between) -> list[dict[str, Any]]:
    return [json.loads(one.body)["data"] for one in line.asked]


def ids(asked: list[Asked]) -> list[str]:
    return [one.headers["webhook-id"] for one in asked]
