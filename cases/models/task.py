"""One durable piece of work, and each try at it."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models.lookups import Exact, IsNull

from .case import Case

QUICK, SLOW = "quick", "slow"  #: the queues; slow is for models and files


class TaskStatus(models.TextChoices):
    DUE = "due"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"
    OBSOLETE = "obsolete"
    CANCELLED = "cancelled"


LIVE = (TaskStatus.DUE, TaskStatus.LEASED)


class Task(models.Model):
    """The due, unrung rows are the transactional outbox. `attempt` counts before the work (design §3)."""

    runtime_rights = "SELECT, INSERT, UPDATE"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, null=True, related_name="tasks", db_index=False)
    organisation_key = models.BigIntegerField(default=0, help_text="The organisation, 0 for the platform's own work.")
    process = models.CharField(max_length=80, default="", help_text="'slug:version', '' for the platform's own work.")
    stage = models.CharField(max_length=64)
    subject = models.CharField(max_length=64, default="", help_text="A public id, or nothing.")
    generation = models.PositiveIntegerField(default=0, help_text="The case's version at publishing.")
    queue = models.CharField(max_length=16, default=QUICK)
    status = models.CharField(max_length=16, default=TaskStatus.DUE, choices=TaskStatus)
    attempt = models.PositiveIntegerField(default=0, help_text="Attempts begun.")
    returned = models.PositiveIntegerField(default=0, help_text="Attempts given back: they tried nothing.")
    lost = models.PositiveIntegerField(default=0, help_text="Attempts whose worker was lost.")
    available_at = models.DateTimeField()
    deadline_at = models.DateTimeField(null=True, help_text="Set at the first claim; no retry is planned after it.")
    last_error = models.CharField(max_length=64, default="")
    last_error_text = models.CharField(max_length=500, default="")
    fence = models.BigIntegerField(default=0, help_text="Only grows; a late holder's number is too small.")
    leased_until = models.DateTimeField(null=True)
    lease_limit_at = models.DateTimeField(null=True, help_text="No renewal goes past this moment.")
    leased_by = models.CharField(max_length=120, default="")
    rung_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["case", "organisation_key", "stage", "subject", "generation"],
                condition=models.Q(status__in=LIVE),
                nulls_distinct=False,
                name="task_one_live",
            ),
            models.CheckConstraint(
                condition=Exact(
                    Exact(models.F("status"), TaskStatus.LEASED.value), IsNull(models.F("leased_until"), False)
                ),
                name="task_is_leased_until_a_moment",
            ),
        ]
        indexes = [
            models.Index(
                fields=["queue", "organisation_key", "available_at"],
                condition=models.Q(status=TaskStatus.DUE, rung_at__isnull=True),
                name="task_due_unrung",
            ),
            models.Index(
                fields=["available_at"],
                condition=models.Q(status=TaskStatus.DUE, rung_at__isnull=True),
                name="task_next_due",
            ),
            models.Index(
                fields=["queue", "rung_at"],
                condition=models.Q(status__in=LIVE, rung_at__isnull=False),
                name="task_rung",
            ),
            models.Index(fields=["leased_until"], condition=models.Q(status=TaskStatus.LEASED), name="task_leased"),
            models.Index(fields=["case", "id"], name="task_of_case"),
            models.Index(fields=["ended_at"], condition=models.Q(status=TaskStatus.FAILED), name="task_failed"),
            # For indicators over the last days: rows come in the order of time, and this costs next to nothing. Now and
            # then a row finds room among old ones; short ranges keep it from calling for many of them.
            BrinIndex(fields=["created_at"], autosummarize=True, pages_per_range=16, name="task_by_creation"),
        ]

    def __str__(self) -> str:
        return f"{self.stage} #{self.pk}"


class Attempt(models.Model):
    """One try at a task: begun, then ended once."""

    runtime_rights = "SELECT, INSERT, UPDATE (ended_at, outcome, error, error_text)"

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="attempts", db_index=False)
    number = models.PositiveIntegerField()
    fence = models.BigIntegerField()
    worker = models.CharField(max_length=120)
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=24, default="", help_text="done, fault, worker_lost, given_back, late.")
    error = models.CharField(max_length=64, default="")
    error_text = models.CharField(max_length=500, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "number"], name="attempt_one_number")]
        indexes = [BrinIndex(fields=["begun_at"], autosummarize=True, name="attempt_by_time")]
        triggers = [
            pgtrigger.Protect(name="kept", operation=pgtrigger.Delete),
            pgtrigger.Protect(
                name="ends_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.ended_at IS NOT NULL"),
            ),
            # Asked only of an update that names one of them: PostgreSQL reads the condition anew with each statement.
            pgtrigger.ReadOnly(
                name="begun_once",
                operation=pgtrigger.UpdateOf("task_id", "number", "fence", "worker", "begun_at"),
                fields=["task", "number", "fence", "worker", "begun_at"],
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.task_id}"
