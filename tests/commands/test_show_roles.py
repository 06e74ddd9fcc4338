"""The table of roles in the docs is the one that decides."""

from __future__ import annotations

import io
import json
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

from caseflow.domain.roles import RIGHTS_OF_ROLE, Right, Role
from caseflow.domain.words import RIGHTS, ROLES
from caseflow.role_table import in_the_docs

#: The table of design §9, right by right, written down a second time on purpose.
DESIGNED: dict[str, set[str]] = {
    "open_case": {"operator"},
    "see_cases": {"viewer", "operator", "approver", "recoverer", "auditor", "org_admin"},
    "reveal_personal": {"operator", "approver"},
    "supply_data": {"operator"},
    "decide_proposal": {"approver"},
    "order_recovery": {"operator", "recoverer"},
    "authorise_recovery": {"operator", "approver"},
    "open_documents": {"report_reader"},
    "read_audit": {"auditor"},
    "administer_organisation": {"org_admin"},
}


def shown(*arguments: str) -> str:
    out = io.StringIO()
    call_command("show_roles", *arguments, stdout=out)
    return out.getvalue()


def test_the_table_of_the_docs_is_made_from_the_code() -> None:
    page = (Path(settings.BASE_DIR) / "docs" / "roles.md").read_text(encoding="utf-8")

    assert in_the_docs(page) == shown("--markdown").rstrip("\n"), "run: manage.py show_roles --markdown"


def test_the_code_is_the_table_of_the_design() -> None:
    held = {right.value: {role.value for role in Role if right in RIGHTS_OF_ROLE[role]} for right in Right}

    assert held == DESIGNED


def test_every_role_and_right_has_a_word() -> None:
    assert set(ROLES) == {*(role.value for role in Role), "platform_operator"}
    assert set(RIGHTS) == {*(right.value for right in Right), "operate_platform"}


def test_a_machine_never_decides_recovers_or_signs_and_the_platform_operator_has_one_right() -> None:
    held = json.loads(shown("--json"))

    assert set(held["service account"]) == {"open_case", "see_cases", "supply_data"}
    assert held["platform_operator"] == ["operate_platform"]
    assert "Platform operator\n  look after queues" in shown()
