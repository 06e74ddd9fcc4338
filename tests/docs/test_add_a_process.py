"""`docs/add-a-process.md` shows the code that runs, all of it, and nothing else of the repository knows the process."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from caseflow.processes.address_correction import AddressCorrection
from simulator.control import KINDS

from .pages import ROOT

PAGE = (ROOT / "docs" / "add-a-process.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"<!-- from (\S+) -->\n```\w+\n(.*?)\n```\n", PAGE, re.DOTALL)
PROCESS = "caseflow/processes/address_correction.py"
#: What comes in as many as a process likes.
FOLDERS = ("templates/console/processes/address_correction/", "templates/notices/address_correction/")
#: Kept for every process alike: pages about it, and tests of pages.
ABOUT = re.compile(r"^(docs/|tests/docs/|\w+(\.ru)?\.md$)")


@pytest.mark.parametrize("place", range(len(SHOWN)), ids=[f"{place}-{path}" for place, (path, _) in enumerate(SHOWN)])
def test_every_block_is_a_part_of_its_file(place: int) -> None:
    path, code = SHOWN[place]
    assert code in (ROOT / path).read_text(encoding="utf-8")


def test_the_blocks_of_the_process_are_its_whole_file() -> None:
    told = "\n".join(code for path, code in SHOWN if path == PROCESS)
    assert lines_of(told) == lines_of((ROOT / PROCESS).read_text(encoding="utf-8"))


def test_the_change_of_the_settings_is_one_line() -> None:
    (diff,) = re.findall(r"```diff\n(.*?)```", PAGE, re.DOTALL)
    after = "".join(line[1:] for line in diff.splitlines(keepends=True))
    assert after in (ROOT / "caseflow" / "settings.py").read_text(encoding="utf-8")
    assert [line for line in diff.splitlines() if line[0] in "+-"] == [
        '+    "caseflow.processes.address_correction.AddressCorrection",'
    ]


def test_only_the_files_that_the_page_lists_know_the_process() -> None:
    (listed,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    named = {line.split()[0] for line in listed.splitlines()}
    know = {path if not path.startswith(FOLDERS) else f"{path.rpartition('/')[0]}/" for path in knowing()}
    # The catalogue holds its texts and not its name.
    assert know == named - {"locale/ru/LC_MESSAGES/django.po"}


def test_what_the_page_lets_one_try_is_a_ticket_of_the_process_and_a_world_that_fits_it() -> None:
    world, ticket = (json.loads(body) for body in re.findall(r" -d '(\{.*?\})'", PAGE, re.DOTALL))
    assert set(world) <= set(KINDS)
    assert ticket["process"] == AddressCorrection.slug
    intake = AddressCorrection.Intake.model_validate(ticket["intake"])
    named = {thing["id"] for things in world.values() for thing in things}
    assert {intake.customer_id, intake.correction_id} == named


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def knowing() -> set[str]:
    """Files that name the process, or are named after it."""
    words = re.compile(rf"{AddressCorrection.slug}|{AddressCorrection.__name__}")
    found = set()
    for name in files():
        path = ROOT / name
        if ABOUT.match(name) or not path.is_file() or path.suffix in (".png", ".ttf", ".mo"):
            continue
        if words.search(name) or words.search(path.read_text(encoding="utf-8")):
            found.add(name)
    return found


def files() -> list[str]:
    """Of the checkout, whether it is a repository or a copy of one."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return listed.stdout.splitlines()
    rooms = [entry for entry in ROOT.iterdir() if entry.is_dir() and not entry.name.startswith(".")]
    return [
        str(path.relative_to(ROOT)) for room in rooms for path in room.rglob("*") if "__pycache__" not in path.parts
    ]
