"""What may still change is counted from an index of its own. Made beside live work: nobody waits for it."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("actions", "0005_ended_counts")]

    operations = [
        AddIndexConcurrently(
            model_name="action",
            index=models.Index(
                fields=["status", "kind"],
                include=["organisation", "system", "first_sent_at", "created_at"],
                condition=models.Q(status__in=["PLANNED", "REQUESTED", "UNKNOWN"]),
                name="action_not_ended",
            ),
        ),
    ]
