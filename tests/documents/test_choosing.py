"""Which cases a data set holds: a department's, as they stood when the period ended."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from accounts.principal import SYSTEM
from accounts.services import create_departments
from caseflow.domain.lifecycle import Event
from cases.advancing import advance_case
from cases.models import Case
from cases.rows import database_now, lock_case
from documents.choosing import lines_of, moment
from documents.data import DataSets
from documents.datasets import open_data_set
from documents.obliged import Obliged, find_obliged
from documents.storage import FolderStorage
from tests.documents.conftest import Sales


@dataclass(frozen=True)
class Between(Obliged):
    """An obligation whose period a test cut itself."""

    begun: datetime
    over: datetime

    @property
    def start(self) -> datetime:
        return self.begun

    @property
    def end(self) -> datetime:
        return self.over


def _chosen(sales: Sales, begun: datetime, over: datetime) -> dict[str, dict[str, Any]]:
    found = find_obliged(sales.subject)
    assert found is not None
    period = Between(found.case_id, found.subject, found.organisation, found.department, found.told, begun, over)
    about, *rows = [json.loads(line) for line in lines_of(period)]
    assert about["department"] == "Продажи"
    return {row["ticket"]: row for row in rows}


def _close(case: Case) -> None:
    advance_case(lock_case(case.pk), Event.CLOSED_BY_PERSON, actor=SYSTEM)


def test_a_data_set_shows_the_department_as_it_stood_when_the_period_ended(sales: Sales) -> None:
    (other,) = create_departments(organisation=sales.organisation, names=[("support", "Поддержка")])
    _close(sales.ticket("T-closed-before"))
    begun = database_now()
    _close(sales.ticket("T-closed"))
    later = sales.ticket("T-closed-later")
    Sales(sales.organisation, other, "").ticket("T-elsewhere")
    over = database_now()
    _close(later)
    sales.ticket("T-opened-later")

    first = _chosen(sales, begun, over)
    assert set(first) == {"T-closed", "T-closed-later"}
    assert (first["T-closed"]["state"], first["T-closed"]["outcome"]) == ("CLOSED_NO_CHANGE", "no_change")
    assert (first["T-closed-later"]["state"], first["T-closed-later"]["closed"]) == ("RECEIVED", None)
    # What was open when the next period began is shown there again, and its end.
    second = _chosen(sales, over, database_now())
    assert {name: row["state"] for name, row in second.items()} == {
        "T-closed-later": "CLOSED_NO_CHANGE",
        "T-opened-later": "RECEIVED",
    }
    assert _chosen(sales, begun, over) == first


def test_what_was_chosen_is_answered_again_and_an_open_period_is_a_fact(sales: Sales, store: FolderStorage) -> None:
    chosen = sales.choose()
    found = find_obliged(sales.subject)
    assert found is not None
    assert (chosen["status"], chosen["rows"], chosen["as_of"]) == ("ready", 0, moment(found.end))
    assert store.exists(f"data/{chosen['digest'][:2]}/{chosen['digest']}.jsonl")
    sales.department.name = "Renamed"
    sales.department.save()
    assert sales.choose()["digest"] != chosen["digest"]
    found_case = Case.objects.get(pk=found.case_id)
    # As the engine keeps what it read.
    read = {"source": "documents.data", "observed_at": database_now(), "call_id": "1", "intake_revision": 1}
    found_case.observations.create(name="data_set", value=chosen, **read)
    assert sales.choose() == chosen
    damaged = Path(store.path(f"data/{chosen['digest'][:2]}/{chosen['digest']}.jsonl"))
    damaged.write_bytes(damaged.read_bytes() + b"{}\n")
    assert open_data_set(store, sales.choose()["digest"]), "of what was damaged nothing can be made: it is chosen anew"
    assert sales.choose(sales.oblige(period="2999-01-01")) == {"status": "not_closed"}
    assert DataSets().read("data_set", "acme/sales/requests/2026-10-02", call_id="1") == {"status": "unknown"}
