"""Every plan a process can make, found without facts: each comparison with an unknown value is answered both ways.

A value that was equal to one constant is equal to no other, so only plans that some facts could lead to are found. A
process that calculates with its facts cannot be tried like this, and says so by an error of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from caseflow.domain.process import Plan, Process

MAX_PATHS = 5_000  #: ways through one process that are tried; more are left out


def possible_plans(process: Process) -> Iterator[tuple[str, Plan]]:
    """(decision, plan) for every way through `decide` and `plan`. Raises whatever these raise on unknown values."""
    waiting: list[list[bool]] = [[]]
    for _path in range(MAX_PATHS):
        if not waiting:
            return
        answers = Answers(waiting.pop())
        facts = {source.name: _Fact(source.name, answers) for source in process.facts}
        intake = {name: Unknown(f"intake.{name}", answers) for name in process.Intake.model_fields}
        proposed = process.decide(facts=facts, intake=intake)
        if proposed.decision in process.endings:
            plan = process.plan(decision=proposed.decision, facts=facts, intake=intake, effects=())
        else:
            plan = Plan()
        yield proposed.decision, plan
        given = len(answers.script)
        waiting += [[*answers.taken[:at], not answers.taken[at]] for at in range(given, len(answers.taken))]


class Answers:
    """What is assumed of the unknown values on one way: first what the script says, then always "equal"."""

    def __init__(self, script: list[bool]) -> None:
        self.script = script
        self.taken: list[bool] = []
        self._equal: dict[str, object] = {}
        self._different: set[tuple[str, object]] = set()

    def are_equal(self, path: str, other: object) -> bool:
        if path in self._equal:
            return self._equal[path] == other
        if (path, other) in self._different:
            return False
        at = len(self.taken)
        answer = self.script[at] if at < len(self.script) else True
        self.taken.append(answer)
        if answer:
            self._equal[path] = other
        else:
            self._different.add((path, other))
        return answer


class Unknown(str):
    """A text nobody knows. Two of them may be equal, too; one name stands for one value."""

    __slots__ = ("answers", "path")
    path: str
    answers: Answers

    def __new__(cls, path: str, answers: Answers) -> Unknown:
        value = super().__new__(cls, path)
        value.path, value.answers = path, answers
        return value

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Unknown):
            first, second = sorted((self.path, other.path))
            return first == second or self.answers.are_equal(f"{first} = {second}", True)
        return self.answers.are_equal(self.path, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return 0  # so that a set has to compare


class _Fact(Mapping[str, Any]):
    """A fact in which every name has an unknown value."""

    def __init__(self, name: str, answers: Answers) -> None:
        self._name, self._answers = name, answers

    def __getitem__(self, name: str) -> Any:
        return Unknown(f"{self._name}.{name}", self._answers)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
