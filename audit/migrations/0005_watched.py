"""An index of what is watched, made beside running work: nobody waits for it."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # for CONCURRENTLY

    dependencies = [
        ("audit", "0004_milestones"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="auditevent",
            index=models.Index(
                condition=models.Q(("kind__in", ["case.approval_lapsed", "case.facts_changed", "decision.refused"])),
                fields=["at"],
                name="audit_refusals",
            ),
        ),
    ]
