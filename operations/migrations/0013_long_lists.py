"""What lists begin with, however long they are, and when something last arrived. Made beside live work."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("operations", "0012_hooks")]

    operations = [
        AddIndexConcurrently(
            model_name="driftfinding",
            index=models.Index(condition=models.Q(("is_new", True)), fields=["at", "id"], name="driftfinding_news"),
        ),
        AddIndexConcurrently(
            model_name="driftfinding",
            index=models.Index(
                condition=models.Q(("is_new", True)), fields=["action", "-id"], name="driftfinding_newest_news"
            ),
        ),
        AddIndexConcurrently(
            model_name="obligation",
            index=models.Index(fields=["-period_end", "-id"], name="obligation_by_period"),
        ),
        AddIndexConcurrently(
            model_name="hookdelivery",
            index=models.Index(
                condition=models.Q(("status", "sent")), fields=["hook", "settled_at"], name="hookdelivery_arrived"
            ),
        ),
    ]
