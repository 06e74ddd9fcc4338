"""A pause may belong to one organisation, has a public id, and stands once for what it stops."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

#: Rows from before: the organisation was named by its number, and nothing kept the same stop from standing twice.
FILL = """
UPDATE cases_pause SET organisation_id = key::bigint, key = '' WHERE kind = 'organisation';
UPDATE cases_pause SET public_id = 'S-' || upper(substr(md5(id::text || 'pause' || random()::text), 1, 10));
UPDATE cases_pause p SET ended_at = clock_timestamp() WHERE ended_at IS NULL AND EXISTS (
  SELECT FROM cases_pause q WHERE q.ended_at IS NULL AND q.id > p.id AND q.kind = p.kind AND q.key = p.key
    AND q.organisation_id IS NOT DISTINCT FROM p.organisation_id);
SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("cases", "0003_worker_beats"),
        ("accounts", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(model_name="pause", name="pause_live"),
        migrations.AddField(
            model_name="pause",
            name="organisation",
            field=models.ForeignKey(
                help_text="Only there.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="accounts.organisation",
            ),
        ),
        migrations.AddField(
            model_name="pause",
            name="ended_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="pause",
            name="public_id",
            field=models.CharField(max_length=16, null=True),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="pause",
            name="public_id",
            field=models.CharField(max_length=16, unique=True),
        ),
        migrations.AlterField(
            model_name="pause",
            name="key",
            field=models.CharField(
                default="", help_text="Process slug or system name, '' for the other kinds.", max_length=80
            ),
        ),
        migrations.AlterField(
            model_name="pause",
            name="kind",
            field=models.CharField(
                choices=[
                    ("process", "Process"),
                    ("system", "System"),
                    ("organisation", "Organisation"),
                    ("all", "All"),
                ],
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="pause",
            name="reason",
            field=models.CharField(help_text="In words, or the code of what paused it by itself.", max_length=500),
        ),
        migrations.AddIndex(
            model_name="pause",
            index=models.Index(fields=["-at"], name="pause_newest"),
        ),
        migrations.AddConstraint(
            model_name="pause",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at__isnull", True)),
                fields=("kind", "key", "organisation"),
                name="pause_one_live",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="pause",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind__in", ["process", "system"]), models.Q(("key", ""), _negated=True)),
                    models.Q(("key", ""), ("kind", "organisation"), ("organisation__isnull", False)),
                    models.Q(("key", ""), ("kind", "all"), ("organisation__isnull", True)),
                    _connector="OR",
                ),
                name="pause_says_of_what",
            ),
        ),
    ]
