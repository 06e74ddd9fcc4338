"""What an attempt began with is looked at only where an update names it; one short lock."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("cases", "0018_former_condition_of_tasks_goes")]

    operations = [
        pgtrigger.migrations.RemoveTrigger(model_name="attempt", name="begun_once"),
        pgtrigger.migrations.AddTrigger(
            model_name="attempt",
            trigger=pgtrigger.compiler.Trigger(
                name="begun_once",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."task_id" IS DISTINCT FROM (NEW."task_id") OR OLD."number" IS DISTINCT FROM (NEW."number") OR OLD."fence" IS DISTINCT FROM (NEW."fence") OR OLD."worker" IS DISTINCT FROM (NEW."worker") OR OLD."begun_at" IS DISTINCT FROM (NEW."begun_at"))',
                    func='RAISE EXCEPTION \'pgtrigger: Cannot update of "task_id", "number", "fence", "worker", "begun_at" rows from % table\', TG_TABLE_NAME;',
                    hash="7ce1ba902efe5d2f22de001e506dba1ef650ed71",
                    operation='UPDATE OF "task_id", "number", "fence", "worker", "begun_at"',
                    pgid="pgtrigger_begun_once_252a4",
                    table="cases_attempt",
                    when="BEFORE",
                ),
            ),
        ),
    ]
