"""The new conditions are compared with the rows that are there, beside whoever works."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("cases", "0015_shorter_condition_of_tasks")]

    operations = [
        ValidateConstraint(model_name="case", name="case_has_a_known_state"),
        ValidateConstraint(model_name="case", name="case_is_closed_at_a_moment"),
        ValidateConstraint(model_name="task", name="task_is_leased_until_a_moment"),
    ]
