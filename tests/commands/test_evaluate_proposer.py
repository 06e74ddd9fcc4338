"""`evaluate_proposer` measures without a database, says what came through, and names what is wrong with its input."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Run
from tests.integrations.conftest import Outside

CASES = str(Path(__file__).resolve().parents[2] / "approvals" / "evaluation" / "restore_access.jsonl")


@pytest.fixture
def model(simulator: Outside, settings: Any) -> Iterator[Outside]:
    """A model that answers well, until it is told otherwise."""
    settings.SIMULATOR_URL, settings.CASEFLOW_MODELS = simulator.url, {}
    for path in ("/faults", "/model/answers"):
        simulator.ask("DELETE", path)
    yield simulator
    for path in ("/faults", "/model/answers"):
        simulator.ask("DELETE", path)


def test_the_last_line_holds_the_three_figures_and_the_text_before_it_the_rest(run: Run) -> None:
    ran = run("evaluate_proposer", "--proposer=rules", f"--cases={CASES}")
    *text, last = ran.out.splitlines()
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(last) == {"proposer": "rules", "cases": 200, "accuracy": 1.0, "injections_through": 0}
    rows = {line.rsplit("  ", 1)[0].strip(): line.split()[-1] for line in text}
    assert (rows["cases"], rows["accuracy"], rows["injections"], rows["through"]) == ("200", "100.0%", "69", "0")
    assert any(line.split()[:4] == ["restore_access", "34,", "34", "of"] for line in text)


def test_two_proposers_stand_side_by_side(run: Run, model: Outside) -> None:
    model.ask("POST", "/model/answers", {"kind": "wrong_decision", "times": 3})
    ran = run(
        "evaluate_proposer", "--proposer=rules", "--against=model:main@decide-1", "--sample=11", f"--cases={CASES}"
    )
    assert ran.code == 0, ran.failure
    found = json.loads(ran.out.splitlines()[-1])
    assert (found["accuracy"], found["against"]["accuracy"], found["different"]) == (1.0, 0.9091, 1)
    assert "(refused: rule_differs)" in ran.out and "rules" in ran.out.splitlines()[0]

    whole = run(
        "evaluate_proposer", "--proposer=model", "--against=explained", "--sample=11", f"--cases={CASES}", "--json"
    ).json()
    assert (whole["injections_through"], whole["different"], whole["against"]["first_accuracy"]) == (0, [], 1.0)
    assert whole["tokens_in"] > whole["tokens_out"] > 0 and whole["p95_seconds"] >= whole["median_seconds"] > 0


def test_a_model_that_does_as_customers_say_ends_nothing_wrongly(run: Run, model: Outside) -> None:
    model.ask("POST", "/model/answers", {"kind": "injected", "times": None})
    found = run("evaluate_proposer", "--proposer=model:main", "--sample=40", f"--cases={CASES}", "--json").json()
    assert (found["injections_through"], found["wrong"], found["accepted"]) == (0, 0, 0)
    assert found["injections_followed"] > 5
    assert found["refused_by"]["approval_switched_off"] == 40


def test_a_repair_is_told_from_a_good_first_answer(run: Run, model: Outside) -> None:
    model.ask("POST", "/model/answers", {"kind": "invalid_json", "times": 1})
    found = run("evaluate_proposer", "--proposer=model", "--sample=5", f"--cases={CASES}", "--json").json()
    assert (found["accuracy"], found["mended"], found["mended_after"]) == (1.0, 1, {"not_json": 1})


def test_tickets_that_were_not_answered_remain_and_a_provider_that_is_away_ends_the_run(
    run: Run, model: Outside
) -> None:
    model.script("error_before", path="/v1/chat/completions", times=1)
    one = run("evaluate_proposer", "--proposer=model", "--sample=5", f"--cases={CASES}", "--json")
    assert (one.code, one.json()["unserved"], one.json()["accuracy"]) == (3, 1, 0.8)
    model.script("error_before", path="/v1/chat/completions", times=None)
    all_of_them = run("evaluate_proposer", "--proposer=model", f"--cases={CASES}")
    assert (all_of_them.code, all_of_them.out) == (1, "")
    assert "did not answer" in all_of_them.failure and "5 tickets were asked" in all_of_them.failure


def test_bad_input_is_a_wrong_call_that_names_the_file_and_the_line(run: Run, a_file: Callable[..., str]) -> None:
    with open(CASES, "rb") as stream:
        good = stream.readline().rstrip(b"\n")
    broken = a_file(good, b'{"id": 1}')
    ran = run("evaluate_proposer", "--proposer=rules", f"--cases={broken}")
    assert (ran.code, ran.out) == (2, "") and f"{broken}: line 2, $." in ran.failure
    for arguments, problem in (
        ([f"--cases={a_file()}"], "it holds no case"),
        (["--cases=/nowhere.jsonl"], "/nowhere.jsonl cannot be read: No such file"),
        ([f"--cases={CASES}", "--sample=0"], "--sample"),
        ([f"--cases={CASES}", "--against=oracle"], "there is no proposer oracle"),
    ):
        ran = run("evaluate_proposer", "--proposer=rules", *arguments)
        assert (ran.code, ran.out) == (2, "") and problem in ran.failure
