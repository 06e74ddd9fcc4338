"""PostgreSQL's own log of one case, read back as statements: `log_statement = all` with PREFIX before every line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: Application name and process; what follows a line without it belongs to the line before.
PREFIX = "@@%a@@%p@@ "
_HEAD = re.compile(r"@@(?P<application>[^@]*)@@(?P<pid>\d+)@@ (?P<level>[A-Z]+):  (?P<text>.*)", re.DOTALL)
_EXECUTE = re.compile(r"execute (?:fetch from )?[^:]*: (?P<sql>.*)", re.DOTALL)
_PARAMETER = re.compile(r"\$(?P<number>\d+) = (?P<value>NULL|'(?:[^']|'')*')", re.DOTALL)

#: The parts of a statement: literals with and without backslash escapes, quoted names, numbers, words, the rest.
_TOKEN = re.compile(
    r"""(?P<escaped>\bE'(?:[^'\\]|\\.|'')*')|(?P<literal>'(?:[^']|'')*')|(?P<name>"[^"]*")|(?P<parameter>\$\d+)"""
    r"""|(?P<number>\b\d+\b)|(?P<word>[A-Za-z_][A-Za-z_0-9]*)|(?P<rest>.)""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str


def read_log(lines: Iterable[str], applications: Sequence[str]) -> list[str]:
    """The statements of these applications in the order of the log, with their parameters put in as literals."""
    found: list[str] = []
    for application, text in _entries(lines):
        if not application.startswith(tuple(applications)):
            continue
        if text.startswith("statement: "):
            found.append(text.removeprefix("statement: ").strip())
        elif executed := _EXECUTE.fullmatch(text):
            found.append(executed["sql"].strip())
        elif text.startswith(("Parameters: ", "parameters: ")):
            found[-1] = with_parameters(found[-1], text)
    return [statement.rstrip(";") for statement in found if statement]


def with_parameters(statement: str, parameters: str) -> str:
    """`$1` … as the literals that the log tells."""
    values = {int(found["number"]): found["value"] for found in _PARAMETER.finditer(parameters)}
    return "".join(
        values[int(token.text[1:])] if token.kind == "parameter" else token.text for token in tokens(statement)
    )


def tokens(statement: str) -> list[Token]:
    return [Token(str(found.lastgroup), found.group()) for found in _TOKEN.finditer(statement)]


def _entries(lines: Iterable[str]) -> list[tuple[str, str]]:
    """(application, text) of each entry; what is continued on more lines is one."""
    entries: list[tuple[str, str]] = []
    for line in lines:
        if found := _HEAD.fullmatch(line):
            entries.append((found["application"], found["text"]))
        elif entries and not line.startswith("@@"):
            application, text = entries[-1]
            entries[-1] = (application, f"{text}\n{line.removeprefix(chr(9))}")
    return entries
