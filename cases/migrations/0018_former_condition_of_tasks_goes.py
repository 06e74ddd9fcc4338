"""What the condition of 0015 says as well."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("cases", "0017_former_conditions_of_cases_go")]

    operations = [
        migrations.RemoveConstraint(model_name="task", name="task_lease_has_an_end"),
    ]
