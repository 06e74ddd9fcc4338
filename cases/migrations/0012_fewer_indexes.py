"""Every index is written with every row: those that another one stands in for, or that nobody asks, go."""

import django.db.models.deletion
from django.db import migrations, models

#: Of keys that another index begins with, and for `LIKE`, by which nobody searches these: name, table, column. By name:
#: told to go, Django takes every index of the column, one that keeps a promise, too.
GONE = [
    ("cases_attempt_task_id_b21a0de1", "cases_attempt", "task_id"),
    ("cases_case_organisation_id_dac38ff3", "cases_case", "organisation_id"),
    ("cases_intakerevision_case_id_e7c075b7", "cases_intakerevision", "case_id"),
    ("cases_observation_case_id_711e365f", "cases_observation", "case_id"),
    ("cases_personaltext_case_id_a039d214", "cases_personaltext", "case_id"),
    ("cases_task_case_id_db8cf8f3", "cases_task", "case_id"),
    ("cases_case_public_id_eb820183_like", "cases_case", "public_id varchar_pattern_ops"),
]


class Migration(migrations.Migration):
    atomic = False  # for CONCURRENTLY
    safe_because = "indexes go one by one beside running work, and nobody waits for them"

    dependencies = [
        ("accounts", "0005_density_and_shortcuts"),
        ("cases", "0011_open_cases"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="attempt",
                    name="task",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="attempts",
                        to="cases.task",
                    ),
                ),
                migrations.AlterField(
                    model_name="case",
                    name="organisation",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="cases",
                        to="accounts.organisation",
                    ),
                ),
                migrations.AlterField(
                    model_name="intakerevision",
                    name="case",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="intake_revisions",
                        to="cases.case",
                    ),
                ),
                migrations.AlterField(
                    model_name="observation",
                    name="case",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="observations",
                        to="cases.case",
                    ),
                ),
                migrations.AlterField(
                    model_name="personaltext",
                    name="case",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="personal_texts",
                        to="cases.case",
                    ),
                ),
                migrations.AlterField(
                    model_name="task",
                    name="case",
                    field=models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tasks",
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
