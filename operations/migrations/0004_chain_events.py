"""Organisation events get their numbers every five minutes."""

from datetime import timedelta

from django.db import migrations
from django.utils import timezone

NAME = "audit.chain"


def put_on_schedule(apps, schema_editor):
    schedules = apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias)
    # The first time an hour from now: what an installation begins with is not the time for regular work.
    schedules.get_or_create(
        name=NAME,
        defaults={
            "stage": "chain_events",
            "every": timedelta(minutes=5),
            "next_at": timezone.now() + timedelta(hours=1),
        },
    )


def take_off(apps, schema_editor):
    apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias).filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [("operations", "0003_recoveries"), ("audit", "0002_organisation_streams")]

    operations = [migrations.RunPython(put_on_schedule, take_off)]
