"""An index of what is watched, made beside running work: nobody waits for it."""

import django.contrib.postgres.indexes
from django.conf import settings
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False  # for CONCURRENTLY

    dependencies = [
        ("approvals", "0005_models_asked"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="decision",
            index=django.contrib.postgres.indexes.BrinIndex(autosummarize=True, fields=["at"], name="decision_by_time"),
        ),
    ]
