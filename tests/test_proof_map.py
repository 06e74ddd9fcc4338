"""The maps of proofs name only tests that exist, and leave no row out."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAPS = {name: (ROOT / "docs" / name).read_text() for name in ("proof/faults.md", "console.md")}
NAMED = sorted({found for text in MAPS.values() for found in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)})
#: Map → section → its rows; the console's lines have one section.
COUNTS = {"proof/faults.md": {"5.": 58, "6.": 23}, "console.md": {"": 40}}
#: How the remark of a row without a test begins.
OPEN = ("later", "cannot occur", "missing")


def rows_of(name: str) -> list[list[str]]:
    """(number, what it is about, tests, remark)"""
    lines = [line for line in MAPS[name].splitlines() if re.match(r"\| \d", line)]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


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
def test_every_test_that_a_map_names_exists(path: str) -> None:
    assert sorted({name for named, name in NAMED if named == path} - functions_of(path)) == []


@pytest.mark.parametrize(
    ("name", "section", "count"), [(name, *one) for name, counts in COUNTS.items() for one in counts.items()]
)
def test_a_map_leaves_no_row_out(name: str, section: str, count: int) -> None:
    found = [row[0] for row in rows_of(name) if row[0].startswith(section)]
    assert found == [f"{section}{number}" for number in range(1, count + 1)]


@pytest.mark.parametrize("name", MAPS)
def test_every_row_is_shown_or_says_why_not(name: str) -> None:
    silent = [number for number, _, shown, remark in rows_of(name) if "::" not in shown and not remark.startswith(OPEN)]
    assert silent == []


@pytest.mark.parametrize("name", MAPS)
def test_nothing_else_in_a_map_looks_like_a_test(name: str) -> None:
    assert len(re.findall(r"::", MAPS[name])) == len(re.findall(r"`tests/[\w/]+\.py::\w+`", MAPS[name]))
