"""Shorter ranges for the tasks of the last days: one new row among old ones calls for fewer of them to be read."""

from django.contrib.postgres.indexes import BrinIndex
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("cases", "0012_fewer_indexes")]

    operations = [
        AddIndexConcurrently(
            model_name="task",
            index=BrinIndex(autosummarize=True, fields=["created_at"], name="task_by_creation", pages_per_range=16),
        ),
        RemoveIndexConcurrently(model_name="task", name="task_by_time"),
    ]
