"""The newest of what is rare, without passing everything else. Made beside live work: nobody waits for it."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("actions", "0008_fewer_indexes")]

    operations = [
        AddIndexConcurrently(
            model_name="action",
            index=models.Index(
                condition=models.Q(("status__in", ["REFUSED", "CANCELLED"])),
                fields=["status", "id"],
                name="action_ended_otherwise",
            ),
        ),
        AddIndexConcurrently(
            model_name="action",
            index=models.Index(fields=["system", "id"], name="action_of_system"),
        ),
    ]
