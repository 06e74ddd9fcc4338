"""How much of what a model says holds: refused by rules, mended, given up, and what it takes (H8, requirement B5).

A question is one task of the stage that asks a model; its first request and its repairs belong to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from .judging import ProposalsJudged, measure_proposals
from .scope import SINCE, Scope, Span, Window, ask, within


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """Questions to one model with one prompt, by how their last answer ended. Costs are in one currency; what nobody
    counted costs the most that it can have cost."""

    process: str
    proposer: str  #: as proposals name it, such as model:main
    model: str
    prompt_version: str
    currency: str
    questions: int
    accepted: int
    mended: int  #: of the accepted ones: after an answer that the checks refused
    refused: int  #: every answer was refused, the repairs too
    missing: int  #: it asked for another check
    unserved: int  #: the provider failed, or the worker was lost
    requests: int
    refused_answers: int
    tokens_in: int
    tokens_out: int
    cost: Decimal
    median: timedelta | None  #: of one answered request
    p95: timedelta | None

    @property
    def unfinished(self) -> int:
        return self.questions - self.accepted - self.refused - self.missing - self.unserved

    @property
    def refused_share(self) -> float:
        """Of the questions that were answered, those that the rules let nothing through of; 0…1."""
        answered = self.accepted + self.refused
        return self.refused / answered if answered else 0.0


@dataclass(frozen=True, slots=True)
class AnswersRefused:
    """Answers that one check refused. One answer may break several."""

    process: str
    proposer: str
    model: str
    prompt_version: str
    code: str
    answers: int


@dataclass(frozen=True, slots=True)
class TookOver:
    """Proposals that the rules made, or that went without words, in the place of a model."""

    process: str
    mode: str
    code: str
    proposals: int


@dataclass(frozen=True, slots=True)
class ProposerRecord:
    """One proposer with one prompt: what rules and what people let through of it. `asked` is None for the rules."""

    process: str
    proposer: str
    model: str
    prompt_version: str
    asked: Sequence[ModelAsked]  #: one for each currency
    judged: ProposalsJudged | None  #: None where no proposal for people came of it


#: A prompt that explains belongs to a proposer that explains: the name that proposals carry.
_PROPOSER = "(CASE WHEN m.prompt_version LIKE 'explain-%%' THEN 'explained:' ELSE 'model:' END) || m.provider"

_REQUESTS = f"""
request AS (
  SELECT c.process, {_PROPOSER} AS proposer, m.model, m.prompt_version, m.currency, m.task_id, m.id, m.outcome,
         coalesce(m.tokens_in, 0) AS tokens_in, coalesce(m.tokens_out, 0) AS tokens_out,
         coalesce(m.cost, m.cost_limit) AS cost, m.duration_ms, m.problems
  FROM approvals_modelcall m JOIN cases_case c ON c.id = m.case_id
  WHERE m.begun_at > {SINCE} AND {within("c.organisation_id")})
"""

_ASKED = f"""
WITH {_REQUESTS}, question AS (
  SELECT process, proposer, model, prompt_version, currency, (array_agg(outcome ORDER BY id DESC))[1] AS ended,
         bool_or(outcome = 'invalid') AS was_refused
  FROM request GROUP BY process, proposer, model, prompt_version, currency, task_id),
ended AS (
  SELECT process, proposer, model, prompt_version, currency, count(*) AS questions,
         count(*) FILTER (WHERE ended = 'answered') AS accepted,
         count(*) FILTER (WHERE ended = 'answered' AND was_refused) AS mended,
         count(*) FILTER (WHERE ended = 'invalid') AS refused,
         count(*) FILTER (WHERE ended = 'missing') AS missing,
         count(*) FILTER (WHERE ended IN ('failed', 'lost')) AS unserved
  FROM question GROUP BY process, proposer, model, prompt_version, currency),
taken AS (
  SELECT process, proposer, model, prompt_version, currency, count(*) AS requests,
         count(*) FILTER (WHERE outcome = 'invalid') AS refused_answers,
         sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out, sum(cost) AS cost,
         percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms)
           FILTER (WHERE outcome NOT IN ('', 'failed', 'lost')) AS median,
         percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms)
           FILTER (WHERE outcome NOT IN ('', 'failed', 'lost')) AS p95
  FROM request GROUP BY process, proposer, model, prompt_version, currency)
SELECT process, proposer, model, prompt_version, currency, questions, accepted, mended, refused, missing, unserved,
       requests, refused_answers, tokens_in, tokens_out, cost, median, p95
FROM ended JOIN taken USING (process, proposer, model, prompt_version, currency) ORDER BY 1, 2, 3, 4, 5
"""

_REFUSED = f"""
WITH {_REQUESTS}
SELECT process, proposer, model, prompt_version, problem ->> 'code', count(DISTINCT request.id)
FROM request CROSS JOIN jsonb_array_elements(problems) AS problem WHERE outcome = 'invalid'
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 6 DESC, 5
"""

_TOOK_OVER = f"""
SELECT c.process, a.mode, a.took_over, count(*)
FROM approvals_advice a JOIN approvals_proposal p ON p.id = a.proposal_id JOIN cases_case c ON c.id = p.case_id
WHERE a.took_over <> '' AND a.at > {SINCE} AND {within("c.organisation_id")} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""


def measure_models(scope: Scope, window: Span) -> list[ModelAsked]:
    """By process, model, prompt and currency; one query."""
    rows = ask(_ASKED, scope, window)
    return [ModelAsked(*row[:-2], *(_span(milliseconds) for milliseconds in row[-2:])) for row in rows]


def count_refused_answers(scope: Scope, window: Window) -> list[AnswersRefused]:
    """By model, prompt and check; one query."""
    return [AnswersRefused(*row) for row in ask(_REFUSED, scope, window)]


def count_take_overs(scope: Scope, window: Window) -> list[TookOver]:
    """One query."""
    return [TookOver(*row) for row in ask(_TOOK_OVER, scope, window)]


def measure_proposers(scope: Scope, window: Window) -> list[ProposerRecord]:
    """Rules and people side by side, for each proposer, model and prompt; two queries."""
    asked: dict[tuple[str, str, str, str], list[ModelAsked]] = {}
    for one in measure_models(scope, window):
        asked.setdefault((one.process, one.proposer, one.model, one.prompt_version), []).append(one)
    judged = {
        (one.process, one.proposer, one.model, one.prompt_version): one for one in measure_proposals(scope, window)
    }
    return [ProposerRecord(*key, asked.get(key, ()), judged.get(key)) for key in sorted(asked.keys() | judged.keys())]


def _span(milliseconds: int | None) -> timedelta | None:
    return None if milliseconds is None else timedelta(milliseconds=milliseconds)
