"""Proposers that ask a language model: it decides, or it only explains what the rules decided (requirement B).

One question and at most two repairs, to which the errors are sent along. What comes of it is an `Answer`; only a server
that does not serve us is an error.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

from caseflow.domain.outcomes import ReadFailed
from caseflow.domain.process import Facts, IntakeBody, Process
from integrations.chat import Provider, Said, complete, get_provider, most_cost

from .answer_rules import (
    SCHEMA_VERSION,
    Ground,
    check_decision,
    check_explanation,
    schema_of,
)
from .answers import Answer, Asking, Call, Journal, NoJournal, Problem
from .prompting import DECIDE, EXPLAIN, VERSION, Prompt, find_prompt, newest_prompt
from .telling import Told, tell

MODEL, EXPLAINED = "model", "explained"
KINDS = {MODEL: DECIDE, EXPLAINED: EXPLAIN}
REPAIRS = 2  #: requests after the first one, each with the errors of the answer before
_ODD = {
    "not_json": "the server's answer could not be read",
    "no_words": "the answer held no text",
    "refused": "answer the question; it is about the facts of a case",
    "too_large": "the answer was too long",
}


@dataclass(frozen=True, slots=True)
class ModelProposer:
    """`model:main@decide-1`: its kind, where it is asked, and with which prompt ("" is the newest)."""

    kind: str
    provider: Provider
    prompt: str = ""
    repairs: int = REPAIRS

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.provider.name}"

    @property
    def model(self) -> str:
        return self.provider.model

    @property
    def prompt_version(self) -> str:
        return self.prompt

    @property
    def explains(self) -> bool:
        return self.kind == EXPLAINED

    def prompt_for(self, process: Process) -> Prompt:
        """Raises KeyError."""
        return find_prompt(process, self.prompt) if self.prompt else newest_prompt(process, KINDS[self.kind])

    def propose(
        self,
        *,
        process: Process,
        facts: Facts,
        intake: IntakeBody,
        texts: Mapping[str, str] = {},
        journal: Journal = NoJournal(),  # noqa: B008  # it keeps nothing
    ) -> Answer:
        """Raises ReadFailed where the provider does not serve us, KeyError for a process without such a prompt."""
        prompt, ruled = self.prompt_for(process), process.decide(facts=facts, intake=intake)
        more: dict[str, Any]
        if self.explains:
            more = {"decision": {ruled.decision: process.endings[ruled.decision].sentence}}
        else:
            more = {"decisions": {name: ending.sentence for name, ending in process.endings.items()}}
        told = tell(process, facts, intake, texts, fence=secrets.token_hex(8), more=more)
        ground = Ground(process, facts, intake, told, ruled)
        return self._converse(prompt, ground, told, journal)

    def _converse(self, prompt: Prompt, ground: Ground, told: Told, journal: Journal) -> Answer:
        messages = [{"role": "system", "content": prompt.text}, {"role": "user", "content": told.document}]
        schema, answer = schema_of(ground.process, explains=self.explains), Answer()
        calls: list[Call] = []
        for repair in range(self.repairs + 1):
            said, call = self._ask(messages, schema, self._asking(prompt, messages, repair), journal)
            answer = self._checked(ground, said)
            outcome = "invalid" if answer.problems else "missing" if answer.missing else "answered"
            call = replace(call, outcome=outcome, problems=answer.problems)
            journal.end(call)
            calls.append(call)
            if not answer.problems:
                break
            messages = [*messages, *_repair(said, answer.problems)]
        return replace(answer, calls=tuple(calls), placeholders=told.placeholders)

    def _ask(
        self, messages: list[dict[str, str]], schema: Mapping[str, Any], asking: Asking, journal: Journal
    ) -> tuple[Said, Call]:
        journal.begin(asking)
        began = time.monotonic()
        try:
            said = complete(self.provider, messages, schema=schema, call_id=asking.call_id)
        except ReadFailed as failure:
            duration = timedelta(seconds=time.monotonic() - began)
            # A request that got no whole answer may have been worked on all the same.
            free = failure.code in NOT_SENT if failure.status is None else failure.status in FREE
            cost = asking.cost_limit * 0 if free else asking.cost_limit
            journal.end(Call(asking, "failed", code=failure.code, status=failure.status, cost=cost, duration=duration))
            raise
        duration = timedelta(seconds=time.monotonic() - began)
        counted = said.tokens_in is not None and said.tokens_out is not None
        cost = self.provider.prices.of(said.tokens_in or 0, said.tokens_out or 0) if counted else asking.cost_limit
        return said, Call(
            asking,
            "answered",
            raw=said.raw,
            status=said.status,
            finish_reason=said.finish_reason,
            tokens_in=said.tokens_in,
            tokens_out=said.tokens_out,
            cost=cost,
            duration=duration,
        )

    def _asking(self, prompt: Prompt, messages: list[dict[str, str]], repair: int) -> Asking:
        return Asking(
            call_id=str(uuid4()),
            provider=self.provider.name,
            model=self.provider.model,
            prompt_version=prompt.version,
            prompt_digest=prompt.digest,
            schema_version=SCHEMA_VERSION,
            parameters={**self.provider.parameters, "max_tokens": self.provider.most_tokens},
            repair=repair,
            cost_limit=most_cost(self.provider, messages),
            currency=self.provider.prices.currency,
        )

    def _checked(self, ground: Ground, said: Said) -> Answer:
        if said.text is None:
            return Answer(problems=(Problem(said.odd, told=_ODD[said.odd]),))
        if said.finish_reason not in ("", "stop"):
            return Answer(problems=(Problem("cut_off", told="the answer was not complete; answer more briefly"),))
        check = check_explanation if self.explains else check_decision
        return check(ground, said.text)


#: Codes of our own for what never reached the provider.
NOT_SENT = frozenset(
    {"connection_refused", "no_connection", "connect_timeout", "host_not_allowed", "cannot_be_asked", "lease_over"}
)
#: Statuses that a provider answers before a model works. The code in such an answer is its own and says nothing.
FREE = frozenset({400, 401, 403, 404, 422, 429})


def model_proposer(name: str) -> ModelProposer:
    """`model`, `explained:main`, `model:main@decide-2`. Raises KeyError for a kind or provider that is not there."""
    kind, provider, prompt = parts_of(name)
    if kind not in KINDS or ("@" in name and not _fits(kind, prompt)):
        raise KeyError(name)
    return ModelProposer(kind, get_provider(provider), prompt)


def parts_of(name: str) -> tuple[str, str, str]:
    """(kind, provider, prompt), "" for what the name leaves out."""
    whole, _, prompt = name.partition("@")
    kind, _, provider = whole.partition(":")
    return kind, provider, prompt


def _fits(kind: str, prompt: str) -> bool:
    found = VERSION.fullmatch(prompt)
    return found is not None and found.group(1) == KINDS[kind]


def _repair(said: Said, problems: tuple[Problem, ...]) -> list[dict[str, str]]:
    """The answer as it came, and what is wrong with it."""
    errors = json.dumps([problem.told for problem in problems], ensure_ascii=False)
    order = f"Your answer was not accepted. Errors: {errors}\nAnswer again with one whole JSON object."
    return [{"role": "assistant", "content": said.raw[:4000] or "(nothing)"}, {"role": "user", "content": order}]
