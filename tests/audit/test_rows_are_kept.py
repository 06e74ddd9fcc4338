"""What the runtime role cannot take back: a counted event, a task, a case, an action."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from tests.driving import Engine


def test_the_history_of_a_case_is_not_cut_short_by_setting_its_head_back(engine: Engine) -> None:
    story = engine.proposed()
    back = """UPDATE cases_case c SET audit_count = e.seq, audit_head = e.hash FROM audit_auditevent e
              WHERE c.id = %s AND e.case_id = c.id AND e.seq = c.audit_count - 1"""
    refused = pytest.raises(IntegrityError, match="one event at a time")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(back, [story.id])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


@pytest.mark.parametrize("table", ["cases_case", "cases_task", "actions_action"])
def test_what_explains_a_case_is_never_deleted(engine: Engine, table: str) -> None:
    engine.approved()
    refused = pytest.raises(ProgrammingError, match="permission denied")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table}")
