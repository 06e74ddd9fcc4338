"""The copies that a long history is made of keep every promise that rows can prove, and the guards stand again."""

from __future__ import annotations

import os
from typing import Any

import psycopg
import pytest
from django.db import connection

from caseflow.invariants.running import ask_all
from cases.models import Case
from stand.environment import with_database
from tests.growth.copying import Copier
from tests.growth.patterns import make_patterns


def test_a_long_history_is_as_whole_as_its_patterns(
    committing_database: None, as_owner: psycopg.Connection[Any]
) -> None:
    make_patterns(as_owner, 70)
    still_open = Case.objects.filter(closed_at=None).count()
    url = with_database(os.environ["CASEFLOW_TEST_SUPERUSER_URL"], connection.settings_dict["NAME"])
    with psycopg.connect(url, autocommit=True) as superuser:
        before = _schema(superuser)
        Copier(superuser).copy(3)
        assert _schema(superuser) ^ before == set()
    assert Case.objects.filter(closed_at=None).count() == still_open
    assert Case.objects.count() == 3 * (70 - still_open) + still_open
    for invariant, finding in ask_all():
        assert finding.violations == 0, (invariant.name, finding.shown)
    change = "UPDATE cases_case SET state = 'NOTIFYING', closed_at = NULL, version = version + 1"
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="unexplained"):
        as_owner.execute(change)


def _schema(superuser: psycopg.Connection[Any]) -> set[tuple[Any, ...]]:
    """Indexes, constraints and triggers of all tables. A condition that was read back may be spelt another way."""
    statements = (
        "SELECT indexname, tablename FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
        "SELECT conname, conrelid::regclass::text, contype FROM pg_constraint ORDER BY 1, 2",
        "SELECT tgname, tgrelid::regclass::text, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2",
    )
    return {row for statement in statements for row in superuser.execute(statement)}
