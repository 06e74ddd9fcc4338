"""The file that fulfils an obligation, and who opened it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from audit.models import AppendOnly


class Document(AppendOnly):
    """One edition of what was promised: its files lie in the store, this row says which they are.

    There is one per obligation and edition, and one per key of the action that made it; the highest edition is the
    current one. `files` is a list of {"form", "name", "size", "sha256"}: name in the store, bytes, hexadecimal digest.
    """

    organisation_path = "organisation"
    department_path = "department"

    public_id = models.CharField(max_length=16, unique=True)
    organisation = models.ForeignKey("accounts.Organisation", on_delete=models.PROTECT, related_name="+")
    department = models.ForeignKey("accounts.Department", on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=32)
    period = models.CharField(max_length=64, help_text="2026-10-01, 2026-W40 or 2026-10, in the zone of the data.")
    edition = models.PositiveIntegerField()
    subject = models.CharField(max_length=200, help_text="Obligation and edition, as outside systems are asked.")
    action_key = models.CharField(max_length=120, unique=True)
    request_digest = models.CharField(max_length=64, help_text="Of what the action asked for.")
    data_set = models.CharField(max_length=64, help_text="SHA-256 of the data set it was made from.")
    rows = models.PositiveIntegerField()
    as_of = models.DateTimeField(help_text="The moment that the data show.")
    language = models.CharField(max_length=2)
    zone = models.CharField(max_length=64)
    files = models.JSONField()
    made_at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organisation", "department", "kind", "period", "edition"], name="document_one_per_edition"
            ),
            models.UniqueConstraint(fields=["organisation", "subject"], name="document_one_per_subject"),
        ]

    def __str__(self) -> str:
        return self.public_id


class DocumentOpening(AppendOnly):
    """Somebody was given a file of it; written before the first byte goes out."""

    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="openings")
    person = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, related_name="+")
    form = models.CharField(max_length=8)
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        abstract = False

    def __str__(self) -> str:
        return f"{self.document_id} opened by {self.person_id}"
