"""An index of what is watched, made beside running work: nobody waits for it."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # for CONCURRENTLY

    dependencies = [
        ("accounts", "0006_watched"),
        ("cases", "0009_list_by_age"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="case",
            index=models.Index(
                condition=models.Q(("closed_at__isnull", True)),
                fields=["process", "state", "reason", "state_since"],
                name="case_open",
            ),
        ),
    ]
