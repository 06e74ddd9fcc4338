"""No unexplained state: deferred constraint triggers that refuse at COMMIT (design §4). They prove "explained", not "honest"."""

from django.conf import settings
from django.db import migrations

EXPLAINED = """
CREATE FUNCTION caseflow_case_is_explained() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.state = NEW.state AND OLD.version = NEW.version THEN
    IF NOT EXISTS (SELECT 1 FROM public.audit_auditevent e
                   WHERE e.case_id = NEW.id AND e.seq = NEW.audit_count AND e.hash = NEW.audit_head) THEN
      RAISE EXCEPTION 'the audit head of case % has no event', NEW.id USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.audit_count <> OLD.audit_count + 1 THEN
      RAISE EXCEPTION 'the history of case % grows by one event at a time', NEW.id
        USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' AND (NEW.version <> OLD.version + 1 OR NEW.state = OLD.state) THEN
    RAISE EXCEPTION 'state and version of case % change only together, the version by one', NEW.id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM public.audit_auditevent e
                 WHERE e.case_id = NEW.id AND e.version = NEW.version AND e.to_state = NEW.state
                   AND e.from_state = CASE WHEN TG_OP = 'UPDATE' THEN OLD.state ELSE '' END) THEN
    RAISE EXCEPTION 'unexplained change of case % to %, version %', NEW.id, NEW.state, NEW.version
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.audit_count <> OLD.audit_count + 1 THEN
    RAISE EXCEPTION 'the history of case % grows by one event at a time', NEW.id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER caseflow_explained AFTER INSERT OR UPDATE OF state, version, audit_count, audit_head
  ON cases_case DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION caseflow_case_is_explained();
ALTER TABLE cases_case ENABLE ALWAYS TRIGGER caseflow_explained;

CREATE FUNCTION caseflow_event_is_chained() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
  head record;
  previous bytea := '';
  said jsonb := convert_from(NEW.body, 'UTF8')::jsonb;
BEGIN
  IF said ->> 'kind' IS DISTINCT FROM NEW.kind::text
     OR NEW.version IS NOT NULL AND (said ->> 'version' IS DISTINCT FROM NEW.version::text
        OR said ->> 'from' IS DISTINCT FROM NEW.from_state::text OR said ->> 'to' IS DISTINCT FROM NEW.to_state::text) THEN
    RAISE EXCEPTION 'the columns of audit event % do not say what its body says', NEW.id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.case_id IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT c.audit_count, c.audit_head, c.version, e.hash INTO head
  FROM public.cases_case c LEFT JOIN public.audit_auditevent e ON e.case_id = c.id AND e.seq = NEW.seq - 1
  WHERE c.id = NEW.case_id;
  IF NEW.seq > 1 THEN
    previous := head.hash;
  END IF;
  IF head IS NULL OR previous IS NULL OR head.audit_count < NEW.seq OR NEW.version > head.version
     OR NEW.hash <> sha256(previous || int8send(NEW.at_us) || NEW.body)
     OR head.audit_count = NEW.seq AND head.audit_head <> NEW.hash THEN
    RAISE EXCEPTION 'audit event % of case % is not in its chain', NEW.seq, NEW.case_id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER caseflow_chained AFTER INSERT ON audit_auditevent
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION caseflow_event_is_chained();
ALTER TABLE audit_auditevent ENABLE ALWAYS TRIGGER caseflow_chained;
"""

UNEXPLAINED = """
DROP TRIGGER caseflow_chained ON audit_auditevent;
DROP TRIGGER caseflow_explained ON cases_case;
DROP FUNCTION caseflow_event_is_chained();
DROP FUNCTION caseflow_case_is_explained();
"""


def name_installation(apps, schema_editor):
    """This database belongs to the installation whose settings migrated it first."""
    installation = apps.get_model("cases", "Installation")
    installation.objects.using(schema_editor.connection.alias).get_or_create(
        only=True, defaults={"installation_id": settings.CASEFLOW_INSTALLATION_ID}
    )


class Migration(migrations.Migration):
    dependencies = [("cases", "0001_initial"), ("audit", "0001_initial")]

    operations = [
        migrations.RunSQL(EXPLAINED, UNEXPLAINED),
        migrations.RunPython(name_installation, migrations.RunPython.noop),
    ]
