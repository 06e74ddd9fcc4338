"""No migration rewrites or locks a big table, or takes away what the release before still uses."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader

from tests.stand.migration_rules import ALLOWED, BIG, dangers, dangers_of_all

INDEX = models.Index(fields=["reason"], name="case_by_reason")
CHECK = models.CheckConstraint(condition=models.Q(version__gt=0), name="case_has_a_version")


def judged(*operations: Any, **more: Any) -> list[str]:
    loader = MigrationLoader(None)
    one = type("Migration", (migrations.Migration,), {"operations": list(operations), **more})
    return dangers(one("0099_probe", "cases"), loader.project_state(("cases", ALLOWED["cases"])))


def test_every_migration_from_now_on_is_safe_on_big_tables_and_beside_the_release_before() -> None:
    assert dangers_of_all() == []


def test_the_big_tables_and_the_last_old_migrations_exist() -> None:
    loader = MigrationLoader(None)
    assert set(ALLOWED.items()) <= set(loader.disk_migrations)
    assert set(loader.project_state().models) >= BIG


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddIndex("case", INDEX),
        AddIndexConcurrently("case", INDEX),  # within a transaction
        migrations.AddConstraint("case", CHECK),
        migrations.AddField("task", "weight", models.IntegerField(default=0)),
        migrations.AddField("task", "weight", models.IntegerField(null=True, db_index=True)),
        migrations.AlterField("case", "version", models.BigIntegerField()),
        migrations.AlterField("case", "reason", models.CharField(max_length=8, default="")),
        migrations.AlterField("case", "closed_at", models.DateTimeField()),
        migrations.AlterField("case", "reason", models.CharField(max_length=64, default="", db_index=True)),
        migrations.RemoveField("case", "subject"),
        migrations.RenameField("case", "subject", "about"),
        migrations.DeleteModel("observation"),
        migrations.RunSQL("UPDATE cases_case SET reason = ''"),
        migrations.RunPython(lambda apps, editor: None),
    ],
    ids=lambda operation: f"{type(operation).__name__} {operation.describe()}"[:60],
)
def test_what_locks_or_rewrites_or_takes_away_is_found(operation: Any) -> None:
    assert len(judged(operation)) == 1


def test_what_is_safe_passes() -> None:
    assert judged(AddIndexConcurrently("case", INDEX), atomic=False) == []
    assert judged(migrations.RunSQL("SELECT 1"), safe_because="it reads nothing") == []
    assert (
        judged(
            AddConstraintNotValid("case", CHECK),
            migrations.AddField("task", "weight", models.IntegerField(db_default=0)),
            migrations.AddField("case", "asked_at", models.DateTimeField(null=True)),
            migrations.AlterField("case", "reason", models.CharField(max_length=80, default="")),
            migrations.CreateModel("probe", [("id", models.BigAutoField(primary_key=True))]),
            migrations.AddIndex("probe", models.Index(fields=["id"], name="probe_by_id")),
        )
        == []
    )
