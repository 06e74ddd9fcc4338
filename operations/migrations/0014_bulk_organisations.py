"""A list of bulks is shown without looking at every case of each. Of those there are, nothing is noted down."""

import django.contrib.postgres.fields
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("operations", "0013_long_lists"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="bulk",
            name="said_once",
        ),
        migrations.AddField(
            model_name="bulk",
            name="organisations",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(),
                help_text="Keys of those whose cases are in the list; not told of old ones.",
                null=True,
                size=None,
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="bulk",
            trigger=pgtrigger.compiler.Trigger(
                name="said_once",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."public_id" IS DISTINCT FROM (NEW."public_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."ordered_by_id" IS DISTINCT FROM (NEW."ordered_by_id") OR OLD."made_at" IS DISTINCT FROM (NEW."made_at") OR OLD."wanted" IS DISTINCT FROM (NEW."wanted") OR OLD."total" IS DISTINCT FROM (NEW."total") OR OLD."given_to_id" IS DISTINCT FROM (NEW."given_to_id") OR OLD."organisations" IS DISTINCT FROM (NEW."organisations"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="27dc2e78aed9d921a0be9540aa96ee675e10953c",
                    operation="UPDATE",
                    pgid="pgtrigger_said_once_31799",
                    table="operations_bulk",
                    when="BEFORE",
                ),
            ),
        ),
    ]
