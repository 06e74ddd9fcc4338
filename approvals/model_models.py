"""Who is to be asked, each request to a model with its costs, and what a model had to do with a proposal."""

from __future__ import annotations

import pgtrigger
from django.db import models

from audit.models import AppendOnly


class ProposerChoice(models.Model):
    """Who proposes in one organisation's cases of one process. Without a row the process's own declaration counts."""

    runtime_rights = "SELECT, INSERT, UPDATE"
    organisation_path = "organisation"

    organisation = models.ForeignKey("accounts.Organisation", on_delete=models.PROTECT, related_name="+")
    process = models.CharField(max_length=64, help_text="The slug; every version of it.")
    proposer = models.CharField(max_length=64, help_text="As `proposer_for` takes it, such as model:main@decide-1.")
    rules_take_over = models.BooleanField(default=False, help_text="While the provider's circuit is open.")
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organisation", "process"], name="proposer_chosen_once")]

    def __str__(self) -> str:
        return f"{self.process} {self.proposer}"


class ModelCall(models.Model):
    """One request to a model for a case: begun before it is sent, then ended once.

    It is kept whether or not a proposal came of it, and costs what the provider counted. Of a request whose worker was
    lost nobody knows the answer: it costs `cost_limit`, the most that it can.
    """

    runtime_rights = (
        "SELECT, INSERT, UPDATE (ended_at, outcome, code, status, finish_reason, tokens_in, tokens_out, cost,"
        " duration_ms, problems, raw_field)"
    )
    organisation_path = "case__organisation"

    class Outcome(models.TextChoices):
        ANSWERED = "answered"
        INVALID = "invalid"
        MISSING = "missing"  #: it needs another check
        FAILED = "failed"
        LOST = "lost"

    call_id = models.CharField(max_length=64, unique=True, help_text="Sent along as X-Request-Id.")
    case = models.ForeignKey("cases.Case", on_delete=models.PROTECT, related_name="model_calls")
    case_version = models.PositiveIntegerField()
    task = models.ForeignKey("cases.Task", on_delete=models.PROTECT, related_name="+")
    worker = models.CharField(max_length=120)
    provider = models.CharField(max_length=64)
    model = models.CharField(max_length=120)
    prompt_version = models.CharField(max_length=64)
    prompt_digest = models.CharField(max_length=64)
    schema_version = models.CharField(max_length=64)
    parameters = models.JSONField()
    repair = models.PositiveSmallIntegerField()
    cost_limit = models.DecimalField(max_digits=14, decimal_places=6)
    currency = models.CharField(max_length=3)
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, choices=Outcome, default="")
    code = models.CharField(max_length=64, default="", help_text="Of a fault.")
    status = models.PositiveSmallIntegerField(null=True)
    finish_reason = models.CharField(max_length=32, default="")
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    duration_ms = models.PositiveIntegerField(null=True)
    problems = models.JSONField(default=list, help_text="Codes and our own names, never the model's words.")
    raw_field = models.CharField(max_length=80, default="", help_text="Where the answer stands as personal text.")

    class Meta:
        indexes = [
            models.Index(fields=["case", "id"], name="model_call_of_case"),
            models.Index(fields=["begun_at"], name="model_call_by_time"),
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
                fields=[
                    "call_id",
                    "case",
                    "case_version",
                    "task",
                    "worker",
                    "provider",
                    "model",
                    "prompt_version",
                    "prompt_digest",
                    "schema_version",
                    "parameters",
                    "repair",
                    "cost_limit",
                    "currency",
                    "begun_at",
                ],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.call_id}"


class Advice(AppendOnly):
    """What a model had to do with a proposal; written with it, and only where one was to be asked."""

    organisation_path = "proposal__case__organisation"

    class Mode(models.TextChoices):
        DECIDES = "model"
        EXPLAINS = "explained"

    proposal = models.OneToOneField("approvals.Proposal", on_delete=models.PROTECT, related_name="advice")
    mode = models.CharField(max_length=16, choices=Mode)
    call = models.ForeignKey(ModelCall, on_delete=models.PROTECT, null=True, related_name="advice")
    took_over = models.CharField(
        max_length=64, default="", help_text="Why the rules proposed, or went without words, instead of the model."
    )
    explanation_field = models.CharField(
        max_length=80, default="", help_text="Where the model's words stand as personal text."
    )
    restored_field = models.CharField(
        max_length=80, default="", help_text="Where they stand with the personal values in them, if they name any."
    )
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False

    def __str__(self) -> str:
        return f"{self.mode} {self.proposal_id}"


class ProviderCircuit(models.Model):
    """Whether a provider of models is asked at all: after several faults in a row it is left alone for a while."""

    runtime_rights = "SELECT, INSERT, UPDATE"

    provider = models.CharField(max_length=64, primary_key=True)
    failures = models.PositiveIntegerField(default=0, help_text="In a row; 0 after an answer.")
    opened_at = models.DateTimeField(null=True)
    ask_again_at = models.DateTimeField(null=True, help_text="From here on one request tries it.")
    code = models.CharField(max_length=64, default="", help_text="Of the last fault.")
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.provider
