import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import accounts.service_models


def name_machines(apps, schema_editor):
    """Each machine gets a name for addresses."""
    rows = apps.get_model("accounts", "ServiceAccount").objects.using(schema_editor.connection.alias)
    for account in rows.filter(public_id=None):
        account.public_id = accounts.service_models._new_name()
        account.save(update_fields=["public_id"])


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_platform_operator")]

    operations = [
        migrations.AddField(
            model_name="person",
            name="session_epoch",
            field=models.PositiveIntegerField(
                default=0,
                editable=False,
                help_text="Counted up: every session before is over.",
                verbose_name="ends of all sessions",
            ),
        ),
        migrations.AddField(
            model_name="serviceaccount",
            name="public_id",
            field=models.CharField(max_length=16, null=True, editable=False),
        ),
        migrations.RunPython(name_machines, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="serviceaccount",
            name="public_id",
            field=models.CharField(
                default=accounts.service_models._new_name, editable=False, max_length=16, unique=True
            ),
        ),
        migrations.AddField(
            model_name="servicetoken",
            name="last_used_at",
            field=models.DateTimeField(
                blank=True, help_text="To the hour: not every request writes.", null=True, verbose_name="last used"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="person",
            trigger=pgtrigger.compiler.Trigger(
                name="dismissal_ends_sessions",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.session_epoch = greatest(NEW.session_epoch, OLD.session_epoch) + (OLD.is_active AND NOT NEW.is_active)::int; RETURN NEW;",
                    hash="5f66369b639c2f494101efe728161fb10129ea31",
                    operation="UPDATE",
                    pgid="pgtrigger_dismissal_ends_sessions_1bd1d",
                    table="accounts_person",
                    when="BEFORE",
                ),
            ),
        ),
    ]
