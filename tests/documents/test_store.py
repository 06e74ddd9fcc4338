"""The store of documents as an outside system: one document for a key, whatever stops on the way."""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, transaction

from caseflow.domain import failpoints
from caseflow.domain.outcomes import Confirmed, FaultKind, NotApplied, ReadFailed, Refused
from cases.models import Task
from cases.models.platform import Schedule
from cases.rows import database_now
from documents import making
from documents.adapter import ReportStore
from documents.models import Document
from documents.storage import ASIDE, HALF_WRITTEN_AFTER, FolderStorage
from integrations.contract import Adapter
from tests.documents.conftest import Sales
from tests.hooked import Killed
from tests.steps import run_due, together

KEY = "department_report:A-0000000001"


@contextmanager
def stopped_at(place: str) -> Iterator[None]:
    """The process ends there, as by kill -9: nothing after it runs, and nobody clears up."""

    def stop(name: str, about: tuple[str, ...]) -> None:
        if name == place and about[:1] == (KEY,):
            raise Killed

    failpoints.arm(stop)
    try:
        with pytest.raises(Killed):
            yield
    finally:
        failpoints.arm(None)


def lookup() -> Any:
    return ReportStore().lookup(key=KEY, call_id="look")


def files_of(store: FolderStorage, folder: str = "made") -> list[str]:
    return sorted(path.name for path in Path(store.path(folder)).rglob("*") if path.is_file())


def test_a_document_is_made_once_for_a_key_and_can_be_read_back(sales: Sales) -> None:
    assert sales.document() == {"status": "none"}
    first, second = sales.make(KEY), sales.make(KEY)
    assert isinstance(first, Confirmed) and isinstance(second, Confirmed)
    assert (second.external_id, first.detail["replayed"], second.detail["replayed"]) == (first.external_id, False, True)
    document = Document.objects.get()
    assert lookup() == Confirmed(document.public_id, second.detail)
    seen = sales.document()
    assert (seen["status"], seen["id"], seen["rows"], seen["made_by_key"]) == ("made", document.public_id, 2, KEY)
    assert isinstance(sales.make("department_report:A-2", subject=sales.oblige(2)), Confirmed)
    assert list(Document.objects.order_by("edition").values_list("edition", flat=True)) == [1, 2]


def test_another_request_under_the_same_key_and_another_key_for_the_same_edition_are_refused(sales: Sales) -> None:
    sales.make(KEY)
    other = sales.make(KEY, data_set=sales.data_of("T-3"))
    assert isinstance(other, Refused) and other.code == "idempotency_mismatch"
    again = sales.make("department_report:A-0000000002")
    assert isinstance(again, Refused) and again.code == "already_made"
    assert Document.objects.count() == 1


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"formats": ["exe"]}, "bad_request"),
        ({"data_set": None}, "bad_request"),
        ({"data_set": "0" * 64}, "no_data_set"),
        ({"subject": "acme/nowhere/requests/2026-10-01"}, "unknown_obligation"),
    ],
)
def test_wrong_data_is_refused_and_makes_nothing(sales: Sales, asked: dict[str, Any], code: str) -> None:
    outcome = sales.make(KEY, **asked)
    assert isinstance(outcome, Refused)
    assert (outcome.code, outcome.kind) == (code, FaultKind.INVALID_DATA)
    assert isinstance(lookup(), NotApplied)


def test_a_data_set_that_is_not_what_its_name_says_is_refused(sales: Sales, store: FolderStorage) -> None:
    digest = sales.data_of("T-1")
    with Path(store.path(f"data/{digest[:2]}/{digest}.jsonl")).open("ab") as file:
        file.write(b"{}\n")
    outcome = sales.make(KEY, data_set=digest)
    assert isinstance(outcome, Refused) and outcome.code == "no_data_set"


