"""The same conditions in fewer words: PostgreSQL reads the text of a condition anew with each statement that writes.

The new ones stand before the old ones go, and are compared with the rows of a large table beside its writers.
"""

import django.db.models.lookups
from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("cases", "0013_shorter_ranges")]

    operations = [
        AddConstraintNotValid(
            model_name="case",
            constraint=models.CheckConstraint(
                condition=models.Func(
                    models.F("state"),
                    output_field=models.BooleanField(),
                    template="%(expressions)s = ANY('{RECEIVED,CHECKING,WAITING_DATA,WAITING_APPROVAL,EXECUTING,NOTIFYING,NEEDS_ATTENTION,COMPLETED,CLOSED_NO_CHANGE}'::text[])",
                ),
                name="case_has_a_known_state",
            ),
        ),
        AddConstraintNotValid(
            model_name="case",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    models.Func(
                        models.F("state"),
                        output_field=models.BooleanField(),
                        template="%(expressions)s = ANY('{CLOSED_NO_CHANGE,COMPLETED}'::text[])",
                    ),
                    django.db.models.lookups.IsNull(models.F("closed_at"), False),
                ),
                name="case_is_closed_at_a_moment",
            ),
        ),
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
        ValidateConstraint(model_name="case", name="case_has_a_known_state"),
        ValidateConstraint(model_name="case", name="case_is_closed_at_a_moment"),
        ValidateConstraint(model_name="task", name="task_is_leased_until_a_moment"),
        migrations.RemoveConstraint(model_name="case", name="case_state_is_known"),
        migrations.RemoveConstraint(model_name="case", name="case_closed_has_a_moment"),
        migrations.RemoveConstraint(model_name="task", name="task_lease_has_an_end"),
    ]
