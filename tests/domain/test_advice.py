"""Every reason for which the engine can stop a case has words, a turn and one recommended step."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from caseflow.domain import words
from caseflow.domain.advice import ADVICE, NOT_IN_DOUBT, OTHER, STEPS, TURNS, Step, Turn, advice_for
from caseflow.domain.process import EndingKind
from caseflow.processes.restore_access import RestoreAccess

ROOT = Path(__file__).parents[2]
#: Calls that name a reason, with the place of the argument.
NAMED_BY = {"GiveUp": 0, "exhaust": 0, "to_person": 3, "_ask_again": 2, "_refused": 4}


def literals(node: ast.AST) -> Iterator[str]:
    """The texts that an expression may stand for."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from literals(value)


def reasons_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "reason":
                    yield from literals(value)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("reason", "said", "_WAYS_ON"):
            yield from literals(node.value)
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in NAMED_BY and len(node.args) > NAMED_BY[name]:
                yield from literals(node.args[NAMED_BY[name]])


def engine_reasons() -> set[str]:
    """Every reason that the code of the engine names, and those that the statement of `claim` gives back."""
    found: set[str] = set()
    rooms = [path for room in ("cases", "approvals", "actions") for path in (ROOT / room).glob("*.py")]
    for path in [*rooms, ROOT / "caseflow" / "domain" / "retry.py"]:
        found |= {reason for reason in reasons_in(ast.parse(path.read_text())) if re.fullmatch(r"[a-z_]+", reason)}
    statement = (ROOT / "cases" / "claiming.py").read_text()
    return found | set(re.findall(r"THEN '(worker_lost|deadline_passed|attempts_exhausted)'", statement))


#: Why a call was not begun, and what an event of a busy subject says: none of them is why a case stopped.
NOT_OF_CASES = {"approval_lapsed"}


def test_the_search_finds_what_the_engine_is_known_to_say() -> None:
    known = {"attempts_exhausted", "worker_lost", "gave_up", "not_applied", "undoing_refused", "waited_too_long"}
    assert known <= engine_reasons()
    assert len(engine_reasons()) >= 20


@pytest.mark.parametrize("reason", sorted(engine_reasons() - NOT_OF_CASES))
def test_a_reason_of_the_engine_has_words_and_a_recommended_step(reason: str) -> None:
    assert words.REASONS[reason].label and words.REASONS[reason].help
    assert ADVICE[reason].tried


def test_a_process_that_asks_for_a_person_gets_words_and_a_step_of_its_own() -> None:
    asking = {name for name, ending in RestoreAccess.endings.items() if ending.kind is EndingKind.PERSON}
    assert asking and asking <= set(ADVICE) and asking <= set(words.REASONS)
    assert advice_for("something_of_another_process") == OTHER


def test_every_word_of_the_glossary_has_advice_and_every_advice_has_words() -> None:
    assert set(ADVICE) == set(words.REASONS)
    assert set(TURNS) == set(Turn)
    assert set(STEPS) == set(Step)
    assert {advice.turn for advice in ADVICE.values()} == set(Turn)


@pytest.mark.parametrize("reason", sorted(ADVICE))
def test_while_a_change_is_in_doubt_nothing_is_recommended_that_could_make_it_twice(reason: str) -> None:
    assert advice_for(reason, effects_open=1).step not in NOT_IN_DOUBT
