"""Half-written files are cleared away every hour."""

from datetime import timedelta

from django.db import migrations
from django.utils import timezone

NAME = "documents.sweep"


def put_on_schedule(apps, schema_editor):
    schedules = apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias)
    # The first time an hour from now: what an installation begins with is not the time for regular work.
    hour = timedelta(hours=1)
    schedules.get_or_create(
        name=NAME, defaults={"stage": "sweep_documents", "every": hour, "next_at": timezone.now() + hour}
    )


def take_off(apps, schema_editor):
    apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias).filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [("documents", "0001_initial"), ("cases", "0008_holds_and_notes")]

    operations = [migrations.RunPython(put_on_schedule, take_off)]
