"""How many cases and actions have come to their end: counted once, so that no list ever counts a long history."""

from __future__ import annotations

from django.db import models


class What(models.TextChoices):
    CASE = "case"
    ACTION = "action"


class _Counted(models.Model):
    """Of what, of whom, and where it ended."""

    organisation_path = "organisation_id"

    what = models.CharField(max_length=8, choices=What)
    organisation_id = models.BigIntegerField()
    about = models.CharField(max_length=64, help_text="The process of a case, the system of an action.")
    kind = models.CharField(max_length=8, default="", help_text="Of an action: effect or notice.")
    state = models.CharField(max_length=24, help_text="The state of a case, the status of an action.")

    class Meta:
        abstract = True


class Ended(_Counted):
    """One case or action that ended and is in no count yet. A trigger puts it here with the change that ends it, so the
    number is right in the very moment and nobody waits for a row that others count in; `cases.counting` takes it out.
    """

    runtime_rights = "SELECT, INSERT, DELETE"

    since = models.DateTimeField(help_text="Of a case its end, of an action when it was first sent, or planned.")

    def __str__(self) -> str:
        return f"{self.what} {self.state}"


class EndedCount(_Counted):
    """What was folded of `Ended`. Both together are the ended rows (`verify_invariants` counts them one by one)."""

    runtime_rights = "SELECT, INSERT, UPDATE"

    number = models.BigIntegerField()
    oldest = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["what", "organisation_id", "about", "kind", "state"], name="ended_one_count"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.what} {self.state}"
