"""One ticket by hand."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Organisation
from accounts.services import create_departments
from audit.models import AuditEvent
from cases.models import Case, IntakeRevision
from tests.commands.conftest import Ran, Run

INTAKE = {"customer_id": "U-12", "subscription_id": "S-77", "payment_id": "PAY-31", "claim": "Деньги списались 😞"}

pytestmark = pytest.mark.usefixtures("acme")


@pytest.fixture
def open_case(run: Run, tmp_path: Path) -> Any:
    def open_one(*more: str, intake: Any = INTAKE, person: str = "operator", **fields: str) -> Ran:
        path = tmp_path / "intake.json"
        path.write_bytes(intake if isinstance(intake, bytes) else json.dumps(intake).encode())
        told = {
            "organisation": "acme",
            "process": "restore_access",
            "source": "helpdesk",
            "external_id": "T-1",
        } | fields
        options = [f"--{name.replace('_', '-')}={value}" for name, value in told.items()]
        return run("open_case", *options, f"--intake={path}", f"--as={person}", "--json", *more)

    return open_one


def test_a_ticket_becomes_a_case_opened_by_the_person(open_case: Any) -> None:
    done = open_case(source_url="https://helpdesk.example.org/T-1").json()

    case = Case.objects.get()
    assert done == {
        "result": "accepted",
        "case": case.public_id,
        "external_id": "T-1",
        "state": "RECEIVED",
        "version": 1,
    }
    event = AuditEvent.objects.get(case_id=case.pk)
    assert (event.kind, event.actor_kind) == ("case.opened", "person")
    assert IntakeRevision.objects.get().told_by_person == event.actor_id
    assert case.source_url == "https://helpdesk.example.org/T-1"


def test_the_same_ticket_again_is_the_same_case(open_case: Any) -> None:
    first, second = open_case(), open_case()

    assert (second.code, second.json()["result"]) == (0, "same")
    assert second.json()["case"] == first.json()["case"]
    assert Case.objects.count() == 1


def test_the_same_ticket_with_other_content_names_the_case_it_opened(open_case: Any) -> None:
    first = open_case().json()

    other = open_case(intake=INTAKE | {"claim": "другое"})

    assert other.code == 1
    assert (other.json()["result"], other.json()["case"]) == ("conflict", first["case"])


def test_a_department_of_the_organisation_is_found_by_its_short_name(open_case: Any, acme: Organisation) -> None:
    (sales,) = create_departments(organisation=acme, names=[("sales", "Sales")])

    assert open_case(department="sales").code == 0
    assert Case.objects.get().department == sales
    assert open_case(department="nowhere", external_id="T-2").json()["code"] == "unknown_department"


def test_the_intake_may_come_from_standard_input(open_case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(INTAKE).encode())))

    assert open_case("--intake=-").code == 0


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ({"intake": b"{"}, "not_json"),
        ({"intake": b'{"claim": "\\u0000"}'}, "nul"),
        ({"intake": json.dumps(INTAKE | {"more": 1}).encode()}, "unknown_field"),
        ({"intake": b'"' + b"x" * 300_000 + b'"'}, "too_large"),
        ({"process": "refund"}, "unknown_process"),
        ({"external_id": "\u200b"}, "empty"),
        ({"external_id": "T-\udcff"}, "lone_surrogate"),
        ({"source": ""}, "empty"),
        ({"source_url": "javascript:alert(1)"}, "wrong_format"),
    ],
)
def test_bad_input_stores_nothing_and_says_what_is_wrong(open_case: Any, told: dict[str, Any], code: str) -> None:
    refused = open_case(**told)

    assert (refused.code, refused.json()["result"], refused.json()["code"]) == (1, "refused", code)
    assert not Case.objects.exists()


def test_who_sees_the_organisation_but_may_not_open_is_refused_and_recorded(open_case: Any, acme: Organisation) -> None:
    refused = open_case(person="viewer")

    assert (refused.code, refused.failure.partition(":")[0]) == (1, "not_permitted")
    assert AuditEvent.objects.filter(organisation_id=acme.pk, kind="access.refused").count() == 1


def test_an_organisation_out_of_sight_is_the_same_as_none(open_case: Any) -> None:
    out_of_sight, none = open_case(person="stranger"), open_case(organisation="nowhere")

    assert (out_of_sight.code, out_of_sight.failure) == (none.code, none.failure)
    assert not AuditEvent.objects.filter(kind="access.refused").exists()


def test_nobody_and_a_missing_file_are_wrong_calls(open_case: Any) -> None:
    assert open_case(person="nobody").code == 2
    assert open_case(person="n\udcff").code == 2
    assert open_case("--intake=/nowhere/at/all.json").code == 2
