"""What came of one scenario, as the report lists it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Result:
    """One row of failures.md §1 hit once. `problem` is empty when what must hold held."""

    row: str
    scenario: str
    place: str = ""
    attempt: str = ""  #: first, second, last where the row is shown for each
    mode: str = ""  #: who recovers
    case: str = ""
    external_id: str = ""
    pid: int | None = None
    role: str = ""
    exit_status: int | str | None = None  #: of the process at the point: 137 is kill -9
    recovered_by: str = ""  #: host:pid:thread of the attempt that went on
    recovered_role: str = ""
    seconds: float = 0.0  #: from the fault to the next attempt
    state: str = ""
    problem: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool:
        return not self.problem

    def shown(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in ("", None, [])} | {
            "held": self.held
        }

    def line(self) -> str:
        words = [self.row, self.attempt, self.mode, self.scenario, "ok" if self.held else f"FAILED: {self.problem}"]
        return "  ".join(filter(None, words))
