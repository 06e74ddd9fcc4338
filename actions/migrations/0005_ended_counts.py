"""Actions that ended are counted as they end, like cases (`cases.0010_ended_counts`)."""

from django.db import migrations

#: From these there is no way on (`allowed_moves`).
ENDS = "('CANCELLED', 'CONFIRMED', 'REFUSED')"

COUNTED = f"""
CREATE FUNCTION caseflow_action_ends() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  INSERT INTO public.cases_ended (what, organisation_id, about, kind, state, since)
  VALUES ('action', NEW.organisation_id, NEW.system, NEW.kind, NEW.status, coalesce(NEW.first_sent_at, NEW.created_at));
  RETURN NULL;
END $$;

CREATE TRIGGER caseflow_ends_at_once AFTER INSERT ON actions_action
  FOR EACH ROW WHEN (NEW.status IN {ENDS}) EXECUTE FUNCTION caseflow_action_ends();
CREATE TRIGGER caseflow_ends AFTER UPDATE OF status ON actions_action
  FOR EACH ROW WHEN (OLD.status NOT IN {ENDS} AND NEW.status IN {ENDS}) EXECUTE FUNCTION caseflow_action_ends();
ALTER TABLE actions_action ENABLE ALWAYS TRIGGER caseflow_ends_at_once;
ALTER TABLE actions_action ENABLE ALWAYS TRIGGER caseflow_ends;
"""

FIRST_COUNT = f"""
INSERT INTO cases_endedcount (what, organisation_id, about, kind, state, number, oldest)
SELECT 'action', organisation_id, system, kind, status, count(*), min(coalesce(first_sent_at, created_at))
FROM actions_action WHERE status IN {ENDS} GROUP BY organisation_id, system, kind, status
"""

NOT_COUNTED = """
DROP TRIGGER caseflow_ends ON actions_action;
DROP TRIGGER caseflow_ends_at_once ON actions_action;
DROP FUNCTION caseflow_action_ends();
"""


class Migration(migrations.Migration):
    safe_because = "a trigger and one count: who writes an action waits about a second for each million of them"

    dependencies = [("actions", "0004_search_by_outside_number"), ("cases", "0010_ended_counts")]

    operations = [
        migrations.RunSQL(COUNTED, NOT_COUNTED),
        migrations.RunSQL(FIRST_COUNT, "DELETE FROM cases_endedcount WHERE what = 'action'"),
    ]
