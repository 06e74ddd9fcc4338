"""Every index is written with every row: those that another one stands in for, or that nobody asks, go."""

import django.db.models.deletion
from django.db import migrations, models

#: For `LIKE` alone, by which nobody searches these: name, table, column.
LIKES = [
    ("actions_action_key_8fce75ec_like", "actions_action", "key"),
    ("actions_action_public_id_575bde41_like", "actions_action", "public_id"),
    ("actions_externalcall_call_id_d1a37d07_like", "actions_externalcall", "call_id"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_density_and_shortcuts"),
        ("actions", "0005_ended_counts"),
        ("approvals", "0004_by_time"),
        ("cases", "0009_list_by_age"),
    ]

    operations = [
        migrations.AlterField(
            model_name="action",
            name="case",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="actions", to="cases.case"
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
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="calls", to="actions.action"
            ),
        ),
        *(
            migrations.RunSQL(
                f'DROP INDEX IF EXISTS "{name}"', f'CREATE INDEX "{name}" ON "{table}" ("{column}" varchar_pattern_ops)'
            )
            for name, table, column in LIKES
        ),
    ]
