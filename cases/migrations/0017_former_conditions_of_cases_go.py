"""What the conditions of 0014 say as well."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("cases", "0016_shorter_conditions_hold")]

    operations = [
        migrations.RemoveConstraint(model_name="case", name="case_state_is_known"),
        migrations.RemoveConstraint(model_name="case", name="case_closed_has_a_moment"),
    ]
