"""The settings of an installation as the docs show them, read from the code that reads the environment."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from caseflow import settings_environment

BEGIN = "<!-- made by `manage.py show_settings --markdown` -->"
END = "<!-- end of the table -->"

#: What `environs` makes of a text → what somebody writes.
KINDS = {
    "str": "text",
    "int": "number",
    "float": "number",
    "bool": "0 or 1",
    "uuid": "UUID",
    "list": "a,b",
    "dict": "name=value,…",
    "json": "JSON",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable. `default` is None where it has to be given; `about` stands above it in the code."""

    name: str
    kind: str
    default: str | None
    about: str


def known_settings() -> list[Setting]:
    """In the order of the code."""
    path = Path(settings_environment.__file__)
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_setting(prefix, call, lines, line) for prefix, call, line in _read(ast.parse("\n".join(lines)).body, "")]


def markdown() -> str:
    """One row a setting, between the marks that the docs keep."""
    rows = [_row(["setting", "as", "unless given", "what it is"]), _row(["---"] * 4)]
    for one in known_settings():
        default = "**has to be given**" if one.default is None else f"`{one.default}`" if one.default else "–"
        rows.append(_row([f"`{one.name}`", one.kind, default, one.about]))
    return "\n".join([BEGIN, "", *rows, "", END])


def in_the_docs(text: str) -> str:
    """The part of a page between the marks, marks included. Raises ValueError where one is missing."""
    begin, end = text.index(BEGIN), text.index(END)
    return text[begin : end + len(END)]


def _read(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.Call, int]]:
    """(prefix, the call that reads one variable, its line) for every one of the module."""
    for statement in body:
        if isinstance(statement, ast.With):
            yield from _read(statement.body, prefix + _text(_called(statement.items[0].context_expr, "prefixed")))
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            call = _called(statement.value)
            if call is not None and call.args:
                yield prefix, call, statement.lineno


def _called(expression: ast.expr, name: str = "") -> ast.Call | None:
    """The expression where it asks `env` for something."""
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
        asked = expression.func
        if isinstance(asked.value, ast.Name) and asked.value.id == "env" and name in ("", asked.attr):
            return expression
    return None


def _text(call: ast.Call | None) -> str:
    return str(ast.literal_eval(call.args[0])) if call is not None else ""


def _setting(prefix: str, call: ast.Call, lines: Sequence[str], line: int) -> Setting:
    assert isinstance(call.func, ast.Attribute)  # noqa: S101  # as `_called` found it
    default = next((word.value for word in call.keywords if word.arg == "default"), None)
    above: list[str] = []
    for text in reversed(lines[: line - 1]):
        if not text.strip().startswith("#:"):
            break
        above.insert(0, text.strip().removeprefix("#:").strip())
    return Setting(
        name=prefix + _text(call),
        kind=KINDS[call.func.attr],
        default=None if default is None else _shown(ast.literal_eval(default)),
        about=" ".join(above),
    )


def _shown(value: object) -> str:
    """A default as somebody would write it into the environment."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value) if value or value == 0 else ""


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
