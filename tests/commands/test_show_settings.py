"""The table of settings in the docs is what the code reads from the environment."""

from __future__ import annotations

import io
import json
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

from caseflow.settings_table import in_the_docs, known_settings


def shown(*arguments: str) -> str:
    out = io.StringIO()
    call_command("show_settings", *arguments, stdout=out)
    return out.getvalue()


def test_the_table_of_the_docs_is_made_from_the_code() -> None:
    page = (Path(settings.BASE_DIR) / "docs" / "settings.md").read_text(encoding="utf-8")

    assert in_the_docs(page) == shown("--markdown").rstrip("\n"), "run: manage.py show_settings --markdown"


def test_every_setting_says_what_it_is_and_none_what_it_is_set_to() -> None:
    found = known_settings()

    assert len(found) >= 28
    assert [one.name for one in found if len(one.about) < 15] == []
    assert settings.SECRET_KEY not in shown() + shown("--json")


def test_a_variable_that_the_code_reads_is_never_left_out() -> None:
    read = (Path(settings.BASE_DIR) / "caseflow" / "settings_environment.py").read_text(encoding="utf-8")

    assert len(known_settings()) == read.count("= env.")
    assert json.loads(shown("--json"))["CASEFLOW_UNDO_SECONDS"]["default"] == "15"
