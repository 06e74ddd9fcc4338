"""Giving a document's file to somebody: asked for the right, put on record, and only then handed out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, Any

from django.db import transaction

from accounts.models import Person
from accounts.principal import actor_of_person
from audit.services import record_organisation_event
from caseflow.domain.errors import NotFound
from cases.rows import database_now

from .access import get_document
from .making import MEDIA_TYPES
from .models import Document, DocumentOpening
from .storage import document_store


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that may go out: the opening is on record. Whoever gets it closes it."""

    document: Document
    file: IO[bytes]
    size: int  #: bytes
    filename: str  #: with nothing personal in it
    media_type: str


def open_document(person: Person, public_id: str, form: str) -> Opened:
    """Raises NotFound: for no such document, no right to it, no such form of it, and a file that the store lost.

    A file that is not the one that was registered is lost, too: nobody is given other bytes under the document's name.
    """
    document = get_document(person, public_id)
    found = next((file for file in document.files if file["form"] == form), None)
    store = document_store()
    if found is None or not store.is_whole(found["name"], size=found["size"], sha256=found["sha256"]):
        raise NotFound
    try:
        file: Any = store.open(found["name"])
    except FileNotFoundError:
        raise NotFound from None
    try:
        _record(document, person, form)
    except BaseException:
        file.close()
        raise
    return Opened(document, file, found["size"], f"{document.public_id}.{form}", MEDIA_TYPES[form])


def _record(document: Document, person: Person, form: str) -> None:
    facts = {"document": document.public_id, "form": form, "edition": document.edition}
    # Committed before a byte goes out: nobody can have read what nobody is on record for.
    with transaction.atomic(durable=True):
        DocumentOpening.objects.create(document=document, person=person, form=form, at=database_now())
        actor = actor_of_person(person)
        record_organisation_event(document.organisation_id, "document.opened", actor=actor, facts=facts)
