"""Every index is written with every row: those that another one stands in for, or that nobody asks, go."""

import django.db.models.deletion
from django.db import migrations, models

#: For `LIKE` alone, by which nobody searches these: name, table, column.
LIKES = [
    ("cases_case_public_id_eb820183_like", "cases_case", "public_id"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_density_and_shortcuts"),
        ("cases", "0010_ended_counts"),
    ]

    operations = [
        migrations.AlterField(
            model_name="attempt",
            name="task",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="attempts", to="cases.task"
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
        *(
            migrations.RunSQL(
                f'DROP INDEX IF EXISTS "{name}"', f'CREATE INDEX "{name}" ON "{table}" ("{column}" varchar_pattern_ops)'
            )
            for name, table, column in LIKES
        ),
    ]
