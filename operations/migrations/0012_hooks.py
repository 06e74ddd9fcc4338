"""Programs that are told of an organisation's cases. Their schedule is off until there is one."""

from datetime import timedelta

import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone

import operations.hook_models

NAME = "hooks.spread"


def put_on_schedule(apps, schema_editor):
    schedules = apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias)
    schedules.get_or_create(
        name=NAME,
        defaults={
            "stage": "spread_hooks",
            "queue": "slow",
            "every": timedelta(seconds=5),
            "next_at": timezone.now(),
            "is_active": False,
        },
    )


def take_off(apps, schema_editor):
    apps.get_model("cases", "Schedule").objects.using(schema_editor.connection.alias).filter(name=NAME).delete()


class Migration(migrations.Migration):
    safe_because = "one row of the schedules is written"

    dependencies = [
        ("accounts", "0006_watched"),
        ("audit", "0005_watched"),
        ("cases", "0011_open_cases"),
        ("operations", "0011_watched"),
    ]

    operations = [
        migrations.CreateModel(
            name="HookReading",
            fields=[
                (
                    "organisation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        serialize=False,
                        to="accounts.organisation",
                    ),
                ),
                ("safe_us", models.BigIntegerField()),
                ("marks", models.JSONField(default=list)),
            ],
        ),
        migrations.CreateModel(
            name="Hook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=operations.hook_models.new_hook_id, max_length=16, unique=True)),
                ("name", models.CharField(max_length=100)),
                ("channel", models.CharField(choices=[("webhook", "Webhook"), ("ticket", "Ticket")], max_length=8)),
                ("url", models.CharField(default="", help_text="Of a webhook.", max_length=500)),
                (
                    "source",
                    models.CharField(
                        default="", help_text="Only cases from there; of a line in the ticket.", max_length=64
                    ),
                ),
                ("language", models.CharField(default="en", help_text="Of a line in the ticket.", max_length=8)),
                ("kinds", models.JSONField(help_text="A list of Kind.")),
                ("is_active", models.BooleanField(default=True)),
                (
                    "from_us",
                    models.BigIntegerField(help_text="Changes since this moment are told, in microseconds since 1970."),
                ),
                (
                    "failing_since",
                    models.DateTimeField(help_text="Since then something was given up and nothing arrived.", null=True),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "organisation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="hooks", to="accounts.organisation"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="HookDelivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.IntegerField(help_text="Of the case after the change.")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("opened", "Opened"),
                            ("changed", "Changed"),
                            ("attention", "Attention"),
                            ("closed", "Closed"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("sent", "Sent"),
                            ("failed", "Failed"),
                            ("skipped", "Skipped"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("answer", models.PositiveSmallIntegerField(help_text="The last HTTP status.", null=True)),
                ("code", models.CharField(default="", help_text="Why it did not arrive.", max_length=64)),
                ("created_at", models.DateTimeField()),
                ("settled_at", models.DateTimeField(null=True)),
                (
                    "case",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="hook_deliveries",
                        to="cases.case",
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="audit.auditevent",
                    ),
                ),
                (
                    "hook",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deliveries",
                        to="operations.hook",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="HookSecret",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("wrapped", models.BinaryField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(null=True)),
                (
                    "hook",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="secrets", to="operations.hook"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="hook",
            constraint=models.UniqueConstraint(fields=("organisation", "name"), name="hook_name_in_organisation"),
        ),
        migrations.AddIndex(
            model_name="hookdelivery",
            index=models.Index(fields=["hook", "-id"], name="hookdelivery_newest"),
        ),
        migrations.AddIndex(
            model_name="hookdelivery",
            index=models.Index(
                condition=models.Q(("status__in", ["waiting", "failed"])),
                fields=["hook", "id"],
                name="hookdelivery_not_sent",
            ),
        ),
        migrations.AddConstraint(
            model_name="hookdelivery",
            constraint=models.UniqueConstraint(fields=("case", "version", "hook"), name="hook_told_once_a_version"),
        ),
        migrations.RunPython(put_on_schedule, take_off),
    ]
