"""An index of what is watched, made beside running work: nobody waits for it."""

import django.contrib.postgres.indexes
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # for CONCURRENTLY

    dependencies = [
        ("actions", "0006_not_ended"),
        ("cases", "0011_open_cases"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="externalcall",
            index=django.contrib.postgres.indexes.BrinIndex(
                autosummarize=True, fields=["begun_at"], name="call_by_time"
            ),
        ),
        AddIndexConcurrently(
            model_name="action",
            index=models.Index(
                condition=models.Q(("kind", "notice"), ("status__in", ["REFUSED", "UNKNOWN"])),
                fields=["settled_at"],
                name="action_failed_notices",
            ),
        ),
    ]
