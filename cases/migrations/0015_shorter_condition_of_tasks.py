"""The condition of a task in fewer words, like those of cases (0014)."""

import django.db.models.lookups
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("cases", "0014_shorter_conditions_of_cases")]

    operations = [
        AddConstraintNotValid(
            model_name="task",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    django.db.models.lookups.Exact(models.F("status"), "leased"),
                    django.db.models.lookups.IsNull(models.F("leased_until"), False),
                ),
                name="task_is_leased_until_a_moment",
            ),
        ),
    ]
