"""What happens rarely, and what one person did, without passing everything else. Made beside live work."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

USUAL = [
    "case.opened",
    "case.check_started",
    "facts.observed",
    "case.proposal_ready",
    "case.plan_ready",
    "case.quorum_reached",
    "action.requested",
    "case.effects_confirmed",
    "case.notices_confirmed",
    "case.closing_notice_due",
    "case.closing_notices_confirmed",
]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("audit", "0005_watched")]

    operations = [
        AddIndexConcurrently(
            model_name="auditevent",
            index=models.Index(
                condition=models.Q(("kind__in", USUAL), _negated=True),
                fields=["organisation_id", "kind", "at_us", "id"],
                name="audit_unusual",
            ),
        ),
        AddIndexConcurrently(
            model_name="auditevent",
            index=models.Index(
                condition=models.Q(("actor_kind", "person")),
                fields=["organisation_id", "actor_id", "at_us", "id"],
                name="audit_by_person",
            ),
        ),
    ]
