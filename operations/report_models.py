"""What is owed to a department, its editions, and the schedules by which it comes due."""

from __future__ import annotations

from typing import ClassVar
from zoneinfo import ZoneInfo

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from audit.models import AppendOnly
from caseflow.domain.periods import DueRule, Length, ObligationKey, Period
from caseflow.processes.department_report import KINDS

_KINDS = [(kind, kind) for kind in KINDS]


class Obligation(models.Model):
    """One report that is owed: organisation, department, kind, period. Asking again, or running again, is no other one.

    It is overdue where its document was not there at `grace_until`; the item closes itself when the document comes.
    """

    runtime_rights = "SELECT, INSERT, UPDATE (overdue_at)"
    organisation_path = "organisation"
    department_path = "department"

    organisation = models.ForeignKey("accounts.Organisation", on_delete=models.PROTECT, related_name="+")
    department = models.ForeignKey("accounts.Department", on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=32, choices=_KINDS)
    period = models.CharField(max_length=10, help_text="2026-10-01, 2026-W40 or 2026-10, in the organisation's zone.")
    period_end = models.DateTimeField(help_text="The first instant after it.")
    due_at = models.DateTimeField()
    grace_until = models.DateTimeField(help_text="By when its document has to be there.")
    overdue_at = models.DateTimeField(null=True, help_text="When it was noticed that it was not.")
    created_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organisation", "department", "kind", "period"], name="obligation_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["grace_until"], condition=Q(overdue_at=None), name="obligation_watched"),
            models.Index(fields=["overdue_at"], condition=Q(overdue_at__isnull=False), name="obligation_overdue"),
            models.Index(fields=["organisation", "-period_end", "-id"], name="obligation_newest"),
            models.Index(fields=["-period_end", "-id"], name="obligation_by_period"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.period}"

    @property
    def key(self) -> ObligationKey:
        """Two queries where organisation and department were not read with it."""
        return ObligationKey(self.organisation.slug, self.department.slug, self.kind, self.period)


class ObligationEdition(AppendOnly):
    """One edition and the case that makes it; from the second on it corrects the one before, for a reason."""

    organisation_path = "obligation__organisation"
    department_path = "obligation__department"

    obligation = models.ForeignKey(Obligation, on_delete=models.PROTECT, related_name="editions")
    number = models.PositiveIntegerField()
    case = models.OneToOneField("cases.Case", on_delete=models.PROTECT, related_name="edition")
    recipients = ArrayField(models.BigIntegerField(), help_text="Keys of persons, as the case was told.")
    reason_field = models.CharField(max_length=64, default="", help_text="The personal text that says why.")
    asked_by = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["obligation", "number"], name="edition_one_number"),
            models.CheckConstraint(
                condition=Q(number=1, reason_field="") | Q(number__gt=1, asked_by__isnull=False) & ~Q(reason_field=""),
                name="edition_corrects_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"edition {self.number}"


class ReportSchedule(models.Model):
    """When which report of a department is due, and who is told. Periods are the organisation's, the clock its own."""

    runtime_rights = "SELECT, INSERT, UPDATE"
    organisation_path = "organisation"

    organisation = models.ForeignKey("accounts.Organisation", on_delete=models.PROTECT, related_name="+")
    department = models.ForeignKey("accounts.Department", on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=32, choices=_KINDS)
    length = models.CharField(max_length=5, choices=[(length.value, length.value) for length in Length])
    at = models.TimeField(null=True, help_text="Time of day; or a cron line.")
    cron = models.CharField(max_length=120, default="")
    zone = models.CharField(max_length=64, help_text="In which the time of day or the cron line is read.")
    grace = models.DurationField(help_text="From due until the document has to be there.")
    recipients = ArrayField(models.BigIntegerField(), help_text="Keys of persons.")
    is_active = models.BooleanField(default=True)
    next_period = models.CharField(max_length=10)
    next_due = models.DateTimeField()
    changed_at = models.DateTimeField()
    changed_by = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organisation", "department", "kind", "length"], name="schedule_once"),
            models.CheckConstraint(
                condition=Q(at__isnull=False, cron="") | Q(at=None) & ~Q(cron=""), name="schedule_has_one_clock"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["next_due"], condition=Q(is_active=True), name="schedule_due"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} per {self.length}"

    @property
    def rule(self) -> DueRule:
        return DueRule(ZoneInfo(self.zone), at=self.at, cron=self.cron)

    @property
    def following(self) -> Period:
        return Period.parse(self.next_period)
