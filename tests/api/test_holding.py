"""Holds and notes over the API."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import Organisation
from tests.factories import make_organisation, make_person

from .conftest import CASES, Caller, browser_of


@pytest.fixture
def case(opened: Any) -> str:
    return str(opened()["id"])


def test_a_case_is_held_handed_over_and_let_go(acme: Organisation, case: str) -> None:
    first = browser_of(make_person("first", acme, "operator"))
    second = browser_of(make_person("second", acme, "operator"))
    path = f"{CASES}{case}/hold/"
    assert first.get(path).json() == {"hold": None}

    taken = first.post(path)
    again = first.post(path)
    refused = second.post(path)

    assert (taken.status_code, again.status_code) == (201, 200)
    assert taken.json()["hold"]["username"] == "first"
    assert (refused.status_code, refused.json()["code"], refused.json()["person"]) == (409, "held_by_another", "First")
    assert second.post(f"{path}release/").json()["code"] == "held_by_another"
    given = second.post(path, {"to": "second"})
    assert (given.status_code, given.json()["hold"]["given_by"]) == (201, "Second")
    assert second.post(path, {"to": "nobody"}).json()["code"] == "unknown_holder"
    assert second.post(f"{path}release/").json() == {"hold": None}


def test_notes_are_listed_without_their_words(acme: Organisation, case: str, machine: Caller) -> None:
    operator = browser_of(make_person("operator", acme, "operator"))
    path = f"{CASES}{case}/notes/"
    written = operator.post(path, {"text": "Позвонить Марии"})
    by_machine = machine.post(path, {"text": "The customer rang"})

    assert (written.status_code, written.json()["field"], by_machine.json()["by_kind"]) == (201, "note.1", "service")
    listed = operator.get(path)
    assert [one["number"] for one in listed.json()["results"]] == [2, 1]
    assert "Марии" not in listed.content.decode()
    shown = operator.post(f"{CASES}{case}/reveal/", {"field": "note.1"})
    assert shown.json()["text"] == "Позвонить Марии"
    assert operator.post(path, {"text": " "}).json()["code"] == "empty"


def test_without_the_right_403_out_of_sight_404_and_no_machine_holds(
    acme: Organisation, case: str, machine: Caller
) -> None:
    viewer = browser_of(make_person("viewer", acme, "viewer"))
    stranger = browser_of(make_person("stranger", make_organisation("globex"), "operator"))
    for path, body in (("hold/", {}), ("hold/release/", {}), ("notes/", {"text": "x"})):
        assert viewer.post(f"{CASES}{case}/{path}", body).status_code == 403
        assert stranger.post(f"{CASES}{case}/{path}", body).status_code == 404
    assert stranger.get(f"{CASES}{case}/hold/").status_code == 404
    assert stranger.get(f"{CASES}{case}/notes/").status_code == 404
    assert machine.post(f"{CASES}{case}/hold/").json()["code"] == "service_never_holds"
