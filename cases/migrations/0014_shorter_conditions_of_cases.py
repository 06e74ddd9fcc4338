"""The conditions of a case in fewer words: PostgreSQL reads their text anew with each statement that writes.

The new ones stand before the old ones go; of the rows that are there they hold from 0016 on.
"""

import django.db.models.lookups
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
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
    ]
