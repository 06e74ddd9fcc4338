"""Lists: what is in sight, page by page, at a price that does not grow."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Organisation
from caseflow.domain.roles import Role
from tests.driving import Engine
from tests.factories import T4821, make_organisation, make_person

from .conftest import CASES, Caller, browser_of, machine_of


def external_ids(page: Any) -> list[str]:
    return [case["external_id"] for case in page.json()["results"]]


def test_pages_follow_each_other_without_gap_or_repeat_while_new_cases_come(machine: Caller, opened: Any) -> None:
    for number in range(7):
        opened(external_id=f"T-{number}")

    first = machine.get(CASES, limit=3)
    opened(external_id="T-7")
    second = machine.get(first.json()["next"])
    third = machine.get(second.json()["next"])

    assert [external_ids(page) for page in (first, second, third)] == [
        ["T-6", "T-5", "T-4"],
        ["T-3", "T-2", "T-1"],
        ["T-0"],
    ]
    assert third.json()["next"] is None


def test_filters_narrow_together_and_stay_in_the_next_page(machine: Caller, opened: Any) -> None:
    for number in range(3):
        opened(external_id=f"T-{number}")
    opened(external_id="T-9", intake=T4821()["intake"] | {"subscription_id": "S-9"})

    wanted = {"organisation": "acme", "state": "RECEIVED", "process": "restore_access", "subject": "S-77"}
    page = machine.get(CASES, limit=2, **wanted)

    assert external_ids(page) == ["T-2", "T-1"]
    assert external_ids(machine.get(page.json()["next"])) == ["T-0"]
    assert external_ids(machine.get(CASES, external_id=" T\u20119")) == ["T-9"]
    assert external_ids(machine.get(CASES, state="COMPLETED")) == []


def test_a_reason_without_a_word_of_its_own_is_told_in_the_sentence_of_the_process(engine: Engine) -> None:
    engine.open(missing=["payments"]).run()

    (case,) = browser_of(engine.person("viewer")).get(CASES, state="WAITING_DATA").json()["results"]

    assert case["reason"] == "payment_not_found"
    assert case["reason_text"] == case["ending_text"] != ""


def test_a_page_goes_on_where_it_was_also_when_its_last_case_left_the_filter(engine: Engine) -> None:
    stories = [engine.open() for _ in range(3)]
    viewer = browser_of(engine.person("viewer"))
    page = viewer.get(CASES, limit=2, state="RECEIVED")
    stories[1].run()

    following = viewer.get(page.json()["next"])

    assert external_ids(following) == [stories[0].case.external_id]


def test_another_organisations_cases_are_in_no_list_and_answer_as_if_they_were_not_there(
    acme: Organisation, opened: Any
) -> None:
    case = opened()
    globex = make_organisation("globex")
    strangers = [machine_of(globex), browser_of(make_person("stranger", globex, Role.OPERATOR))]
    root = make_person("root")
    root.is_superuser = root.is_staff = True
    root.save()
    strangers.append(browser_of(root))

    for stranger in strangers:
        assert stranger.get(CASES).json() == {"results": [], "next": None}
        assert stranger.get(CASES, organisation="acme").json()["results"] == []
        assert stranger.get(CASES, after=case["id"]).json() == {"results": [], "next": None}
        for name, link in case["links"].items():
            ask = stranger.post if name == "data" else stranger.get
            body = {"data": {"payment_id": "PAY-1"}} if name == "data" else {}
            hidden, missing = (
                ask(link, **({"body": body} if body else {})),
                ask(link.replace(case["id"], "C-0000000000"), **({"body": body} if body else {})),
            )
            assert hidden.status_code == missing.status_code == 404
            assert hidden.json() == missing.json()


@pytest.mark.parametrize("name", ["C-", "c-7k3qx9tm4a", "1", "%00", "%F0%9F%99%81", "..%2f", "C-7K3QX9TM4A" * 50])
def test_a_name_that_is_none_is_not_found(machine: Caller, name: str) -> None:
    for path in (f"/api/v1/cases/{name}/", f"/api/v1/proposals/{name}/", f"/api/v1/actions/{name}/"):
        answer = machine.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_the_price_of_a_list_does_not_depend_on_its_length(machine: Caller, opened: Any) -> None:
    prices = []
    for number in range(2):
        for place in range(1 + 10 * number):
            opened(external_id=f"T-{number}-{place}")
        with CaptureQueriesContext(connection) as queries:
            assert machine.get(CASES).status_code == 200
        prices.append(len(queries))

    assert prices == [2, 2]  # the token, the page


def test_the_price_of_a_case_does_not_depend_on_what_happened_to_it(engine: Engine) -> None:
    machine = machine_of(engine.organisation)
    young, old = engine.open(), engine.proposed()
    old.decide()
    old.run()
    assert old.state == "COMPLETED"

    def price(story: Any, part: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert machine.get(f"{CASES}{story.case.public_id}/{part}").status_code == 200
        # `story.case` above is one of them.
        return len(queries) - 1

    known = {"": 3, "timeline/": 5, "facts/": 4, "proposals/": 4, "actions/": 4}
    assert {part: price(old, part) for part in known} == known
    # Where there is nothing, Django leaves out the look-up of what belongs to it.
    assert all(price(young, part) <= most for part, most in known.items())
