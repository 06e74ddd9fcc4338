"""The case and what was told and read about it."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.lookups import Exact, IsNull

from audit.models import AppendOnly
from caseflow.domain.lifecycle import CLOSED, Outcome, State

#: Sorted: a set has another order in each process, and a constraint must read the same in all of them.
CLOSED_VALUES = sorted(state.value for state in CLOSED)


def one_of(column: str, values: Sequence[str]) -> models.Func:
    """`IN` as one constant: PostgreSQL reads the text of a condition anew with each statement that writes."""
    told = f"%(expressions)s = ANY('{{{','.join(values)}}}'::text[])"
    return models.Func(models.F(column), template=told, output_field=models.BooleanField())


class Case(models.Model):
    """One piece of business. Only `cases.advancing` writes state, version, audit head and the guard columns."""

    runtime_rights = "SELECT, INSERT, UPDATE"
    organisation_path = "organisation"

    public_id = models.CharField(max_length=16, unique=True)
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="cases", db_index=False
    )
    department = models.ForeignKey("accounts.Department", on_delete=models.PROTECT, null=True, related_name="+")
    process = models.CharField(max_length=64)
    process_version = models.PositiveIntegerField()
    source = models.CharField(max_length=64)
    external_id = models.CharField(max_length=400, help_text="As it was received.")
    external_id_normal = models.CharField(max_length=200, help_text="The one spelling (design §5).")
    source_url = models.CharField(max_length=1000, default="")
    intake_digest = models.CharField(max_length=64, help_text="Keyed digest of the received canonical JSON.")
    subject = models.CharField(max_length=200, default="", help_text="An id for lists; never personal text.")

    state = models.CharField(max_length=24, choices=[(state, state) for state in State])
    version = models.PositiveIntegerField()
    state_since = models.DateTimeField()
    reason = models.CharField(max_length=64, default="", help_text="Code of why it waits or needs attention.")
    ending = models.CharField(max_length=64, default="", help_text="The process's decision that led here.")
    outcome = models.CharField(max_length=16, default="", choices=[(outcome, outcome) for outcome in Outcome])
    wait_until = models.DateTimeField(null=True, help_text="Set at the first wait for a reason, kept while it repeats.")

    plan_begun = models.BooleanField(default=False, help_text="A call of the current plan's effects began.")
    effects_open = models.PositiveIntegerField(default=0, help_text="Effects REQUESTED or UNKNOWN.")
    effects_done = models.PositiveIntegerField(default=0, help_text="Effects CONFIRMED.")
    returns = models.PositiveIntegerField(
        default=0, help_text="Times returned or found changed, withdrawals not counted."
    )

    audit_count = models.PositiveIntegerField()
    audit_head = models.BinaryField()
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    # Where its time went, microseconds, written by the statement that closes it; the five add up (design §14).
    queue_us = models.BigIntegerField(null=True)
    automatic_us = models.BigIntegerField(null=True)
    person_us = models.BigIntegerField(null=True)
    outside_us = models.BigIntegerField(null=True)
    notice_us = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "source", "external_id_normal"], name="case_one_per_external_id"
            ),
            models.CheckConstraint(
                condition=one_of("state", [state.value for state in State]), name="case_has_a_known_state"
            ),
            models.CheckConstraint(
                condition=Exact(one_of("state", CLOSED_VALUES), IsNull(models.F("closed_at"), False)),
                name="case_is_closed_at_a_moment",
            ),
        ]
        indexes = [
            models.Index(fields=["organisation", "state", "state_since"], name="case_by_state"),
            # The list that begins with what waits longest: fifty rows, and not all of them sorted.
            models.Index(fields=["state_since", "id"], name="case_by_age"),
            # What is open is counted and listed from here, however many are closed.
            models.Index(
                fields=["state_since", "id"],
                include=["organisation", "state", "process", "reason"],
                condition=models.Q(closed_at__isnull=True),
                name="case_open",
            ),
            models.Index(fields=["reason", "state_since", "id"], condition=~models.Q(reason=""), name="case_by_reason"),
            models.Index(fields=["organisation", "subject"], name="case_by_subject"),
            models.Index(fields=["external_id_normal"], name="case_by_external_id"),
            models.Index(fields=["closed_at"], condition=models.Q(closed_at__isnull=False), name="case_by_closing"),
        ]

    def __str__(self) -> str:
        return self.external_id


class IntakeRevision(AppendOnly):
    """What was told to us; number 1 is the ticket's body, stages read the newest. Personal fields hold a reference."""

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="intake_revisions", db_index=False)
    number = models.PositiveIntegerField()
    body = models.JSONField()
    digest = models.CharField(max_length=64, help_text="Keyed digest of the canonical body with its personal fields.")
    told_by_kind = models.CharField(max_length=16)
    told_by_id = models.BigIntegerField(null=True)
    told_by_person = models.BigIntegerField(null=True, help_text="The person, or the owner of the service account.")
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False
        constraints = [models.UniqueConstraint(fields=["case", "number"], name="intake_one_number")]
        # Which cases name an outside object, for whoever rings about it.
        indexes = [GinIndex(fields=["body"], opclasses=["jsonb_path_ops"], name="intake_names")]

    def __str__(self) -> str:
        return f"{self.case_id} intake {self.number}"


class Observation(AppendOnly):
    """A fact read from an outside system; never overwritten. Personal values hold a keyed digest and a reference."""

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="observations", db_index=False)
    name = models.CharField(max_length=64)
    value = models.JSONField()
    source = models.CharField(max_length=64)
    observed_at = models.DateTimeField()
    call_id = models.CharField(max_length=64)
    intake_revision = models.PositiveIntegerField(help_text="Which revision said what to read.")

    class Meta(AppendOnly.Meta):
        abstract = False
        indexes = [
            models.Index(fields=["case", "name", "-id"], name="observation_newest"),
            models.Index(fields=["call_id"], name="observation_by_call"),
        ]

    def __str__(self) -> str:
        return f"{self.case_id} {self.name}"
