"""What is open is counted and listed from an index of its own. Made beside live work: nobody waits for it."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("cases", "0010_ended_counts")]

    operations = [
        AddIndexConcurrently(
            model_name="case",
            index=models.Index(
                fields=["state_since", "id"],
                include=["organisation", "state", "process", "reason"],
                condition=models.Q(closed_at__isnull=True),
                name="case_open",
            ),
        ),
        AddIndexConcurrently(
            model_name="case",
            index=models.Index(
                fields=["reason", "state_since", "id"], condition=~models.Q(reason=""), name="case_by_reason"
            ),
        ),
    ]
