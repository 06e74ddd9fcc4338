"""Every index is written with every row: those that another one stands in for, or that nobody asks, go."""

import django.db.models.deletion
from django.db import migrations, models

#: For `LIKE` alone, by which nobody searches these: name, table, column.
LIKES = [
    ("approvals_proposal_public_id_3102e5e7_like", "approvals_proposal", "public_id"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0004_by_time"),
        ("cases", "0009_list_by_age"),
    ]

    operations = [
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
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="proposals", to="cases.case"
            ),
        ),
        *(
            migrations.RunSQL(
                f'DROP INDEX IF EXISTS "{name}"', f'CREATE INDEX "{name}" ON "{table}" ("{column}" varchar_pattern_ops)'
            )
            for name, table, column in LIKES
        ),
    ]
