"""The same conditions in fewer words, and looked at only where an update names what they are about.

PostgreSQL reads the text of a condition anew with each statement that writes; actions had most of it.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations

_COUNTED = """
DROP TRIGGER caseflow_ends ON actions_action;
CREATE TRIGGER caseflow_ends AFTER UPDATE OF status ON actions_action
  FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION caseflow_action_ends();
ALTER TABLE actions_action ENABLE ALWAYS TRIGGER caseflow_ends;
"""
_SHORT = "'{CANCELLED,CONFIRMED,REFUSED}'::text[]"
_LONG = "('CANCELLED', 'CONFIRMED', 'REFUSED')"
COUNTED_IN_SHORT = _COUNTED.format(condition=f"OLD.status <> ALL({_SHORT}) AND NEW.status = ANY({_SHORT})")
COUNTED = _COUNTED.format(condition=f"OLD.status NOT IN {_LONG} AND NEW.status IN {_LONG}")


class Migration(migrations.Migration):
    safe_because = "triggers alone: who writes an action waits for one short lock"

    dependencies = [("actions", "0009_rare_lists")]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="action",
            name="key_for_life",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="action",
            name="allowed_moves",
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="action",
            trigger=pgtrigger.compiler.Trigger(
                name="key_for_life",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."public_id" IS DISTINCT FROM (NEW."public_id") OR OLD."key" IS DISTINCT FROM (NEW."key") OR OLD."case_id" IS DISTINCT FROM (NEW."case_id") OR OLD."proposal_id" IS DISTINCT FROM (NEW."proposal_id") OR OLD."position" IS DISTINCT FROM (NEW."position") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."system" IS DISTINCT FROM (NEW."system") OR OLD."operation" IS DISTINCT FROM (NEW."operation") OR OLD."subject" IS DISTINCT FROM (NEW."subject"))',
                    func='RAISE EXCEPTION \'pgtrigger: Cannot update of "public_id", "key", "case_id", "proposal_id", "position", "kind", "system", "operation", "subject" rows from % table\', TG_TABLE_NAME;',
                    hash="08a285d1de19f597679f96848f76ac34cd803c2e",
                    operation='UPDATE OF "public_id", "key", "case_id", "proposal_id", "position", "kind", "system", "operation", "subject"',
                    pgid="pgtrigger_key_for_life_9357a",
                    table="actions_action",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="action",
            trigger=pgtrigger.compiler.Trigger(
                name="allowed_moves",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.status <> NEW.status AND OLD.status || '>' || NEW.status <> ALL('{PLANNED>REQUESTED,PLANNED>CANCELLED,PLANNED>REFUSED,REQUESTED>CONFIRMED,REQUESTED>UNKNOWN,REQUESTED>REFUSED,REQUESTED>PLANNED,UNKNOWN>CONFIRMED,UNKNOWN>REQUESTED,UNKNOWN>REFUSED}'::text[]))",
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update of \"status\" rows from % table', TG_TABLE_NAME;",
                    hash="cea4c3f283e51ad559b609cf65a71f29f9f0b567",
                    operation='UPDATE OF "status"',
                    pgid="pgtrigger_allowed_moves_8019d",
                    table="actions_action",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.RunSQL(COUNTED_IN_SHORT, COUNTED),
    ]
