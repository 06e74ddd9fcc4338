"""What a schedule says is due is opened, and what is late is named, every minute."""

from datetime import timedelta

from django.db import migrations
from django.utils import timezone

NAME = "reports.open"


def put_on_schedule(apps, schema_editor):
    schedules = apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias)
    # The first time an hour from now: what an installation begins with is not the time for regular work.
    schedules.get_or_create(
        name=NAME,
        defaults={
            "stage": "open_reports",
            "every": timedelta(minutes=1),
            "next_at": timezone.now() + timedelta(hours=1),
        },
    )


def take_off(apps, schema_editor):
    apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias).filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [("operations", "0008_obligations"), ("cases", "0008_holds_and_notes")]

    operations = [migrations.RunPython(put_on_schedule, take_off)]
