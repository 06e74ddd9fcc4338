"""A recovery: a typed, recorded order by a person. Who asked, who signed beside them, why, on what, what came of it."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q

from caseflow.domain.recovery import RULES, Evidence, Kind, Result

#: Sorted: a constraint must read the same in all processes.
TWO_PERSONS = sorted(kind.value for kind, rule in RULES.items() if rule.two_persons)
WITH_LOOKUP = sorted(kind.value for kind, rule in RULES.items() if rule.evidence is Evidence.LOOKUP)
WITH_WORDS = sorted(kind.value for kind, rule in RULES.items() if rule.evidence is Evidence.WRITTEN)
ABOUT_ACTION = sorted(kind.value for kind, rule in RULES.items() if rule.about_action)

#: What an order says and never changes afterwards.
SAID = [
    "public_id", "case", "kind", "action", "asked_by", "asked_at", "reason_field", "evidence_field", "evidence_call",
    "result", "case_version", "case_state", "action_status",
]  # fmt: skip


class Recovery(models.Model):
    """Written when it is ordered, ended once. An order of one person is carried out, and ended, as it is written."""

    class Status(models.TextChoices):
        WAITING = "waiting"  #: for the second person
        DONE = "done"
        REFUSED = "refused"  #: the case moved on before it was signed, or the second person said no
        WITHDRAWN = "withdrawn"

    runtime_rights = (
        "SELECT, INSERT, UPDATE (status, authorised_by_id, authorised_at, stage, outcome, version_after, ended_at)"
    )
    organisation_path = "case__organisation"

    public_id = models.CharField(max_length=16, unique=True)
    case = models.ForeignKey("cases.Case", on_delete=models.PROTECT, related_name="recoveries")
    kind = models.CharField(max_length=24, choices=[(kind.value, kind.value) for kind in Kind])
    action = models.ForeignKey("actions.Action", on_delete=models.PROTECT, null=True, related_name="recoveries")
    asked_by = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField()
    reason_field = models.CharField(max_length=80, help_text="Where the reason stands as personal text.")
    evidence_field = models.CharField(max_length=80, default="", help_text="Where written evidence stands.")
    evidence_call = models.CharField(max_length=64, default="", help_text="The look-up that is the evidence.")
    result = models.CharField(max_length=8, default="", choices=[(result.value, result.value) for result in Result])
    case_version = models.PositiveIntegerField(help_text="The version the person saw.")
    case_state = models.CharField(max_length=24)
    action_status = models.CharField(max_length=12, default="", help_text="What the person saw of the action.")

    status = models.CharField(max_length=12, choices=Status)
    authorised_by = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, null=True, related_name="+")
    authorised_at = models.DateTimeField(null=True)
    stage = models.CharField(max_length=64, default="", help_text="The stage it started.")
    outcome = models.CharField(max_length=64, default="", help_text="The state it led to, or why it ended.")
    version_after = models.PositiveIntegerField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(reason_field=""), name="recovery_has_a_reason"),
            models.CheckConstraint(condition=~Q(authorised_by=F("asked_by")), name="recovery_two_persons_differ"),
            models.CheckConstraint(
                condition=Q(kind__in=TWO_PERSONS) | Q(authorised_by=None) & ~Q(status="waiting"),
                name="recovery_only_some_wait",
            ),
            models.CheckConstraint(
                condition=~Q(kind__in=TWO_PERSONS, status="done") | Q(authorised_by__isnull=False),
                name="recovery_some_need_a_second",
            ),
            models.CheckConstraint(
                condition=(~Q(kind__in=WITH_LOOKUP) | ~Q(evidence_call=""))
                & (~Q(kind__in=WITH_WORDS) | ~Q(evidence_field="")),
                name="recovery_has_its_evidence",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=ABOUT_ACTION, action__isnull=False) & ~Q(action_status="")
                | ~Q(kind__in=ABOUT_ACTION) & Q(action=None, action_status=""),
                name="recovery_names_its_action",
            ),
            models.CheckConstraint(
                condition=Q(kind="result_by_hand") & ~Q(result="") | ~Q(kind="result_by_hand") & Q(result=""),
                name="recovery_result_is_by_hand",
            ),
            models.CheckConstraint(
                condition=Q(status="waiting", ended_at=None) | ~Q(status="waiting") & Q(ended_at__isnull=False),
                name="recovery_ends_with_a_moment",
            ),
            models.UniqueConstraint(
                fields=["case", "kind"], condition=Q(status="waiting"), name="recovery_one_open_of_a_kind"
            ),
        ]
        indexes = [models.Index(fields=["case", "id"], name="recovery_of_case")]
        triggers = [
            pgtrigger.Protect(name="kept", operation=pgtrigger.Delete),
            pgtrigger.Protect(
                name="ends_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.ended_at IS NOT NULL"),
            ),
            pgtrigger.ReadOnly(name="said_once", fields=SAID),
        ]

    def __str__(self) -> str:
        return self.public_id
