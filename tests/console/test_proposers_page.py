"""Rules, models and people: the page says what the rows say, to who may see them, and in a file the same."""

from __future__ import annotations

import re
from typing import Any

from accounts.principal import SYSTEM
from approvals.choosing import choose_proposer
from operations.indicators import advising
from operations.indicators.scope import Window, scope_of
from tests.console.seeing import Desks, outsider
from tests.console.test_exports import export, on_record, taken
from tests.console.test_metrics import numbers, section
from tests.driving import Engine

PAGE = "/console/metrics/proposers/"


def test_the_page_says_what_rules_and_people_let_through_of_a_model(engine: Engine, desk: Desks, settings: Any) -> None:
    settings.CASEFLOW_MODELS = {}
    reader = desk()
    assert "There is nothing to measure yet" in reader.get(PAGE).text
    engine.proposed().decide()
    empty = reader.get(PAGE).text
    assert "No model was asked in this time." in empty and "No answer was refused in this time." in empty
    told = {"organisation": engine.organisation, "process": "restore_access", "by": SYSTEM}
    choose_proposer(**told, proposer="model:main", rules_take_over=False)
    engine.outside.ask("DELETE", "/model/answers")
    engine.outside.ask("POST", "/model/answers", {"kind": "wrong_decision"})
    engine.proposed()

    page = reader.get(PAGE)
    (asked,) = advising.measure_models(scope_of(engine.approver), Window.DAY)
    assert (asked.questions, asked.mended, asked.refused_answers) == (1, 1, 1)
    by_rules = section(page, "by-rules")
    assert "model simulated, main, decide-1" in by_rules and "0.0 %" in by_rules
    for column, value in (("Questions", 1), ("Accepted", 1), ("After mending", 1), ("Refused by rules", 0)):
        assert numbers(by_rules, column) == [value], column
    assert "The business rule does not allow this decision" in section(page, "checks")
    assert numbers(section(page, "by-people"), "Approved") == [0, 1]
    assert numbers(section(page, "spent"), "Tokens sent") == [asked.tokens_in]
    assert page.inline == [] and 'href="/console/metrics/proposers/?"' in reader.get("/console/metrics/").html

    rows = taken(export(reader, "proposers", "window=7d"))
    shown = re.findall(r'<td data-label="(.*?)" class="number">', reader.get(PAGE + "?window=7d").html)
    assert [row["Column"] for row in rows] == shown
    assert on_record(engine.organisation.pk)[-1]["what"] == "proposers"
    in_russian = desk(language="ru").get(PAGE).text
    assert "Что пропустили проверки" in in_russian and "модель simulated, main, decide-1" in in_russian

    stranger = outsider(engine, desk)
    assert "<table" not in stranger.get(PAGE).html and "<table" not in stranger.get(f"{PAGE}?organisation=acme").html
    assert "You see the cases of no organisation." in desk("nobody").get(PAGE).text
