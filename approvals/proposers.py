"""Who proposes. The rules are the default; a model may propose too, and is checked the same way (requirement B)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from caseflow.domain.process import Facts, IntakeBody, Process

from .answers import Answer, Journal, NoJournal


class Proposer(Protocol):
    """`propose` returns evidence, never a status.

    `texts` are the personal texts of the case by field name (`intake.claim`, `fact.customer.email`), for those values
    of `facts` and `intake` that are references; outside a case plain values do as well. Raises ReadFailed when the
    provider of a model does not serve us.
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def prompt_version(self) -> str: ...

    def propose(
        self,
        *,
        process: Process,
        facts: Facts,
        intake: IntakeBody,
        texts: Mapping[str, str] = {},
        journal: Journal = NoJournal(),  # noqa: B008  # it keeps nothing
    ) -> Answer: ...


class Rules:
    """The process's own business rule; no network."""

    name = "rules"
    model = ""
    prompt_version = ""

    def propose(
        self,
        *,
        process: Process,
        facts: Facts,
        intake: IntakeBody,
        texts: Mapping[str, str] = {},
        journal: Journal = NoJournal(),  # noqa: B008
    ) -> Answer:
        return Answer(proposed=process.decide(facts=facts, intake=intake))


_PROPOSERS: dict[str, Proposer] = {"rules": Rules()}


def find_local(name: str) -> Proposer | None:
    """A proposer that needs no network."""
    return _PROPOSERS.get(name)


def proposer_for(name: str) -> Proposer:
    """`rules`, `model`, `explained`, with a provider and a prompt version where wanted: `model:main@decide-2`.

    Raises KeyError for a kind, provider or prompt that this installation does not have.
    """
    if name in _PROPOSERS:
        return _PROPOSERS[name]
    from .model_proposers import model_proposer  # its settings are read when a model is asked for

    return model_proposer(name)
