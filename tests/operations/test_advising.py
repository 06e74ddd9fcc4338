"""What models, rules and people let through is what the rows of requests, proposals and decisions say (H8)."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.principal import SYSTEM
from approvals.choosing import choose_proposer
from approvals.models import Decision, ModelCall, Proposal
from operations.indicators import advising
from operations.indicators.scope import PLATFORM, Scope, Window, scope_of
from tests.driving import Engine, engine, simulator
from tests.factories import make_organisation, make_person

__all__ = ["engine", "simulator"]
PRICES = {"in": "10", "out": "20", "currency": "EUR"}


@pytest.fixture
def advised(engine: Engine, settings: Any) -> Engine:
    """A model proposes; its answers are good until a test says otherwise."""
    engine.outside.ask("DELETE", "/model/answers")
    url = f"{engine.outside.url}/v1"
    settings.CASEFLOW_MODELS = {"main": {"url": url, "model": "simulated", "prices": PRICES}}
    choose(engine, "model:main")
    return engine


def choose(engine: Engine, proposer: str, **how: Any) -> None:
    told = {"rules_take_over": False, "by": SYSTEM} | how
    choose_proposer(organisation=engine.organisation, process="restore_access", proposer=proposer, **told)


def answers(engine: Engine, kind: str, times: int | None = 1) -> None:
    engine.outside.ask("POST", "/model/answers", {"kind": kind, "times": times}).raise_for_status()


def test_questions_answers_and_decisions_are_counted_as_the_rows_tell_them(advised: Engine) -> None:
    advised.proposed().decide()
    advised.proposed().decide("reject", next="by_hand")
    answers(advised, "wrong_decision")
    advised.proposed().decide("return", person=advised.person("second"))
    answers(advised, "invalid_json", times=3)
    assert advised.open().run() is None
    choose(advised, "explained:main")
    advised.proposed()
    choose(advised, "rules")
    advised.proposed()

    for scope in (PLATFORM, Scope((advised.organisation.pk,))):
        with CaptureQueriesContext(connection) as asked:
            records = {row.proposer: row for row in advising.measure_proposers(scope, Window.DAY)}
        assert len(asked) == 2
        assert set(records) == {"model:main", "explained:main", "rules"}
        people_say_what_the_rows_say(records)
        requests_are_counted_as_they_are_stored(records)
        (model,) = records["model:main"].asked
        assert (model.questions, model.accepted, model.mended, model.refused) == (4, 3, 1, 1)
        assert (model.refused_answers, model.requests, model.unfinished, model.refused_share) == (4, 7, 0, 0.25)
        assert records["rules"].asked == () and records["explained:main"].asked[0].accepted == 1
        refused = {(row.proposer, row.code): row.answers for row in advising.count_refused_answers(scope, Window.DAY)}
        assert refused == {("model:main", "rule_differs"): 1, ("model:main", "not_json"): 3}
        assert advising.count_take_overs(scope, Window.DAY) == []


def people_say_what_the_rows_say(records: dict[str, advising.ProposerRecord]) -> None:
    for name, record in records.items():
        judged = record.judged
        assert judged is not None
        rows = Proposal.objects.filter(proposer=name, needs_approval=True)
        said = Counter(Decision.objects.filter(proposal__in=rows, decisive=True).values_list("kind", flat=True))
        assert (judged.made, judged.approved, judged.rejected, judged.returned) == (
            rows.count(),
            said["approve"],
            said["reject"],
            said["return"],
        )


def requests_are_counted_as_they_are_stored(records: dict[str, advising.ProposerRecord]) -> None:
    for kind, prompt in (("model", "decide-1"), ("explained", "explain-1")):
        rows = list(ModelCall.objects.filter(prompt_version=prompt))
        (asked,) = records[f"{kind}:main"].asked
        assert (asked.model, asked.prompt_version, asked.currency) == ("simulated", prompt, "EUR")
        assert asked.requests == len(rows)
        assert asked.questions == len({row.task_id for row in rows})
        assert (asked.tokens_in, asked.tokens_out) == (
            sum(row.tokens_in or 0 for row in rows),
            sum(row.tokens_out or 0 for row in rows),
        )
        assert asked.cost == sum((row.cost or Decimal(0) for row in rows), Decimal(0)) > 0
        durations = sorted(row.duration_ms or 0 for row in rows)
        assert asked.median is not None and asked.median.total_seconds() * 1000 == durations[(len(rows) - 1) // 2]


def test_what_nobody_answered_and_where_the_rules_took_over_is_told_apart(advised: Engine) -> None:
    choose(advised, "explained:main")
    advised.outside.script("error_before", path="/v1/chat/completions", times=1)
    advised.proposed()
    (asked,) = advising.measure_models(PLATFORM, Window.DAY)
    (call,) = ModelCall.objects.all()
    assert (asked.questions, asked.unserved, asked.accepted, asked.refused_share) == (1, 1, 0, 0.0)
    assert (asked.median, asked.cost) == (None, call.cost)
    (taken,) = advising.count_take_overs(PLATFORM, Window.DAY)
    assert (taken.process, taken.mode, taken.proposals) == ("restore_access", "explained", 1)
    assert taken.code == call.code


def test_nothing_of_another_organisation_is_counted(advised: Engine) -> None:
    answers(advised, "wrong_decision")
    advised.proposed()
    scope = scope_of(make_person("stranger", make_organisation("globex"), "operator"))
    assert advising.measure_proposers(scope, Window.DAY) == []
    assert advising.count_refused_answers(scope, Window.DAY) == []
