"""Whether somebody may is asked by the right's name, several times a case; Django keeps no index of it."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False  # for CONCURRENTLY
    safe_because = "a table of some hundred rows, and its index is made beside running work"

    dependencies = [
        ("accounts", "0006_watched"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.RunSQL(
            "CREATE INDEX CONCURRENTLY caseflow_permission_by_codename ON auth_permission (codename)",
            "DROP INDEX CONCURRENTLY IF EXISTS caseflow_permission_by_codename",
        ),
    ]
