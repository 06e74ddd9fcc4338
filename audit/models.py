"""One append-only event per change, refusal, reveal, export, grant and pause (design §10)."""

from __future__ import annotations

import pgtrigger
from django.db import models

#: The abstract bases below say by `runtime_rights` what the runtime role may do; `grant_rights` grants just that.
APPEND_ONLY = "SELECT, INSERT"

#: An approval that did not count, or counted and was overtaken.
REFUSALS = ["case.approval_lapsed", "case.facts_changed", "decision.refused"]
#: What nearly every case goes through. Whoever looks for one of these finds it at once by going back in time; anything
#: else has an index of its own, which the usual way of a case does not write to.
USUAL = [
    "case.opened", "case.check_started", "facts.observed", "case.proposal_ready", "case.plan_ready",
    "case.quorum_reached", "action.requested", "case.effects_confirmed", "case.notices_confirmed",
    "case.closing_notice_due", "case.closing_notices_confirmed",
]  # fmt: skip
#: What indicators count over the last days: a case begins or ends, stops for a person, a decision is refused, or its
#: facts changed before it was carried out. About three events of a case in fifteen.
MILESTONE = (
    models.Q(version=1)
    | models.Q(to_state__in=["CLOSED_NO_CHANGE", "COMPLETED", "NEEDS_ATTENTION"])
    | models.Q(kind__in=REFUSALS)
)


class AppendOnly(models.Model):
    """Rows are written once and never changed: by trigger for everybody, by right for the runtime role."""

    runtime_rights = APPEND_ONLY

    class Meta:
        abstract = True
        triggers = [pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)]


class AuditEvent(AppendOnly):
    """Who did what, when, on which facts, what was asked and what came of it. Ids and primitives only.

    `body` are the canonical bytes; the other columns repeat parts of it for queries. In the stream of a case
    `hash = sha256(hash of seq-1 || at_us as 8 bytes, big-endian || body)`. An event without a case gets its number and
    hash as an `OrganisationLink`.
    """

    organisation_path = "organisation_id"

    organisation_id = models.BigIntegerField()
    case_id = models.BigIntegerField(null=True)
    seq = models.IntegerField(null=True, help_text="Number within the case, from 1.")
    kind = models.CharField(max_length=64)
    actor_kind = models.CharField(max_length=16)
    actor_id = models.BigIntegerField(null=True)
    from_state = models.CharField(max_length=24, default="")
    to_state = models.CharField(max_length=24, default="")
    version = models.IntegerField(null=True, help_text="The case's version after a transition.")
    at = models.DateTimeField()
    at_us = models.BigIntegerField(help_text="The same moment in microseconds since 1970, as hashed.")
    body = models.BinaryField()
    hash = models.BinaryField(default=b"")

    class Meta(AppendOnly.Meta):
        abstract = False
        constraints = [
            models.UniqueConstraint(fields=["case_id", "seq"], name="audit_one_number_within_case"),
            models.UniqueConstraint(
                fields=["case_id", "version"], condition=models.Q(version__isnull=False), name="audit_one_row_a_version"
            ),
            models.CheckConstraint(
                condition=models.Q(case_id__isnull=True) | models.Q(seq__isnull=False),
                name="audit_case_rows_are_numbered",
            ),
        ]
        indexes = [
            models.Index(fields=["organisation_id", "at_us", "id"], name="audit_by_time"),
            # The audit page narrowed to one kind, or to one person.
            models.Index(
                fields=["organisation_id", "kind", "at_us", "id"],
                condition=~models.Q(kind__in=USUAL),
                name="audit_unusual",
            ),
            models.Index(
                fields=["organisation_id", "actor_id", "at_us", "id"],
                condition=models.Q(actor_kind="person"),
                name="audit_by_person",
            ),
            models.Index(fields=["at"], condition=MILESTONE, name="audit_milestones"),
            # The few of them that say an approval did not count, without those that every case has.
            models.Index(fields=["at"], condition=models.Q(kind__in=REFUSALS), name="audit_refusals"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.seq}"


class OrganisationLink(AppendOnly):
    """The place of an event in its organisation's stream; only `audit.linking` writes it.

    `hash = sha256(hash of seq-1 || at_us || body)` of the event; number 1 follows from the organisation's number as 8
    bytes, big-endian.
    """

    organisation_id = models.BigIntegerField()
    seq = models.BigIntegerField(help_text="Number within the organisation, from 1, in the order of commits.")
    event = models.OneToOneField(AuditEvent, on_delete=models.PROTECT, related_name="link")
    hash = models.BinaryField()

    class Meta(AppendOnly.Meta):
        abstract = False
        constraints = [
            models.UniqueConstraint(fields=["organisation_id", "seq"], name="audit_one_number_within_organisation"),
        ]

    def __str__(self) -> str:
        return f"{self.organisation_id} #{self.seq}"


class WaitingEvent(models.Model):
    """An organisation event that has no number yet. A trigger puts it here, the sealer takes it out."""

    runtime_rights = "SELECT, INSERT, DELETE"

    event = models.OneToOneField(AuditEvent, on_delete=models.PROTECT, primary_key=True, related_name="+")

    def __str__(self) -> str:
        return str(self.event_id)
