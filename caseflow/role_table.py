"""The table of roles as the docs show it, made from the code that decides (design §9)."""

from __future__ import annotations

from collections.abc import Iterator

from caseflow.domain.roles import PLATFORM, RIGHTS_OF_ROLE, RIGHTS_OF_SERVICES, Right, Role
from caseflow.domain.words import RIGHTS, ROLES

BEGIN = "<!-- made by `manage.py show_roles --markdown` -->"
END = "<!-- end of the table -->"
YES = "✓"
PLATFORM_OPERATOR = "platform_operator"
SERVICE = "service account"


def holders() -> dict[str, frozenset[str]]:
    """Who may hold rights → the rights: each role, the role above organisations, and what a machine may be given."""
    found = {role.value: frozenset(right.value for right in RIGHTS_OF_ROLE[role]) for role in Role}
    found[PLATFORM_OPERATOR] = frozenset({PLATFORM})
    found[SERVICE] = frozenset(right.value for right in RIGHTS_OF_SERVICES)
    return found


def markdown() -> str:
    """One row a right, one column a holder, between the marks that the docs keep."""
    return "\n".join([BEGIN, "", *_rows(), "", END])


def in_the_docs(text: str) -> str:
    """The part of a page between the marks, marks included. Raises ValueError where one is missing."""
    begin, end = text.index(BEGIN), text.index(END)
    return text[begin : end + len(END)]


def _rows() -> Iterator[str]:
    who = holders()
    names = [ROLES[name].label.lower() if name in ROLES else name for name in who]
    yield _row(["right", *names])
    yield _row(["---", *(":-:" for _ in names)])
    for right in [*(right.value for right in Right), PLATFORM]:
        yield _row([RIGHTS[right], *(YES if right in rights else "" for rights in who.values())])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")
