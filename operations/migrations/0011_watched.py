"""An index of what is watched, made beside running work: nobody waits for it."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # for CONCURRENTLY

    dependencies = [
        ("actions", "0007_watched"),
        ("operations", "0010_asked_again"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="driftfinding",
            index=models.Index(fields=["at"], name="driftfinding_by_time"),
        ),
    ]
