"""What the pages name exists: files, headings, targets, commands with their options, settings, tests, addresses."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from babel.messages.pofile import read_po
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.urls import Resolver404, resolve

from caseflow.production import OF_TESTS
from caseflow.settings_table import known_settings

from .pages import ROOT, Page, all_pages
from .tables import renewed

PAGES = {page.name: page for page in all_pages()}
TOP = frozenset(entry.name for entry in ROOT.iterdir())
#: What stands for something that the reader puts in.
PLACE = re.compile(r"[<>*…{}$]|\.\.\.")
#: Read by tests, by the stand and by the API's clients; no setting of an installation.
OTHER_VARIABLES = frozenset({"CASEFLOW_DEMO", "CASEFLOW_CHROMIUM", "CASEFLOW_TEST_SUPERUSER_URL"})
#: Folders and files that only a run makes.
MADE = re.compile(r"^(\.stand|\.venv[-\w.]*|screenshots|staticfiles)(/|$)")


@pytest.fixture(params=PAGES)
def doc(request: pytest.FixtureRequest) -> Page:
    return PAGES[request.param]


def test_every_link_leads_to_a_file_and_every_anchor_to_a_heading(doc: Page) -> None:
    broken = []
    for link in doc.links:
        name, _, anchor = link.partition("#")
        target = (doc.path.parent / name).resolve() if name else doc.path
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in Page(target).anchors):
            broken.append(link)
    assert broken == []


def test_every_target_of_make_exists(doc: Page) -> None:
    known = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {name for code in doc.code for name in re.findall(r"(?:^|[\s(])make ([a-z][\w-]*)", code)}
    assert named - known == set()


def commands_in(code: str) -> Iterator[list[str]]:
    """The words of every command of ours: `manage.py X …`, `stand.manage X …`, `$M X …`."""
    joined = re.sub(r"\\\n\s*", " ", code)
    for line in joined.splitlines():
        line = re.sub(r"(^|\s)#.*$", "", line)
        for found in re.finditer(r"(?:manage\.py|stand\.manage|\$M)\s+([a-z_]+\b[^|;&]*)", line):
            try:
                yield shlex.split(found[1])
            except ValueError:
                yield found[1].split()


@cache
def options_of(command: str) -> frozenset[str]:
    told = get_commands()[command]
    made: Any = load_command_class(told, command) if isinstance(told, str) else told
    return frozenset(made.create_parser("manage.py", command)._option_string_actions)


def test_every_command_exists_and_has_the_options_that_it_is_given(doc: Page) -> None:
    wrong = []
    for code in doc.code:
        for name, *words in commands_in(code):
            if name not in get_commands():
                wrong.append(name)
                continue
            named = {word.partition("=")[0] for word in words if re.match(r"-{1,2}[a-z]", word)}
            wrong += [f"{name} {option}" for option in sorted(named - options_of(name))]
    assert wrong == []


def test_every_module_that_is_run_exists(doc: Page) -> None:
    named = {name for code in doc.code for name in re.findall(r"python3? -m ([\w.]+)", code)}
    assert {name for name in named if importlib.util.find_spec(name) is None} == set()


def test_every_setting_exists(doc: Page) -> None:
    known = {one.name for one in known_settings()} | set(OF_TESTS) | OTHER_VARIABLES | set(dir(settings))
    named = set(re.findall(r"\b(?:CASEFLOW|DATABASE|REDIS|SIMULATOR)_[A-Z_]*[A-Z]\b", doc.text))
    assert named - known == set()


#: Pages that are whole in Russian, too; of the first hour and the runbook there is less.
IN_RUSSIAN = (
    "backup-and-restore", "concepts", "promises-and-limits", "roles", "several-machines", "upgrading", "watching",
)  # fmt: skip
#: What both name in the same words: metrics, settings, tests, commands with their options.
SAME = re.compile(
    r"(?:caseflow|CASEFLOW|DATABASE)_\w+|tests/[\w/]+\.py(?:::\w+)?|(?:manage\.py|make) [\w-]+|(?<!\w)--[a-z-]+"
)


@pytest.mark.parametrize("name", IN_RUSSIAN)
def test_a_page_in_russian_names_what_the_english_one_names(name: str) -> None:
    english, russian = PAGES[f"docs/{name}.md"], PAGES[f"docs/{name}.ru.md"]
    named = [{found for code in page.code for found in SAME.findall(code)} for page in (english, russian)]
    assert named[0] == named[1]
    labels = [
        set(re.findall(r"^\| (`caseflow_\w+` \|[^|]*)\|", page.text, re.MULTILINE)) for page in (english, russian)
    ]
    assert labels[0] == labels[1]
    assert f"]({name}.ru.md)" in PAGES["docs/README.md"].text and f"]({name}.md)" in russian.text


def looks_like_a_file(code: str) -> bool:
    if PLACE.search(code) or " " in code or MADE.match(code) or not re.fullmatch(r"[\w./:-]+", code):
        return False
    top, slash, _ = code.partition("/")
    return bool(slash and top in TOP) or re.search(r"\.(py|md|html|toml|css|js|sh|yaml|po)$", code) is not None


@cache
def names_of_files() -> frozenset[str]:
    folders = [name for name in TOP if not name.startswith(".") and (ROOT / name).is_dir()]
    inside = {name for top in folders for _, _, files in os.walk(ROOT / top) for name in files}
    return frozenset(inside | TOP)


def test_every_file_and_every_test_in_it_exists(doc: Page) -> None:
    wrong = []
    for code in filter(looks_like_a_file, doc.inline):
        name, _, function = code.partition("::")
        path = next((base / name for base in (ROOT, ROOT / "caseflow") if (base / name).exists()), None)
        if (path is None and ("/" in name or name not in names_of_files())) or (
            function and (path is None or not re.search(rf"^def {function}\(", path.read_text(), re.MULTILINE))
        ):
            wrong.append(code)
    assert wrong == []


def test_every_address_leads_somewhere(doc: Page) -> None:
    wrong = []
    for code in doc.code:
        for address in re.findall(r"(?<![\w.])(/(?:console|api/v1)/[^\s`'\"),;]*)", code):
            path = re.sub(r"\{[^}]*\}|…|<[^>]*>", "1", address.partition("?")[0].partition("#")[0])
            if PLACE.search(path):
                continue
            try:
                resolve(path)
            except Resolver404:
                wrong.append(address)
    assert wrong == []


def test_every_part_that_is_made_from_the_code_is_as_the_code_has_it(doc: Page) -> None:
    assert renewed(doc.text) == doc.text, "run: python -m tests.docs.tables"


def test_every_quoted_symptom_is_what_a_page_of_the_console_says() -> None:
    with (ROOT / "locale" / "ru" / "LC_MESSAGES" / "django.po").open("rb") as file:
        catalogue = read_po(file)
    said: dict[str, set[str]] = {"docs/runbook.md": set(), "docs/runbook.ru.md": set()}
    for message in catalogue:
        ids, texts = (value if isinstance(value, tuple) else (value,) for value in (message.id, message.string))
        said["docs/runbook.md"] |= set(ids)
        said["docs/runbook.ru.md"] |= set(texts)
    wrong = []
    for name, texts in said.items():
        forms = [re.sub(r"%\\\(\w+\\\)s", ".+", re.escape(text)) for text in texts if text]
        for heading in re.findall(r"^### [“«](.+)[”»]$", PAGES[name].text, re.MULTILINE):
            if not any(re.fullmatch(form, heading) for form in forms):
                wrong.append((name, heading))
    assert wrong == []
