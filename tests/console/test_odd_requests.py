"""What no person types: it is answered like any mistake, never with an error of ours."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.usefixtures("committing_database")


@pytest.mark.parametrize("door", ["/console/sign-in/", "/admin/login/"])
@pytest.mark.parametrize("name", ["n" * 300, "nul\x00", "\ud83d"])
def test_a_name_that_nobody_can_have_is_a_mistake_in_the_form(client: Client, door: str, name: str) -> None:
    encoded = name.encode("utf-8", "replace").decode()
    answer = client.post(door, {"username": encoded, "password": "x"})
    assert answer.status_code == 200


@pytest.mark.parametrize("field", ["organisation", "process", "reason", "q"])
def test_a_nul_in_a_filter_filters_nothing_and_breaks_nothing(desk: object, field: str) -> None:
    reader = desk("viewer")  # type: ignore[operator]
    assert reader.client.get("/console/cases/", {field: "\x00"}).status_code == 200


@pytest.mark.parametrize("back", ["abc", "console:cases", "//evil.example/", "https://evil.example/", "javascript:1"])
def test_a_language_is_chosen_and_an_address_that_is_not_ours_leads_home(client: Client, back: str) -> None:
    answer = client.post("/console/language/", {"language": "en", "next": back})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/console/")
