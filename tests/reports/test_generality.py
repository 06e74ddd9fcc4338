"""The engine knows nothing of this process: what it is about has no word in the rooms that carry it."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
ENGINE = ("caseflow/domain", "cases", "approvals", "actions")

#: A role by this name is held in an organisation, whatever processes there are.
ROLE = re.compile(r"report_reader|report reader", re.IGNORECASE)
WORD = re.compile(r"\breports?\b|_reports?\b|\breports?_|сводк|отч[её]т", re.IGNORECASE)


def test_no_room_of_the_engine_knows_what_a_report_is() -> None:
    files = [path for room in ENGINE for path in sorted((ROOT / room).rglob("*.py"))]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if WORD.search(ROLE.sub("", line))
    ]
    assert len(files) > 80
    assert found == []
