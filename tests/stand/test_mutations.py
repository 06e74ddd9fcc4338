"""The proof that the proof can fail: its catalogue fits the code, and only a test that failed counts as a catch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stand.environment import CHECKOUT
from stand.mutants import MUTATIONS, PROTECTIONS
from stand.mutants.mutation import Change, Mutation, misfits, mutated, uncovered
from stand.mutations import judge

EXAMPLE = Mutation(
    name="the door stands open",
    protects="the door",
    file="door.py",
    old="closed = True\n",
    new="closed = False\n",
    caught_by=("test_door.py::test_nobody_walks_in",),
    why="anybody could walk in",
)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    (tmp_path / "door.py").write_text("closed = True\nlocked = True\n")
    (tmp_path / "test_door.py").write_text("\n\ndef test_nobody_walks_in():\n    pass\n")
    return tmp_path


def test_the_catalogue_fits_the_code_and_the_tests_as_they_are() -> None:
    assert misfits(CHECKOUT, MUTATIONS) == []


def test_every_protection_of_the_proof_is_taken_out() -> None:
    assert uncovered(PROTECTIONS, MUTATIONS) == []
    assert len(PROTECTIONS) >= 21


def test_a_mutation_and_the_doors_before_it_change_one_file_together(house: Path) -> None:
    both = replace(EXAMPLE, doors=(Change("door.py", "locked = True", "locked = False"),))
    assert misfits(house, [both]) == []
    assert mutated(house, both) == {house / "door.py": "closed = False\nlocked = False\n"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"old": "open = True\n"}, "its text stands 0 times in door.py"),
        ({"old": "True"}, "its text stands 2 times in door.py"),
        ({"file": "window.py"}, "its text stands 0 times in window.py"),
        ({"new": "closed = True\n"}, "it changes nothing"),
        ({"new": "closed = (\n"}, "it leaves no Python in door.py"),
        ({"caught_by": ("test_door.py::test_of_last_year",)}, "there is no test test_door.py::test_of_last_year"),
        ({"caught_by": ()}, "it names tests that catch it, or why nothing can"),
        ({"equivalent": "nobody can tell"}, "it names tests that catch it, or why nothing can"),
    ],
)
def test_a_mutation_that_no_longer_fits_is_named_before_anything_is_run(
    change: dict[str, str], reason: str, house: Path
) -> None:
    (found,) = misfits(house, [replace(EXAMPLE, **change)])  # type: ignore[arg-type]
    assert found.startswith(f"the door stands open: {reason}")


def test_two_mutations_never_share_a_name(house: Path) -> None:
    assert misfits(house, [EXAMPLE, EXAMPLE]) == ["the door stands open: 2 mutations have this name"]


def report(inside: str) -> str:
    return f'<testsuites><testsuite><testcase name="test_nobody_walks_in">{inside}</testcase></testsuite></testsuites>'


FAILED = report('<failure message="AssertionError: assert False">…</failure>')


def test_a_named_test_that_failed_is_a_catch() -> None:
    verdict = judge(1, FAILED, "1 failed")
    assert (verdict.caught, verdict.test, verdict.said) == (
        True,
        "test_nobody_walks_in",
        "AssertionError: assert False",
    )


@pytest.mark.parametrize(
    ("code", "xml", "output", "said"),
    [
        (0, report(""), "1 passed", "NOT CAUGHT"),
        (2, report('<error message="collection failure">…</error>'), "ImportError while importing", "broken mutation"),
        (1, report('<error message="failed on setup with …">…</error>'), "1 error", "broken mutation"),
        (4, "", "no tests ran", "broken mutation"),
        (1, FAILED, "E   NameError: name 'opened' is not defined", "broken mutation: NameError"),
        (1, FAILED, "psycopg.errors.UndefinedColumn: column", "broken mutation: UndefinedColumn"),
        (1, report('<failure message="Failed: Timeout (&gt;90.0s)">…</failure>'), "", "the test ran out of its"),
        (None, "", "", "the tests did not end"),
    ],
)
def test_nothing_but_a_failed_test_counts_as_a_catch(code: int | None, xml: str, output: str, said: str) -> None:
    verdict = judge(code, xml, output)
    assert not verdict.caught
    assert verdict.said.startswith(said)
