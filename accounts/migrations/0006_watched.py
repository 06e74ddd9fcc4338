"""An index of what is watched, made beside running work: nobody waits for it."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # for CONCURRENTLY

    dependencies = [
        ("accounts", "0005_density_and_shortcuts"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="staffnotice",
            index=models.Index(condition=models.Q(("outcome", "failed")), fields=["at"], name="staff_notice_failed"),
        ),
    ]
