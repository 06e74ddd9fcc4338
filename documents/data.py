"""The adapter that chooses data: to the engine, one more outside system that is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caseflow.domain.outcomes import FaultKind, ReadFailed
from cases.models import Observation
from cases.rows import database_now
from integrations.contract import Owner, System

from .choosing import lines_of, moment
from .datasets import has_data_set, store_lines
from .obliged import Obliged, find_obliged
from .storage import FolderStorage, StoreUnusable, document_store

OWNER = Owner(team="Caseflow", contact="operations@example.org")  #: of data and store alike


class DataSets(System):
    """Reads `data_set`: the cases of a department as of a period's end, kept in the store so that they stay so."""

    name = "documents.data"
    owner = OWNER
    readable = frozenset({"data_set"})

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        """{"status": "ready", "digest", "rows", "as_of", "language", "zone"}; or a status `unknown` or `not_closed`.

        What was chosen for the subject before is answered again while the store has it. Raises ReadFailed.
        """
        if name not in self.readable:
            return super().read(name, subject, call_id=call_id)
        obliged = find_obliged(subject)
        if obliged is None:
            return {"status": "unknown"}
        if database_now() < obliged.end:
            return {"status": "not_closed"}
        store = document_store()
        return _chosen_before(store, obliged) or _choose(store, obliged)


def _chosen_before(store: FolderStorage, obliged: Obliged) -> Mapping[str, Any] | None:
    read = Observation.objects.filter(case_id=obliged.case_id, name="data_set").order_by("-id")
    value = read.values_list("value", flat=True).first()
    if value and value.get("status") == "ready" and has_data_set(store, value["digest"]):
        known: Mapping[str, Any] = value
        return known
    return None


def _choose(store: FolderStorage, obliged: Obliged) -> Mapping[str, Any]:
    try:
        placed, rows = store_lines(store, lines_of(obliged), about=("data_set", obliged.subject))
    except StoreUnusable as error:
        raise ReadFailed(
            system=DataSets.name, kind=FaultKind.NO_ROOM, code=error.code, message=error.message
        ) from error
    return {
        "status": "ready",
        "digest": placed.sha256,
        "rows": rows,
        "as_of": moment(obliged.end),
        "language": obliged.told["language"],
        "zone": obliged.told["zone"],
    }
