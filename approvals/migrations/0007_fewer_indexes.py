"""Every index is written with every row: those that another one stands in for, or that nobody asks, go."""

import django.db.models.deletion
from django.db import migrations, models

#: Of keys that another index begins with, and for `LIKE`, by which nobody searches these: name, table, column. By name:
#: told to go, Django takes every index of the column, one that keeps a promise, too.
GONE = [
    ("approvals_decision_proposal_id_11285530", "approvals_decision", "proposal_id"),
    ("approvals_proposal_case_id_694b6784", "approvals_proposal", "case_id"),
    ("approvals_proposal_public_id_3102e5e7_like", "approvals_proposal", "public_id varchar_pattern_ops"),
]


class Migration(migrations.Migration):
    atomic = False  # for CONCURRENTLY
    safe_because = "indexes go one by one beside running work, and nobody waits for them"

    dependencies = [
        ("approvals", "0006_watched"),
        ("cases", "0009_list_by_age"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="decision",
                    name="proposal",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="approvals.proposal",
                    ),
                ),
                migrations.AlterField(
                    model_name="proposal",
                    name="case",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="proposals",
                        to="cases.case",
                    ),
                ),
            ],
            database_operations=[
                migrations.RunSQL(
                    f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
                    f"CREATE INDEX CONCURRENTLY {name} ON {table} ({column})",
                )
                for name, table, column in GONE
            ],
        ),
    ]
