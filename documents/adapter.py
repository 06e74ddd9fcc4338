"""The store of documents as one more outside system: it makes a file once for a key, and can be asked about the key.

The order is: data set by digest → files, each whole or not there → the manifest, named by the key → the row. A stop
anywhere leaves either nothing that counts, or a manifest that a look-up adopts; so a key is one document, for ever.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import IO, Any

from caseflow.domain.canonical import canonical_bytes, digest_of
from caseflow.domain.failpoints import failpoint
from caseflow.domain.outcomes import Confirmed, FaultKind, LookupOutcome, NotApplied, Outcome, Refused, Unknown
from integrations.contract import System

from .data import OWNER
from .datasets import DataSet, NoDataSet, open_data_set
from .making import FORMS, make_files
from .models import Document
from .obliged import Obliged, find_obliged
from .registering import AlreadyMade, find_by_key, register
from .storage import FolderStorage, StoreUnusable, document_store

DEFAULT_FORMS = ("xlsx", "pdf")


class ReportStore(System):
    name = "documents.store"
    honours_keys = True
    key_life = timedelta(days=36_500)  # names and rows follow from the key and are never taken away
    can_lookup = True
    settles_after = timedelta(seconds=90)  #: longer than the stage that makes a file may take
    confirms_by = "read"
    owner = OWNER
    operations = frozenset({"make_report"})
    readable = frozenset({"document"})

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        """{"status": "none"}; or "made", "lost" where a file is gone, with what is registered of the document."""
        if name not in self.readable:
            return super().read(name, subject, call_id=call_id)
        organisation = subject.partition("/")[0]
        document = Document.objects.filter(organisation__slug=organisation, subject=subject).first()
        if document is None:
            return {"status": "none"}
        store = document_store()
        whole = all(store.is_whole(file["name"], size=file["size"]) for file in document.files)
        return {
            "status": "made" if whole else "lost",
            "id": document.public_id,
            "edition": document.edition,
            "data_set": document.data_set,
            "rows": document.rows,
            "made_by_key": document.action_key,
            "files": {file["form"]: file["sha256"] for file in document.files},
        }

    def perform(
        self,
        operation: str,
        subject: str,
        request: Mapping[str, Any],
        *,
        key: str,
        call_id: str,
        send_by: float | None = None,
    ) -> Outcome:
        """`make_report` of the edition `subject` from {"data_set": digest, "formats": […]}; no transaction is open."""
        if operation not in self.operations:
            return super().perform(operation, subject, request, key=key, call_id=call_id)
        asked = digest_of(canonical_bytes({"subject": subject, "request": dict(request)}))
        document = find_by_key(key)
        if document is not None:
            return _made(document, replayed=True) if document.request_digest == asked else _mismatch()
        forms = request.get("formats", DEFAULT_FORMS)
        obliged = find_obliged(subject)
        if obliged is None:
            return Refused("unknown_obligation", "nothing is promised by this name", FaultKind.INVALID_DATA)
        if not forms or set(forms) - set(FORMS) or not isinstance(request.get("data_set"), str):
            return Refused("bad_request", "a data set and known formats are needed", FaultKind.INVALID_DATA)
        try:
            return _make(document_store(), obliged, request["data_set"], tuple(forms), key=key, asked=asked)
        except StoreUnusable as error:
            return Refused(error.code, error.message, FaultKind.NO_ROOM)
        except NoDataSet as error:
            return Refused("no_data_set", str(error), FaultKind.INVALID_DATA)
        except AlreadyMade as error:
            return Refused("already_made", str(error))

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        """By the key's row; or by the manifest of its name, which is adopted when every file has its digest."""
        document = find_by_key(key)
        if document is not None:
            return _made(document, replayed=True)
        store = document_store()
        manifest = _find_manifest(store, key)
        if manifest is None or not _is_whole(store, manifest):
            return NotApplied("no_such_document", "no whole document was made under this key")
        obliged = find_obliged(manifest["subject"])
        if obliged is None:
            return Unknown("unknown_obligation", "nothing is promised by the name of what was made")
        try:
            return _made(register(obliged, manifest), replayed=True)
        except AlreadyMade as error:
            return Unknown("already_made", str(error))


def _make(
    store: FolderStorage, obliged: Obliged, data_set: str, forms: tuple[str, ...], *, key: str, asked: str
) -> Outcome:
    about = (key, obliged.subject)
    manifest = _find_manifest(store, key)
    if manifest is not None and manifest["request_digest"] != asked:
        return _mismatch()
    if manifest is None or not _is_whole(store, manifest):
        store.sweep()
        manifest = _place(store, obliged, open_data_set(store, data_set), forms, key=key, asked=asked)
    failpoint("document.renamed", *about)
    document = register(obliged, manifest)
    failpoint("document.registered", *about)
    return _made(document, replayed=False)


def _place(
    store: FolderStorage, obliged: Obliged, data: DataSet, forms: tuple[str, ...], *, key: str, asked: str
) -> dict[str, Any]:
    """The files, and then the manifest that says they are whole. Raises StoreUnusable, and then none is left.

    All of it is written before any of it gets its name: a full disk is noticed while there is only what is ours alone.
    """
    about = (key, obliged.subject)
    made = make_files(store, data, edition=obliged.edition, forms=forms, stem=_stem(key), about=about)
    manifest = {
        "key": key,
        "subject": obliged.subject,
        "request_digest": asked,
        "data_set": data.digest,
        "rows": made.rows,
        "language": data.language,
        "zone": data.about["zone"],
        "files": made.files,
    }
    try:
        aside = store.write_aside(lambda file: _write(file, manifest), about=about)
        try:
            made.put_in_place(store)
            store.give_name(aside, _manifest_name(key))
        finally:
            aside.drop()
    finally:
        made.drop()  # what has its name is not aside any more
    return manifest


def _is_whole(store: FolderStorage, manifest: Mapping[str, Any]) -> bool:
    return all(store.is_whole(file["name"], size=file["size"], sha256=file["sha256"]) for file in manifest["files"])


def _find_manifest(store: FolderStorage, key: str) -> dict[str, Any] | None:
    """None where there is none, and where what is there cannot be read or is not of this key: it is made again."""
    try:
        with store.open(_manifest_name(key)) as file:
            found: dict[str, Any] = json.loads(file.read())
    except (FileNotFoundError, ValueError):
        return None
    ours = found["key"] == key and all(file["name"].startswith(_stem(key)) for file in found["files"])
    return found if ours else None


def _write(file: IO[bytes], manifest: Mapping[str, Any]) -> None:
    file.write(canonical_bytes(manifest))


def _stem(key: str) -> str:
    name = digest_of(key.encode())[:32]
    return f"made/{name[:2]}/{name}"


def _manifest_name(key: str) -> str:
    return f"{_stem(key)}.json"


def _made(document: Document, *, replayed: bool) -> Confirmed:
    about = {"operation": "make_report", "rows": document.rows, "data_set": document.data_set, "replayed": replayed}
    return Confirmed(document.public_id, about)


def _mismatch() -> Refused:
    return Refused("idempotency_mismatch", "this key was used for another request", FaultKind.PERMANENT)
