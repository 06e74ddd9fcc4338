"""What operators order and what regular comparison finds."""

from __future__ import annotations

from django.db import models

from audit.models import AppendOnly

from .bulk_models import Bulk, BulkItem
from .hook_models import Hook, HookDelivery, HookReading, HookSecret
from .recovery_models import Recovery
from .report_models import Obligation, ObligationEdition, ReportSchedule

__all__ = [
    "Bulk",
    "BulkItem",
    "DriftFinding",
    "DriftRun",
    "Hook",
    "HookDelivery",
    "HookReading",
    "HookSecret",
    "Obligation",
    "ObligationEdition",
    "Recovery",
    "Repair",
    "ReportSchedule",
]


class Repair(AppendOnly):
    """One order of a repairing command: who, under which account of the machine, why. Events refer to it."""

    command = models.CharField(max_length=40)
    by = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, related_name="+")
    os_account = models.CharField(max_length=120)
    reason = models.CharField(max_length=500)
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False

    def __str__(self) -> str:
        return f"{self.command} #{self.pk}"


class DriftRun(models.Model):
    """One comparison of CONFIRMED effects with what the outside systems say now; it goes on from `cursor`."""

    class Scope(models.TextChoices):
        SAMPLE = "sample"  #: some of all
        DAY = "day"  #: everything confirmed in the last day

    scope = models.CharField(max_length=8, choices=Scope)
    task = models.OneToOneField("cases.Task", on_delete=models.PROTECT, null=True, related_name="+")
    repair = models.OneToOneField(Repair, on_delete=models.PROTECT, null=True, related_name="+")
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    checked = models.PositiveIntegerField(default=0, help_text="Effects that could be compared.")
    differing = models.PositiveIntegerField(default=0)
    unreadable = models.PositiveIntegerField(default=0, help_text="Effects whose system could not be read.")
    cursor = models.BigIntegerField(default=0, help_text="The last action that was looked at.")

    class Meta:
        indexes = [models.Index(fields=["-began_at"], name="driftrun_newest")]

    def __str__(self) -> str:
        return f"{self.scope} #{self.pk}"


class DriftFinding(AppendOnly):
    """A confirmed effect whose system says something else now. Nothing is repaired by itself (design §4)."""

    organisation_path = "action__organisation"

    run = models.ForeignKey(DriftRun, on_delete=models.PROTECT, related_name="findings")
    action = models.ForeignKey("actions.Action", on_delete=models.PROTECT, related_name="drift")
    differences = models.JSONField(help_text='Path → {"confirmed", "now"}.')
    is_new = models.BooleanField(help_text="The finding before this one, if any, said something else.")
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False
        constraints = [models.UniqueConstraint(fields=["run", "action"], name="driftfinding_one_a_run")]
        indexes = [
            models.Index(fields=["action", "-id"], name="driftfinding_newest"),
            models.Index(fields=["at"], name="driftfinding_by_time"),
            # Every run finds the same again; what differs is listed by the findings that said something new.
            models.Index(fields=["at", "id"], condition=models.Q(is_new=True), name="driftfinding_news"),
            models.Index(fields=["action", "-id"], condition=models.Q(is_new=True), name="driftfinding_newest_news"),
        ]

    def __str__(self) -> str:
        return f"{self.action_id} in run {self.run_id}"
