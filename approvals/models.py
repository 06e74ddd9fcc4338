"""Plans and what people decided of them."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models

from audit.models import AppendOnly

from .model_models import Advice, ModelCall, ProposerChoice, ProviderCircuit

__all__ = ["Advice", "Decision", "ModelCall", "Proposal", "ProposerChoice", "ProviderCircuit"]


class Proposal(AppendOnly):
    """An immutable, numbered plan. `snapshot` are the canonical bytes a person decides on, `digest` their SHA-256."""

    organisation_path = "case__organisation"

    public_id = models.CharField(max_length=16, unique=True)
    case = models.ForeignKey("cases.Case", on_delete=models.PROTECT, related_name="proposals", db_index=False)
    number = models.PositiveIntegerField()
    decision = models.CharField(max_length=64)
    has_effects = models.BooleanField()
    needs_approval = models.BooleanField()
    snapshot = models.BinaryField()
    digest = models.CharField(max_length=64)
    valid_until = models.DateTimeField(null=True, help_text="Bounds the decision.")
    causers = ArrayField(models.BigIntegerField(), help_text="Persons who never decide on it (design §9).")
    observations = ArrayField(models.BigIntegerField())
    proposer = models.CharField(max_length=64)
    rule_version = models.CharField(max_length=64)
    schema_version = models.CharField(max_length=64)
    prompt_version = models.CharField(max_length=64, default="")
    model = models.CharField(max_length=120, default="")
    repeats = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="+", help_text="The withdrawn plan this one repeats."
    )
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False
        constraints = [
            models.UniqueConstraint(fields=["case", "number"], name="proposal_one_number"),
            models.CheckConstraint(
                condition=models.Q(digest__regex=r"^[0-9a-f]{64}$"), name="proposal_digest_is_whole"
            ),
            models.CheckConstraint(
                condition=models.Q(needs_approval=False) | models.Q(valid_until__isnull=False),
                name="proposal_for_people_expires",
            ),
        ]
        indexes = [
            models.Index(fields=["digest"], name="proposal_by_digest"),
            BrinIndex(fields=["at"], autosummarize=True, name="proposal_by_time"),
        ]

    def __str__(self) -> str:
        return self.public_id


class Decision(AppendOnly):
    """What one person said of one digest. The deciding one moved the case."""

    class Kind(models.TextChoices):
        APPROVE = "approve"
        REJECT = "reject"
        RETURN = "return"
        ASK_DATA = "ask_data"
        WITHDRAW = "withdraw"

    organisation_path = "proposal__case__organisation"

    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="decisions", db_index=False)
    person = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, related_name="decisions")
    kind = models.CharField(max_length=16, choices=Kind)
    digest = models.CharField(max_length=64)
    case_version = models.PositiveIntegerField(help_text="The version the person saw.")
    decisive = models.BooleanField()
    next = models.CharField(max_length=16, default="", help_text="After a rejection: close or by_hand.")
    reason_field = models.CharField(max_length=80, default="", help_text="Where the reason stands as personal text.")
    undo_until = models.DateTimeField(null=True)
    execute_by = models.DateTimeField(null=True, help_text="Bounds the first send.")
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False
        constraints = [
            models.UniqueConstraint(fields=["proposal", "person", "kind"], name="decision_one_a_person_and_kind"),
            models.UniqueConstraint(
                fields=["proposal"],
                condition=models.Q(decisive=True) & ~models.Q(kind="withdraw"),
                name="decision_one_decisive",
            ),
        ]
        indexes = [BrinIndex(fields=["at"], autosummarize=True, name="decision_by_time")]

    def __str__(self) -> str:
        return f"{self.kind} {self.proposal_id}"
