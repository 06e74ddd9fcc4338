"""The map of faults names only tests that exist, and leaves no row out."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAP = (ROOT / "docs/proof/faults.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", MAP)))
#: (section.number, kind, tests, remark)
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in MAP.splitlines() if re.match(r"\| \d", line)]
COUNTS = {"5": 58, "6": 23}  #: rows of each section of the list


@cache
def functions_of(path: str) -> set[str]:
    """Tests of a file, and scenarios of the fault harness, which are registered by their decorator."""
    tree = ast.parse((ROOT / path).read_text())
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {node.name for node in found if node.name.startswith("test_") or "scenario" in _decorators(node)}


def _decorators(node: ast.FunctionDef) -> set[str]:
    called = [one.func for one in node.decorator_list if isinstance(one, ast.Call)]
    return {one.id for one in called if isinstance(one, ast.Name)}


@pytest.mark.parametrize("path", sorted({path for path, _ in NAMED}))
def test_every_test_that_the_map_names_exists(path: str) -> None:
    assert sorted({name for named, name in NAMED if named == path} - functions_of(path)) == []


@pytest.mark.parametrize(("section", "count"), COUNTS.items())
def test_the_map_leaves_no_row_out(section: str, count: int) -> None:
    found = [row[0] for row in ROWS if row[0].startswith(f"{section}.")]
    assert found == [f"{section}.{number}" for number in range(1, count + 1)]


def test_every_row_is_shown_or_says_why_not() -> None:
    silent = [
        number
        for number, _kind, shown, remark in ROWS
        if "::" not in shown and not remark.startswith(("later", "cannot occur"))
    ]
    assert silent == []


def test_nothing_else_in_the_map_looks_like_a_test() -> None:
    assert len(re.findall(r"::", MAP)) == len(re.findall(r"`tests/[\w/]+\.py::\w+`", MAP))
