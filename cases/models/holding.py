"""Who has taken a case to themselves for a while, and what people noted about it."""

from __future__ import annotations

from django.db import models

from audit.models import AppendOnly

from .case import Case


class Hold(models.Model):
    """Somebody works on a case. It tells colleagues and stops nobody; it ends by itself at `until`.

    Live while not ended and not past `until`, by the database's clock. Written by `cases.holding` only.
    """

    runtime_rights = "SELECT, INSERT, UPDATE (until, ended_at)"
    organisation_path = "case__organisation"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="holds")
    person = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, related_name="holds")
    given_by = models.ForeignKey(
        "accounts.Person", on_delete=models.PROTECT, null=True, related_name="+", help_text="Of a case handed over."
    )
    at = models.DateTimeField()
    until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["case"], condition=models.Q(ended_at__isnull=True), name="hold_one_of_a_case"
            ),
            models.CheckConstraint(condition=models.Q(until__gt=models.F("at")), name="hold_ends_later"),
        ]

    def __str__(self) -> str:
        return f"{self.case_id} held by {self.person_id}"


class Note(AppendOnly):
    """What somebody wrote beside a case; the words are a personal text called `field`."""

    organisation_path = "case__organisation"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="notes")
    number = models.PositiveIntegerField()
    field = models.CharField(max_length=80)
    by_kind = models.CharField(max_length=16)
    by_id = models.BigIntegerField(null=True)
    by_name = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False
        constraints = [models.UniqueConstraint(fields=["case", "number"], name="note_one_number")]

    def __str__(self) -> str:
        return f"{self.case_id} note {self.number}"
