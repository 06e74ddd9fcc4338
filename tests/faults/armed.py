"""The harness's side of the folder of armed places (see `caseflow.settings_faults`)."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

HOLD = 55.0  #: seconds; shorter than any stage's limit and than PostgreSQL's patience with an idle transaction


class Armed:
    """Arms places, lets go of who is held there, and reads who came by."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = itertools.count(1)
        for name in ("armed", "taken"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def arm(
        self, place: str, *who: str, action: str = "hold", seconds: float = HOLD, times: int = 1, after: int = 0
    ) -> str:
        """Arm `times` hits at `place` for whoever all of `who` applies to, after `after` passed; the last name."""
        name = ""
        for hit in range(after + times):
            order = {"action": "pass" if hit < after else action, "seconds": seconds}
            name = f"{next(self._numbers):06d}~{place}~{'+'.join(who)}.json"
            scratch = self.folder / name
            scratch.write_text(json.dumps(order))
            scratch.rename(self.folder / "armed" / name)  # seen whole or not at all
        return name

    def hits(self) -> list[dict[str, Any]]:
        """Who came by an armed place, in order."""
        try:
            text = (self.folder / "hits.jsonl").read_text()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    def hit(self, name: str) -> dict[str, Any] | None:
        """The hit of one armed place, once it happened."""
        if not (self.folder / "taken" / name).exists():
            return None
        return next((hit for hit in self.hits() if hit["file"] == name), None)

    def release(self, name: str) -> None:
        """Let the thread that is held there go on."""
        (self.folder / "taken" / f"{name}.go").touch()

    def clear(self) -> None:
        """Disarm what nobody came by, let everybody go on."""
        for armed in (self.folder / "armed").iterdir():
            armed.unlink(missing_ok=True)
        for taken in (self.folder / "taken").glob("*.json"):
            self.release(taken.name)
