"""The regular comparison with the outside systems: a sample every hour, all of the last day once a day."""

from datetime import timedelta

from django.db import migrations
from django.utils import timezone

REGULAR = {"sample": timedelta(hours=1), "day": timedelta(days=1)}


def put_on_schedule(apps, schema_editor):
    schedules = apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias)
    for scope, every in REGULAR.items():
        schedules.get_or_create(
            name=f"drift.{scope}",
            defaults={
                "stage": "drift",
                "subject": scope,
                "queue": "slow",
                "every": every,
                "next_at": timezone.now() + every,
            },
        )


def take_off(apps, schema_editor):
    schedules = apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias)
    schedules.filter(name__in=[f"drift.{scope}" for scope in REGULAR]).delete()


class Migration(migrations.Migration):
    dependencies = [("operations", "0001_initial"), ("cases", "0002_explained")]

    operations = [migrations.RunPython(put_on_schedule, take_off)]
