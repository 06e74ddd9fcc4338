"""What a call began with is looked at only where an update names it; one short lock."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("actions", "0010_shorter_conditions")]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="externalcall",
            name="begun_once",
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="externalcall",
            trigger=pgtrigger.compiler.Trigger(
                name="begun_once",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."action_id" IS DISTINCT FROM (NEW."action_id") OR OLD."task_id" IS DISTINCT FROM (NEW."task_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."call_id" IS DISTINCT FROM (NEW."call_id") OR OLD."worker" IS DISTINCT FROM (NEW."worker") OR OLD."begun_at" IS DISTINCT FROM (NEW."begun_at"))',
                    func='RAISE EXCEPTION \'pgtrigger: Cannot update of "action_id", "task_id", "kind", "call_id", "worker", "begun_at" rows from % table\', TG_TABLE_NAME;',
                    hash="8a9b852cc32a989b5d2cd17a25a2aba328aa2fad",
                    operation='UPDATE OF "action_id", "task_id", "kind", "call_id", "worker", "begun_at"',
                    pgid="pgtrigger_begun_once_35c71",
                    table="actions_externalcall",
                    when="BEFORE",
                ),
            ),
        ),
    ]
