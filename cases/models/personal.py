"""Personal text, encrypted with a key per case; purging deletes the key and leaves every chain valid (design §5)."""

from __future__ import annotations

from django.db import models

from audit.models import AppendOnly

from .case import Case


class CaseKey(models.Model):
    """The case's data key, wrapped by the key in the settings."""

    case = models.OneToOneField(Case, on_delete=models.PROTECT, primary_key=True, related_name="data_key")
    wrapped = models.BinaryField()

    def __str__(self) -> str:
        return f"key of {self.case_id}"


class PersonalText(AppendOnly):
    """One encrypted text of a case: a claim, a reason, a personal value. `field` is like 'intake.claim'."""

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="personal_texts", db_index=False)
    field = models.CharField(max_length=80)
    ciphertext = models.BinaryField()
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False
        indexes = [models.Index(fields=["case", "field", "-id"], name="personal_newest")]

    def __str__(self) -> str:
        return f"{self.case_id} {self.field}"
