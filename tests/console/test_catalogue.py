"""The Russian catalogue is complete: every text of templates and code, none untranslated, none doubtful."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po
from django.conf import settings
from django.template import Template
from django.template.base import Node, NodeList
from django.template.loader import get_template
from django.templatetags.i18n import BlockTranslateNode, TranslateNode

ROOT = Path(settings.BASE_DIR)
KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
}
ROOMS = ("accounts", "actions", "approvals", "audit", "caseflow", "cases", "documents", "integrations", "operations")
TEMPLATES = sorted(path.relative_to(ROOT / "templates") for path in (ROOT / "templates").rglob("*.*"))


@pytest.fixture(scope="module")
def catalogue() -> Catalog:
    with (ROOT / "locale" / "ru" / "LC_MESSAGES" / "django.po").open("rb") as file:
        return read_po(file)


def test_nothing_is_untranslated_or_doubtful(catalogue: Catalog) -> None:
    for message in catalogue:
        if not message.id:
            continue
        texts = message.string if isinstance(message.string, tuple) else (message.string,)
        assert all(texts), message.id
        assert not message.fuzzy, message.id
        assert len(texts) == (4 if message.pluralizable else 1), message.id


def test_every_translation_keeps_the_places_of_its_values(catalogue: Catalog) -> None:
    places = re.compile(r"%\(\w+\)[sd]|\{\w+\}")
    for message in catalogue:
        if not message.id:
            continue
        wanted = set(places.findall(message.id[0] if isinstance(message.id, tuple) else message.id))
        for text in message.string if isinstance(message.string, tuple) else (message.string,):
            assert set(places.findall(text)) == wanted, message.id


def test_every_text_of_the_code_is_in_the_catalogue(catalogue: Catalog) -> None:
    missing = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if "migrations" in path.parts:
                continue
            for _line, message, _comments, context in extract_from_file("python", path, keywords=KEYWORDS):
                if catalogue.get(message, context=context) is None:
                    missing.append((str(path.relative_to(ROOT)), message))
    assert missing == []


@pytest.mark.parametrize("name", [str(path) for path in TEMPLATES])
def test_every_text_of_a_template_is_in_the_catalogue(catalogue: Catalog, name: str) -> None:
    template: Template = get_template(name).template  # type: ignore[attr-defined]
    missing = [text for text, context in _texts(template.nodelist) if catalogue.get(text, context=context) is None]
    assert missing == []


def _texts(nodes: NodeList) -> Iterator[tuple[str, str | None]]:
    for node in nodes.get_nodes_by_type(Node):
        if isinstance(node, TranslateNode):
            text = node.filter_expression.var.literal
            assert isinstance(text, str), node
            yield text.replace("%", "%%"), _context(node)
        if isinstance(node, BlockTranslateNode):
            yield node.render_token_list(node.singular)[0], _context(node)


def _context(node: TranslateNode | BlockTranslateNode) -> str | None:
    return str(node.message_context.var) if node.message_context else None
