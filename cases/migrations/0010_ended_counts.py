"""Cases that ended are counted as they end, by rows that are only inserted; a task folds them into counts.

The trigger comes before the first count and with it: no writer gets in between. On a table of a million cases that
takes about a second.
"""

from datetime import timedelta

from django.db import migrations, models
from django.utils import timezone

NAME = "cases.counting"

#: Whoever writes a case that is closed or closes one; `OLD` is known to the second trigger only.
COUNTED = """
CREATE FUNCTION caseflow_case_ends() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  INSERT INTO public.cases_ended (what, organisation_id, about, kind, state, since)
  VALUES ('case', NEW.organisation_id, NEW.process, '', NEW.state, NEW.state_since);
  RETURN NULL;
END $$;

CREATE TRIGGER caseflow_ends_at_once AFTER INSERT ON cases_case
  FOR EACH ROW WHEN (NEW.closed_at IS NOT NULL) EXECUTE FUNCTION caseflow_case_ends();
CREATE TRIGGER caseflow_ends AFTER UPDATE OF state ON cases_case
  FOR EACH ROW WHEN (OLD.closed_at IS NULL AND NEW.closed_at IS NOT NULL) EXECUTE FUNCTION caseflow_case_ends();
ALTER TABLE cases_case ENABLE ALWAYS TRIGGER caseflow_ends_at_once;
ALTER TABLE cases_case ENABLE ALWAYS TRIGGER caseflow_ends;
"""

FIRST_COUNT = """
INSERT INTO cases_endedcount (what, organisation_id, about, kind, state, number, oldest)
SELECT 'case', organisation_id, process, '', state, count(*), min(state_since) FROM cases_case
WHERE closed_at IS NOT NULL GROUP BY organisation_id, process, state
"""

NOT_COUNTED = """
DROP TRIGGER caseflow_ends ON cases_case;
DROP TRIGGER caseflow_ends_at_once ON cases_case;
DROP FUNCTION caseflow_case_ends();
"""


def put_on_schedule(apps, schema_editor):
    schedules = apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias)
    # The first time an hour from now: what an installation begins with is not the time for regular work.
    schedules.get_or_create(
        name=NAME,
        defaults={
            "stage": "fold_counts",
            "every": timedelta(minutes=1),
            "next_at": timezone.now() + timedelta(hours=1),
        },
    )


def take_off(apps, schema_editor):
    apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias).filter(name=NAME).delete()


class Migration(migrations.Migration):
    safe_because = "a trigger and one count: who writes a case waits about a second for each million of them"

    dependencies = [("cases", "0009_list_by_age")]

    operations = [
        migrations.CreateModel(
            name="Ended",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("what", models.CharField(choices=[("case", "Case"), ("action", "Action")], max_length=8)),
                ("organisation_id", models.BigIntegerField()),
                ("about", models.CharField(help_text="The process of a case, the system of an action.", max_length=64)),
                ("kind", models.CharField(default="", help_text="Of an action: effect or notice.", max_length=8)),
                ("state", models.CharField(help_text="The state of a case, the status of an action.", max_length=24)),
                (
                    "since",
                    models.DateTimeField(
                        help_text="Of a case its end, of an action when it was first sent, or planned."
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="EndedCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("what", models.CharField(choices=[("case", "Case"), ("action", "Action")], max_length=8)),
                ("organisation_id", models.BigIntegerField()),
                ("about", models.CharField(help_text="The process of a case, the system of an action.", max_length=64)),
                ("kind", models.CharField(default="", help_text="Of an action: effect or notice.", max_length=8)),
                ("state", models.CharField(help_text="The state of a case, the status of an action.", max_length=24)),
                ("number", models.BigIntegerField()),
                ("oldest", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("what", "organisation_id", "about", "kind", "state"), name="ended_one_count"
                    )
                ],
            },
        ),
        migrations.RunSQL(COUNTED, NOT_COUNTED),
        migrations.RunSQL(FIRST_COUNT, migrations.RunSQL.noop),
        migrations.RunPython(put_on_schedule, take_off),
    ]
