"""Every index is written with every row: those that another one stands in for, or that nobody asks, go."""

import django.db.models.deletion
from django.db import migrations, models

#: Of keys that another index begins with, and for `LIKE`, by which nobody searches these: name, table, column. By name:
#: told to go, Django takes every index of the column, one that keeps a promise, too.
GONE = [
    ("actions_action_case_id_5d0ca651", "actions_action", "case_id"),
    ("actions_action_organisation_id_e8251c04", "actions_action", "organisation_id"),
    ("actions_action_proposal_id_7665dfb0", "actions_action", "proposal_id"),
    ("actions_externalcall_action_id_4430ab63", "actions_externalcall", "action_id"),
    ("actions_action_key_8fce75ec_like", "actions_action", "key varchar_pattern_ops"),
    ("actions_action_public_id_575bde41_like", "actions_action", "public_id varchar_pattern_ops"),
    ("actions_externalcall_call_id_d1a37d07_like", "actions_externalcall", "call_id varchar_pattern_ops"),
]


class Migration(migrations.Migration):
    atomic = False  # for CONCURRENTLY
    safe_because = "indexes go one by one beside running work, and nobody waits for them"

    dependencies = [
        ("accounts", "0005_density_and_shortcuts"),
        ("actions", "0007_watched"),
        ("approvals", "0004_by_time"),
        ("cases", "0009_list_by_age"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="action",
                    name="case",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="actions",
                        to="cases.case",
                    ),
                ),
                migrations.AlterField(
                    model_name="action",
                    name="organisation",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.organisation",
                    ),
                ),
                migrations.AlterField(
                    model_name="action",
                    name="proposal",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="actions",
                        to="approvals.proposal",
                    ),
                ),
                migrations.AlterField(
                    model_name="externalcall",
                    name="action",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calls",
                        to="actions.action",
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
