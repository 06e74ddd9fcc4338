"""Intended effects and notices, and every request that was made for them."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models


class ActionStatus(models.TextChoices):
    PLANNED = "PLANNED"
    REQUESTED = "REQUESTED"
    UNKNOWN = "UNKNOWN"
    CONFIRMED = "CONFIRMED"
    REFUSED = "REFUSED"
    CANCELLED = "CANCELLED"


class ActionKind(models.TextChoices):
    EFFECT = "effect"
    NOTICE = "notice"


#: An effect in one of these holds its subject: a second case about the same subject waits (design §5).
HOLDING = (ActionStatus.PLANNED, ActionStatus.REQUESTED, ActionStatus.UNKNOWN)
IN_DOUBT = (ActionStatus.REQUESTED, ActionStatus.UNKNOWN)

_MOVES = {
    ActionStatus.PLANNED: (ActionStatus.REQUESTED, ActionStatus.CANCELLED, ActionStatus.REFUSED),
    ActionStatus.REQUESTED: (
        ActionStatus.CONFIRMED,
        ActionStatus.UNKNOWN,
        ActionStatus.REFUSED,
        ActionStatus.PLANNED,
    ),
    ActionStatus.UNKNOWN: (ActionStatus.CONFIRMED, ActionStatus.REQUESTED, ActionStatus.REFUSED),
}


def _forbidden_moves() -> str:
    """Written as one constant: PostgreSQL reads the text of a condition anew with each statement that writes."""
    allowed = ",".join(f"{old}>{new}" for old, news in _MOVES.items() for new in news)
    return f"OLD.status <> NEW.status AND OLD.status || '>' || NEW.status <> ALL('{{{allowed}}}'::text[])"


class Action(models.Model):
    """One intended effect in an outside system, or one notice, with an idempotency key that never changes."""

    runtime_rights = "SELECT, INSERT, UPDATE"
    organisation_path = "organisation"

    public_id = models.CharField(max_length=16, unique=True)
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    case = models.ForeignKey("cases.Case", on_delete=models.PROTECT, related_name="actions", db_index=False)
    proposal = models.ForeignKey("approvals.Proposal", on_delete=models.PROTECT, related_name="actions", db_index=False)
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=ActionKind)
    system = models.CharField(max_length=64)
    operation = models.CharField(max_length=64)
    subject = models.CharField(max_length=200)
    key = models.CharField(max_length=120, unique=True)
    status = models.CharField(max_length=12, choices=ActionStatus, default=ActionStatus.PLANNED)
    code = models.CharField(max_length=64, default="", help_text="The system's own word, or why it is blocked.")
    external_id = models.CharField(max_length=200, default="")
    confirmed_by = models.CharField(max_length=16, default="", help_text="read, receipt, lookup or hand.")
    undoes = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="undone_by")
    created_at = models.DateTimeField()
    first_sent_at = models.DateTimeField(null=True, help_text="When the first call began: the age of the key.")
    settled_at = models.DateTimeField(null=True, help_text="When nothing more was left to ask.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["proposal", "position"], name="action_one_position"),
            models.UniqueConstraint(
                fields=["organisation", "system", "operation", "subject"],
                condition=models.Q(kind=ActionKind.EFFECT, status__in=HOLDING),
                name="action_one_on_a_subject",
            ),
            models.UniqueConstraint(
                fields=["undoes"],
                condition=models.Q(undoes__isnull=False)
                & ~models.Q(status__in=[ActionStatus.REFUSED, ActionStatus.CANCELLED]),
                name="action_undone_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["status", "first_sent_at"], condition=models.Q(status__in=IN_DOUBT), name="action_in_doubt"
            ),
            # What may still change is counted from here, however much has ended.
            models.Index(
                fields=["status", "kind"],
                include=["organisation", "system", "first_sent_at", "created_at"],
                condition=models.Q(status__in=HOLDING),
                name="action_not_ended",
            ),
            # The rare ends, and the systems that little is asked of: their newest are found without passing all others.
            models.Index(
                fields=["status", "id"],
                condition=models.Q(status__in=[ActionStatus.REFUSED, ActionStatus.CANCELLED]),
                name="action_ended_otherwise",
            ),
            models.Index(fields=["system", "id"], name="action_of_system"),
            models.Index(fields=["case", "id"], name="action_of_case"),
            models.Index(fields=["organisation", "subject"], name="action_by_subject"),
            # What a cap counts: the effects of one system within the last hour.
            models.Index(
                fields=["system", "first_sent_at"],
                include=["organisation"],
                condition=models.Q(kind=ActionKind.EFFECT, first_sent_at__isnull=False),
                name="action_sent_by_system",
            ),
            # Messages that were given up, which somebody may have to look after.
            models.Index(
                fields=["settled_at"],
                condition=models.Q(kind=ActionKind.NOTICE, status__in=[ActionStatus.REFUSED, ActionStatus.UNKNOWN]),
                name="action_failed_notices",
            ),
            models.Index(fields=["external_id"], condition=~models.Q(external_id=""), name="action_by_external_id"),
        ]
        triggers = [
            # Asked only of an update that names one of them.
            pgtrigger.ReadOnly(
                name="key_for_life",
                operation=pgtrigger.UpdateOf(
                    *("public_id", "key", "case_id", "proposal_id", "position"),
                    *("kind", "system", "operation", "subject"),
                ),
                fields=["public_id", "key", "case", "proposal", "position", "kind", "system", "operation", "subject"],
            ),
            pgtrigger.Protect(
                name="allowed_moves",
                operation=pgtrigger.UpdateOf("status"),
                condition=pgtrigger.Condition(_forbidden_moves()),
            ),
            pgtrigger.Protect(name="kept", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return self.public_id


class ExternalCall(models.Model):
    """One request to an outside system for an action: begun, then ended once."""

    runtime_rights = "SELECT, INSERT, UPDATE (ended_at, outcome, code, message, external_id)"

    class Kind(models.TextChoices):
        PERFORM = "perform"
        LOOKUP = "lookup"
        READ = "read"

    action = models.ForeignKey(Action, on_delete=models.PROTECT, related_name="calls", db_index=False)
    task = models.ForeignKey("cases.Task", on_delete=models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind)
    call_id = models.CharField(max_length=64, unique=True, help_text="Sent along as X-Request-Id.")
    worker = models.CharField(max_length=120, default="")
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, default="", help_text="confirmed, refused, not_applied or unknown.")
    code = models.CharField(max_length=64, default="")
    message = models.CharField(max_length=500, default="")
    external_id = models.CharField(max_length=200, default="")

    class Meta:
        indexes = [
            models.Index(fields=["action", "id"], name="call_of_action"),
            BrinIndex(fields=["begun_at"], autosummarize=True, name="call_by_time"),
        ]
        triggers = [
            pgtrigger.Protect(name="kept", operation=pgtrigger.Delete),
            pgtrigger.Protect(
                name="ends_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.ended_at IS NOT NULL"),
            ),
            pgtrigger.ReadOnly(
                name="begun_once",
                operation=pgtrigger.UpdateOf("action_id", "task_id", "kind", "call_id", "worker", "begun_at"),
                fields=["action", "task", "kind", "call_id", "worker", "begun_at"],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.call_id}"
