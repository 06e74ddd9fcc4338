"""A bulk: one order for a frozen list of cases, and what came of it for each of them."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from caseflow.domain.bulk import BulkKind


class Bulk(models.Model):
    """Previewed, confirmed by who previewed it, then worked through by tasks. Its list never changes.

    `total` = done + failed + skipped once it has ended; before that the rest is planned.
    """

    class Status(models.TextChoices):
        PREVIEW = "preview"
        RUNNING = "running"
        PAUSED = "paused"
        ENDED = "ended"  #: every case had its turn
        CANCELLED = "cancelled"  #: what was left is skipped

    runtime_rights = "SELECT, INSERT, UPDATE (status, reason, rate, ordered_at, ended_at)"

    public_id = models.CharField(max_length=16, unique=True)
    kind = models.CharField(max_length=24, choices=[(kind.value, kind.value) for kind in BulkKind])
    ordered_by = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    wanted = models.JSONField(help_text="What the list was narrowed to when it was frozen.")
    total = models.PositiveIntegerField(help_text="Cases of the list.")
    organisations = ArrayField(
        models.BigIntegerField(),
        null=True,
        help_text="Keys of those whose cases are in the list; not told of old ones.",
    )
    given_to = models.ForeignKey(
        "accounts.Person",
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        help_text="Whom they are handed over to.",
    )

    status = models.CharField(max_length=12, choices=Status, default=Status.PREVIEW)
    reason = models.CharField(max_length=500, default="", help_text="In words that name nobody; every case keeps it.")
    rate = models.PositiveIntegerField(null=True, help_text="Cases a minute.")
    ordered_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(ordered_at=None, reason="", rate=None)
                | Q(ordered_at__isnull=False, rate__gt=0) & ~Q(reason=""),
                name="bulk_ordered_with_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(status="preview", ordered_at=None)
                | Q(status__in=["ended", "paused", "running"], ordered_at__isnull=False)
                | Q(status="cancelled"),
                name="bulk_runs_when_ordered",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["cancelled", "ended"], ended_at__isnull=False)
                | Q(status__in=["paused", "preview", "running"], ended_at=None),
                name="bulk_ends_with_a_moment",
            ),
            models.CheckConstraint(
                condition=Q(kind="hand_over", given_to__isnull=False) | ~Q(kind="hand_over") & Q(given_to=None),
                name="bulk_hands_over_to_somebody",
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="kept", operation=pgtrigger.Delete),
            pgtrigger.Protect(
                name="ends_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.ended_at IS NOT NULL"),
            ),
            pgtrigger.ReadOnly(
                name="said_once",
                fields=["public_id", "kind", "ordered_by", "made_at", "wanted", "total", "given_to", "organisations"],
            ),
        ]

    def __str__(self) -> str:
        return self.public_id


class BulkItem(models.Model):
    """One case of a bulk as it was seen in the preview; its result is written once."""

    class Status(models.TextChoices):
        PLANNED = "planned"
        DONE = "done"
        FAILED = "failed"
        SKIPPED = "skipped"

    runtime_rights = "SELECT, INSERT, UPDATE (status, reason, recovery_id, decision_id, hold_id, ended_at)"
    organisation_path = "case__organisation"

    bulk = models.ForeignKey(Bulk, on_delete=models.PROTECT, related_name="items")
    position = models.PositiveIntegerField(help_text="From 1, in the order of the list.")
    case = models.ForeignKey("cases.Case", on_delete=models.PROTECT, related_name="+")
    case_version = models.PositiveIntegerField(help_text="The version that was seen.")
    case_state = models.CharField(max_length=24)
    action = models.ForeignKey("actions.Action", on_delete=models.PROTECT, null=True, related_name="+")
    action_status = models.CharField(max_length=12, default="")
    proposal = models.ForeignKey("approvals.Proposal", on_delete=models.PROTECT, null=True, related_name="+")

    status = models.CharField(max_length=8, choices=Status, default=Status.PLANNED)
    reason = models.CharField(max_length=64, default="", help_text="Code of why it was skipped, or failed.")
    recovery = models.OneToOneField("operations.Recovery", on_delete=models.PROTECT, null=True, related_name="+")
    decision = models.OneToOneField("approvals.Decision", on_delete=models.PROTECT, null=True, related_name="+")
    hold = models.OneToOneField("cases.Hold", on_delete=models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["bulk", "case"], name="bulkitem_case_once"),
            models.UniqueConstraint(fields=["bulk", "position"], name="bulkitem_one_a_place"),
            models.CheckConstraint(
                condition=Q(status="planned", ended_at=None, reason="")
                | Q(status="done", ended_at__isnull=False, reason="")
                | Q(status__in=["failed", "skipped"], ended_at__isnull=False) & ~Q(reason=""),
                name="bulkitem_ends_with_a_moment",
            ),
            models.CheckConstraint(
                condition=Q(status="done", recovery__isnull=False, decision=None, hold=None)
                | Q(status="done", recovery=None, decision__isnull=False, hold=None)
                | Q(status="done", recovery=None, decision=None, hold__isnull=False)
                | ~Q(status="done") & Q(recovery=None, decision=None, hold=None),
                name="bulkitem_done_by_an_order",
            ),
        ]
        indexes = [
            models.Index(fields=["bulk", "position"], condition=Q(status="planned"), name="bulkitem_next"),
            models.Index(fields=["bulk", "status", "position"], name="bulkitem_by_status"),
        ]
        triggers = [
            pgtrigger.Protect(name="kept", operation=pgtrigger.Delete),
            pgtrigger.Protect(
                name="ends_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.status <> 'planned'"),
            ),
            pgtrigger.ReadOnly(
                name="said_once",
                fields=[
                    "bulk", "position", "case", "case_version", "case_state", "action", "action_status", "proposal",
                ],
            ),
            # With one item a place there is room for the list as it was previewed, and for nothing that comes later.
            pgtrigger.Trigger(
                name="frozen",
                operation=pgtrigger.Insert,
                when=pgtrigger.Before,
                func=(
                    "IF NEW.position NOT BETWEEN 1 AND (SELECT total FROM operations_bulk WHERE id = NEW.bulk_id) THEN"
                    " RAISE EXCEPTION 'the list of this bulk is frozen'; END IF; RETURN NEW;"
                ),
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.bulk_id} {self.position}"