def test_a_half_written_file_counts_for_nothing_and_is_swept(
    sales: Sales, store: FolderStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as dead, stopped_at("document.writing"):
        dead.setattr(Path, "unlink", lambda *_, **__: None)  # a killed process clears nothing up
        sales.make(KEY)
    assert files_of(store) == [] and len(files_of(store, ASIDE)) == 1
    assert isinstance(lookup(), NotApplied)
    (left,) = Path(store.path(ASIDE)).iterdir()
    assert store.sweep() == 0, "somebody may be writing it"
    os.utime(left, (0, 0))
    assert isinstance(sales.make(KEY), Confirmed)
    assert files_of(store, ASIDE) == []
    assert Document.objects.count() == 1


def test_a_file_renamed_before_its_row_is_adopted(sales: Sales, store: FolderStorage) -> None:
    with stopped_at("document.renamed"):
        sales.make(KEY)
    assert Document.objects.count() == 0
    before = files_of(store)
    found = lookup()
    document = Document.objects.get()
    assert isinstance(found, Confirmed) and found.external_id == document.public_id
    assert files_of(store) == before
    assert sales.document()["status"] == "made"
    assert isinstance(sales.make(KEY), Confirmed)
    assert Document.objects.count() == 1


def test_a_file_that_is_not_what_was_put_there_is_not_adopted(sales: Sales, store: FolderStorage) -> None:
    with stopped_at("document.renamed"):
        sales.make(KEY)
    (name,) = (path for path in Path(store.path("made")).rglob("*.csv"))
    name.write_bytes(bytes(name.stat().st_size))
    assert isinstance(lookup(), NotApplied)
    assert isinstance(sales.make(KEY), Confirmed), "the same key makes it again"
    assert name.read_bytes().strip(b"\x00")


def test_a_document_registered_before_the_answer_is_found(sales: Sales) -> None:
    with stopped_at("document.registered"):
        sales.make(KEY)
    assert isinstance(lookup(), Confirmed)
    assert Document.objects.count() == 1


@contextmanager
def no_room_beyond(size: int) -> Iterator[None]:
    """No file of this process may grow further, as on a disk with that much left."""
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


# Where its disk is full the maker of workbooks leaves files of its own open until they are collected.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_full_store_registers_nothing_and_leaves_nothing(sales: Sales, store: FolderStorage, form: str) -> None:
    digest = sales.data_of(*(f"T-{number}" for number in range(100)))
    with no_room_beyond(100), pytest.raises(ReadFailed) as failed:
        sales.choose()
    with no_room_beyond(4096):
        made = sales.make(KEY, data_set=digest, formats=[form])
    gc.collect()
    assert made == Refused("store_full", "the store of documents is full", FaultKind.NO_ROOM)
    assert (failed.value.kind, failed.value.code) == (FaultKind.NO_ROOM, "store_full")
    assert Document.objects.count() == 0
    assert files_of(store) == [] and files_of(store, ASIDE) == []


def test_a_store_that_can_only_be_read_registers_nothing(
    sales: Sales, store: FolderStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = sales.data_of("T-1")

    left = Path(store.path(ASIDE)) / "left"
    left.write_bytes(b"half")
    os.utime(left, (0, 0))

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(30, "Read-only file system")

    for way in ("rename", "unlink"):
        monkeypatch.setattr(Path, way, refuse)
    made = sales.make(KEY, data_set=digest)
    assert made == Refused("store_read_only", "the store of documents cannot be written", FaultKind.NO_ROOM)
    assert Document.objects.count() == 0 and files_of(store) == []


def test_who_fails_late_takes_no_file_from_who_took_the_work_over(
    sales: Sales, store: FolderStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest, write = sales.data_of("T-1"), making._WRITERS["pdf"]

    def overtaken(*given: Any, **more: Any) -> None:
        monkeypatch.setitem(making._WRITERS, "pdf", write)
        assert isinstance(sales.make(KEY, data_set=digest, formats=["csv", "pdf"]), Confirmed)
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(making._WRITERS, "pdf", overtaken)
    late = sales.make(KEY, data_set=digest, formats=["csv", "pdf"])
    assert isinstance(late, Refused) and late.code == "store_full"
    assert sales.document()["status"] == "made"


def test_a_manifest_that_cannot_be_read_or_names_other_files_counts_for_nothing(
    sales: Sales, store: FolderStorage
) -> None:
    with stopped_at("document.renamed"):
        sales.make(KEY)
    (path,) = Path(store.path("made")).rglob("*.json")
    (stranger,) = Path(store.path("data")).rglob("*.jsonl")
    told = json.loads(path.read_bytes())
    for file in told["files"]:
        file["name"], file["size"] = str(stranger.relative_to(store.location)), stranger.stat().st_size
        file["sha256"] = stranger.stem
    for written in (b"{", json.dumps(told).encode()):
        path.write_bytes(written)
        assert isinstance(lookup(), NotApplied)
    assert isinstance(sales.make(KEY), Confirmed)


def test_a_document_whose_file_is_gone_is_lost_not_made(sales: Sales, store: FolderStorage) -> None:
    sales.make(KEY)
    store.delete(Document.objects.get().files[0]["name"])
    assert sales.document()["status"] == "lost"


def test_the_database_keeps_one_document_for_an_edition_and_changes_none(sales: Sales) -> None:
    sales.make(KEY)
    document = Document.objects.get()
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        Document.objects.filter(pk=document.pk).update(data_set="0" * 64)
    document.pk, document.public_id, document.action_key = None, "D-0000000000", "other"
    document.subject = "another"
    with pytest.raises(IntegrityError, match="document_one_per_edition"), transaction.atomic():
        document.save(force_insert=True)


def test_half_written_means_older_than_any_writing_takes() -> None:
    assert timedelta(minutes=10) <= HALF_WRITTEN_AFTER


def test_the_store_keeps_the_contract_of_every_adapter(sales: Sales) -> None:
    store = ReportStore()
    assert isinstance(store, Adapter)
    assert store.honours_keys and store.can_lookup and store.confirms_by == "read"
    assert timedelta(0) < store.settles_after < store.key_life
    assert store.owner.team and store.owner.contact
    assert lookup() == NotApplied("no_such_document", "no whole document was made under this key")
    outcome = store.perform("shred", sales.subject, {}, key=KEY, call_id="call")
    assert isinstance(outcome, Refused) and outcome.code == "unknown_operation"
    with pytest.raises(ReadFailed, match="nothing called"):
        store.read("weather", sales.subject, call_id="call")
    assert store.read("document", "nothing/like/this/2026-10-01", call_id="call") == {"status": "none"}


def test_one_key_used_by_four_at_once_is_one_document(committed_sales: Sales, store: FolderStorage) -> None:
    digest = committed_sales.data_of("T-1", "T-2")
    outcomes = together(*[lambda: committed_sales.make(KEY, data_set=digest)] * 4)
    assert all(isinstance(outcome, Confirmed) for outcome in outcomes), outcomes
    assert len({outcome.external_id for outcome in outcomes}) == 1
    assert Document.objects.count() == 1
    assert len(files_of(store)) == 2 and files_of(store, ASIDE) == []


def test_half_written_files_are_cleared_away_by_regular_work(database: None, store: FolderStorage) -> None:
    store.place("made/whole", lambda file: None)
    left = Path(store.path(ASIDE)) / "left"
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    os.utime(store.path("made/whole"), (0, 0))
    assert Schedule.objects.get(stage="sweep_documents").is_active
    now = database_now()
    Task.objects.create(stage="sweep_documents", available_at=now, created_at=now)
    assert run_due(stage="sweep_documents") == 1
    assert not left.exists() and store.exists("made/whole")
