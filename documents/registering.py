"""Putting a made document on record: one row for its action's key, whoever comes first, with its event."""

from __future__ import annotations

from collections.abc import Mapping
from random import SystemRandom
from typing import Any

from django.db import transaction

from accounts.principal import SYSTEM
from audit.services import record_organisation_event
from caseflow.domain.identifiers import public_id
from cases.rows import database_now

from .models import Document
from .obliged import Obliged

CLASHES = 5  #: tries for a public id that is free

_rng = SystemRandom()


class AlreadyMade(Exception):
    """The edition has a document of another action: {document}."""

    def __init__(self, document: Document) -> None:
        super().__init__(f"The edition has a document of another action: {document.public_id}.")
        self.document = document


def register(obliged: Obliged, made: Mapping[str, Any]) -> Document:
    """The document of `made["key"]`: the row that is there, or a new one. `made` is the manifest beside the files.

    Raises AlreadyMade where another action made this edition.
    """
    for _ in range(CLASHES):
        document = _insert(obliged, made)
        if document is not None:
            return document
    raise RuntimeError("no public id is free")


def find_by_key(key: str) -> Document | None:
    """What the action of this key made; one query."""
    return Document.objects.filter(action_key=key).first()


def _insert(obliged: Obliged, made: Mapping[str, Any]) -> Document | None:
    """None where only the public id was taken."""
    with transaction.atomic():
        name = public_id("D", _rng)
        Document.objects.bulk_create(
            [
                Document(
                    public_id=name,
                    organisation=obliged.organisation,
                    department=obliged.department,
                    kind=obliged.kind,
                    period=obliged.period.text,
                    edition=obliged.edition,
                    subject=obliged.subject,
                    action_key=made["key"],
                    request_digest=made["request_digest"],
                    data_set=made["data_set"],
                    rows=made["rows"],
                    as_of=obliged.end,
                    language=made["language"],
                    zone=made["zone"],
                    files=made["files"],
                    made_at=database_now(),
                )
            ],
            ignore_conflicts=True,
        )
        document = find_by_key(made["key"])
        if document is None:
            other = Document.objects.filter(organisation=obliged.organisation, subject=obliged.subject).first()
            if other is not None:
                raise AlreadyMade(other)
            return None
        if document.public_id == name:
            facts = {
                "document": name,
                "subject": obliged.subject,
                "data_set": made["data_set"],
                "rows": made["rows"],
                "key": made["key"],
                "files": {file["form"]: file["sha256"] for file in made["files"]},
            }
            record_organisation_event(obliged.organisation.pk, "document.registered", actor=SYSTEM, facts=facts)
    return document
