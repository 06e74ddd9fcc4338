"""What a cap of effects per hour counts is found by an index."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("actions", "0002_initial"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="action",
            index=models.Index(
                condition=models.Q(("first_sent_at__isnull", False), ("kind", "effect")),
                fields=["system", "first_sent_at"],
                include=["organisation"],
                name="action_sent_by_system",
            ),
        ),
    ]
