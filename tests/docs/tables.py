"""Parts of pages that are made from the code. `python -m tests.docs.tables` writes them anew; a test compares them.

A part stands between `<!-- made: NAME -->` and `<!-- end: NAME -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from caseflow.domain.advice import TURNS, advice_for
from caseflow.domain.drawing import mermaid
from caseflow.domain.lifecycle import STANDARD
from caseflow.domain.roles import PLATFORM, Right
from caseflow.domain.words import REASONS, RIGHTS, ROLES, STATES
from caseflow.role_table import SERVICE, YES, holders

from .pages import ROOT


@cache
def _catalogue() -> Catalog:
    with (ROOT / "locale" / "ru" / "LC_MESSAGES" / "django.po").open("rb") as file:
        return read_po(file)


def _said(text: str, language: str) -> str:
    found = _catalogue().get(text) if language == "ru" else None
    return str(found.string) if found and found.string else text


def _table(*rows: tuple[str, ...]) -> str:
    head, *rest = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rest))


def states(language: str) -> str:
    head = {"en": ("state", "in words", "what it means"), "ru": ("состояние", "словами", "что это значит")}[language]
    rows = [(f"`{code}`", _said(word.label, language), _said(word.help, language)) for code, word in STATES.items()]
    return _table(head, *rows)


def reasons(language: str) -> str:
    """Why automatic work stopped, what to do, whose turn it is."""
    head = {"en": ("reason", "what to do", "whose turn"), "ru": ("причина", "что делать", "чей ход")}[language]
    rows = [
        (
            f"**{_said(word.label, language)}** (`{code}`)",
            _said(word.help, language),
            _said(TURNS[advice_for(code).turn].label, language),
        )
        for code, word in sorted(REASONS.items(), key=lambda item: _said(item[1].label, language))
    ]
    return _table(head, *rows)


def rights_in_russian() -> str:
    """Who may do what, as `manage.py show_roles --markdown` says it in English."""
    who = holders()
    names = ["служебная учётная запись" if name == SERVICE else _said(ROLES[name].label, "ru").lower() for name in who]
    rows = [
        (_said(RIGHTS[right], "ru"), *(YES if right in rights else "" for rights in who.values()))
        for right in [*(right.value for right in Right), PLATFORM]
    ]
    return _table(("право", *names), *rows)


def diagram() -> str:
    return "\n".join(["```mermaid", *mermaid(STANDARD), "```"])


#: name of the part → what makes it
PARTS: dict[str, Callable[[], str]] = {
    "diagram": diagram,
    "rights ru": rights_in_russian,
    **{f"states {language}": partial(states, language) for language in ("en", "ru")},
    **{f"reasons {language}": partial(reasons, language) for language in ("en", "ru")},
}
PART = re.compile(r"<!-- made: ([\w ]+) -->\n.*?<!-- end: \1 -->", re.DOTALL)


def renewed(text: str) -> str:
    """The page with every made part as the code has it now."""
    return PART.sub(lambda found: f"<!-- made: {found[1]} -->\n\n{PARTS[found[1]]()}\n\n<!-- end: {found[1]} -->", text)


if __name__ == "__main__":
    for path in sorted((ROOT / "docs").glob("*.md")):
        before = path.read_text(encoding="utf-8")
        if renewed(before) != before:
            path.write_text(renewed(before), encoding="utf-8")
            print(f"written: {path.relative_to(ROOT)}")
