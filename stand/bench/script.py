"""One case's own statements as a script of pgbench that drives a new case each time.

What is a case's own becomes a variable: names that the product draws are drawn anew at the beginning of the script, row
ids are taken by \\gset from the very results that told them to the product. Names within canonical bytes, by which a
plan's actions are found, are put in by their hexadecimal form. All else, also what was computed from those bytes
(digests), stays as it was logged: it costs the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stand.bench.statements import tokens

#: What the product draws: C-…, P-…, A-…, and the ids of calls.
NAMES = re.compile(r"\b(?:[A-Z]{1,2}-[0-9A-HJKMNP-TV-Z]{10}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")  #: what pgbench takes as the name of one
MODES = ("prepared", "simple")


@dataclass(frozen=True, slots=True)
class Captured:
    """Where a statement's result tells row ids: by column, or asked for afterwards by an expression → the logged id."""

    columns: Mapping[str, int]
    asked: Mapping[str, int] = field(default_factory=dict)


@dataclass
class Case:
    """What is one case's own in its statements: text → variable."""

    texts: dict[str, str] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)
    hexes: dict[str, str] = field(default_factory=dict)  #: a name's bytes as PostgreSQL writes them → variable
    joined: dict[str, str] = field(default_factory=dict)  #: expressions over the former → variable

    @classmethod
    def found_in(cls, statements: Sequence[str], number: str) -> Case:
        """`number` is what the bench calls the case; its other names are found by their form."""
        case = cls({number: "own_number"})
        for statement in statements:
            for name in NAMES.findall(statement):
                case.texts.setdefault(name, f"own_name_{len(case.texts)}")
        for name, variable in case.texts.items():
            # Shorter ones would be found where they do not stand.
            if len(name) >= 8:
                case.hexes[name.encode().hex()] = f"own_hex_{variable}"
        return case

    @property
    def drawn(self) -> list[str]:
        """The variables that `drawing` begins with, in its order."""
        return [*self.texts.values(), *self.hexes.values()]

    def drawing(self) -> str:
        """The statement that draws the names of a new case."""
        parts = [f"{_drawn(text)} AS {variable}" for text, variable in self.texts.items()]
        hexes = [
            f"encode(convert_to({one.removeprefix('own_hex_')}, 'UTF8'), 'hex') AS {one}" for one in self.hexes.values()
        ]
        drawn = f"SELECT {', '.join(['named.*', *hexes])} FROM (SELECT {', '.join(parts)}) named"
        if not self.joined:
            return drawn
        more = [f"{expression} AS {variable}" for expression, variable in self.joined.items()]
        return f"SELECT drawn.*, {', '.join(more)} FROM ({drawn}) drawn"


def _drawn(text: str) -> str:
    if text.isdigit():
        return f"'{text[0]}' || lpad((random() * 1e15)::bigint::text, {len(text) - 1}, '0')"
    if len(text) == 36:
        return "gen_random_uuid()::text"
    prefix, _, _ = text.partition("-")
    return f"'{prefix}-' || upper(lpad(to_hex((random() * 1e12)::bigint), 10, '0'))"


def make_script(statements: Sequence[str], case: Case, captured: Mapping[int, Captured], mode: str) -> str:
    """`captured` by the place of the statement."""
    lines = []
    known = Case(texts=case.texts, hexes=case.hexes)
    for place, statement in enumerate(statements):
        text = " ".join(rewritten(statement, known, mode).split("\n"))
        found = captured.get(place, Captured({}))
        lines.append(f"{text} \\gset row_{place}_" if found.columns else f"{text};")
        for column, logged in found.columns.items():
            known.ids.setdefault(logged, f"row_{place}_{column}")
        for number, (expression, logged) in enumerate(found.asked.items()):
            lines.append(f"SELECT {expression} AS asked_{number} \\gset row_{place}_")
            known.ids.setdefault(logged, f"row_{place}_asked_{number}")
    lines.insert(0, f"{known.drawing()} \\gset")
    return "\n".join(lines) + "\n"


def rewritten(statement: str, case: Case, mode: str) -> str:
    """The statement with variables in the place of what is the case's own."""
    parts = []
    for token in tokens(statement):
        match token.kind:
            case "number" if int(token.text) in case.ids:
                parts.append(_number(case.ids[int(token.text)], mode))
            case "literal":
                parts.append(_literal(token.text[1:-1], "'", case, mode))
            case "escaped":
                parts.append(_literal(token.text[2:-1], "E'", case, mode))
            case _:
                parts.append(token.text)
    return "".join(parts)


def _number(variable: str, mode: str) -> str:
    return f":{variable}::bigint" if mode == "prepared" else f":{variable}"


def _literal(body: str, opening: str, case: Case, mode: str) -> str:
    """A literal as it is, as one variable, or as its pieces joined."""
    pieces = _pieces(body, case)
    if mode == "simple":
        if any(one.variable in case.hexes.values() for one in pieces):
            # What follows would be read as more of the variable's name.
            joined = " || ".join(f"':{one.variable}'" if one.variable else f"'{one.text}'" for one in pieces)
            return f"({joined})::bytea"
        # There pgbench puts values into the text, wherever they stand; but two colons are no beginning of one.
        text = "".join(f":{one.variable}" if one.variable else one.text for one in pieces)
        return _by_number(text, opening, r":(?=:(?:own|row)_)")
    if len(pieces) == 1 and pieces[0].variable:
        return f":{pieces[0].variable}"
    if not any(one.variable for one in pieces):
        return _without_colons(body, opening)
    if all(not one.variable or one.variable in case.drawn for one in pieces):
        # As a variable of its own it is of whatever type it is needed as, like the literal; joined it would be text.
        drawn = " || ".join(one.variable or _without_colons(one.text, opening) for one in pieces)
        return f":{case.joined.setdefault(drawn, f'own_joined_{len(case.joined)}')}"
    parts = [f":{one.variable}::text" if one.variable else _without_colons(one.text, opening) for one in pieces]
    return "(" + " || ".join(parts) + ")"


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    variable: str = ""


def _pieces(body: str, case: Case) -> list[_Piece]:
    names = {**case.texts, **case.hexes, **{str(number): variable for number, variable in case.ids.items()}}
    if not names:
        return [_Piece(body)]
    longest_first = sorted(names, key=len, reverse=True)
    # Within hexadecimal digits a name's bytes stand between others; elsewhere a number is no part of a longer one.
    pattern = "|".join(name if name in case.hexes else rf"(?<!\d){re.escape(name)}(?!\d)" for name in longest_first)
    pieces, at = [], 0
    for found in re.finditer(pattern, body):
        if found.start() > at:
            pieces.append(_Piece(body[at : found.start()]))
        pieces.append(_Piece(found.group(), names[found.group()]))
        at = found.end()
    if at < len(body) or not pieces:
        pieces.append(_Piece(body[at:]))
    return pieces


def _without_colons(body: str, opening: str) -> str:
    """pgbench takes `:word` for a variable, also within a literal."""
    return _by_number(body, opening, r":(?=[A-Za-z_])")


def _by_number(body: str, opening: str, colons: str) -> str:
    """The literal with these colons written by their number, which only two of its forms can."""
    if not re.search(colons, body):
        return f"{opening}{body}'"
    if opening == "E'":
        return "E'" + re.sub(colons, r"\\x3a", body) + "'"
    return "U&'" + re.sub(colons, r"\\003a", body.replace("\\", "\\\\")) + "'"
