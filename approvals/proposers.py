"""Who proposes. The rules are the default; a model may propose too, and is checked the same way (requirement B)."""

from __future__ import annotations

from typing import Protocol

from caseflow.domain.process import Facts, IntakeBody, Process, Proposed


class Proposer(Protocol):
    """`propose` returns evidence, never a status."""

    name: str
    model: str
    prompt_version: str

    def propose(self, *, process: Process, facts: Facts, intake: IntakeBody) -> Proposed: ...


class Rules:
    """The process's own business rule; no network."""

    name = "rules"
    model = ""
    prompt_version = ""

    def propose(self, *, process: Process, facts: Facts, intake: IntakeBody) -> Proposed:
        return process.decide(facts=facts, intake=intake)


_PROPOSERS: dict[str, Proposer] = {"rules": Rules()}


def proposer_named(name: str) -> Proposer:
    """Raises KeyError."""
    return _PROPOSERS[name]
