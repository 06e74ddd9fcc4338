"""Whatever is wrong with a ticket is named by a stable code and its place, and nothing is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from caseflow.domain.canonical import MAX_BYTES
from tests.driving import fingerprint
from tests.factories import T4821

from .conftest import CASES, Caller

CLAIM = "$.intake.claim"


def ticket(**changes: Any) -> bytes:
    return json.dumps(T4821(**changes)).encode()


def without(name: str) -> bytes:
    body = T4821()
    del body[name]
    return json.dumps(body).encode()


def intake(**changes: Any) -> bytes:
    return ticket(intake=T4821()["intake"] | changes)


def raw_claim(text: str) -> bytes:
    """The claim as JSON source, for what Python's own writer would refuse or repair."""
    return ticket(intake=T4821()["intake"] | {"claim": "@"}).replace(b'"@"', text.encode("latin-1"))


def nested(depth: int) -> Any:
    return {"deeper": nested(depth - 1)} if depth else "end"


BAD: dict[str, tuple[bytes, int, str, str]] = {
    "nothing at all": (b"", 400, "missing", "$.organisation"),
    "not JSON": (b"{organisation: acme}", 400, "not_json", "$"),
    "cut": (ticket()[:-5], 400, "not_json", "$"),
    "a list": (b"[]", 400, "wrong_type", "$"),
    "a word": (b'"T-4821"', 400, "wrong_type", "$"),
    "nothing as a value": (b"null", 400, "wrong_type", "$"),
    "not UTF-8": (raw_claim('"\xe4"'), 400, "not_utf8", "$"),
    "UTF-16": (ticket().decode().encode("utf-16"), 400, "not_utf8", "$"),
    "NUL": (raw_claim('"\\u0000"'), 400, "nul", CLAIM),
    "NUL in a name": (ticket(intake={"a\0": 1}), 400, "nul", "$.intake"),
    "half of a pair": (raw_claim('"\\ud83d"'), 400, "lone_surrogate", CLAIM),
    "NaN": (raw_claim("NaN"), 400, "not_a_number", CLAIM),
    "infinity": (raw_claim("Infinity"), 400, "not_a_number", CLAIM),
    "minus infinity": (raw_claim("-Infinity"), 400, "not_a_number", CLAIM),
    "a number beyond all": (raw_claim("1e999"), 400, "not_a_number", CLAIM),
    "a fraction": (raw_claim("1.5"), 400, "fraction", CLAIM),
    "a long number": (raw_claim("9007199254740993"), 400, "number_too_long", CLAIM),
    "a number of 5000 digits": (raw_claim("9" * 5000), 400, "number_too_long", "$"),
    "a key twice": (raw_claim('"a", "claim": "b"'), 400, "duplicate_key", CLAIM),
    "a key twice at the top": (ticket()[:-1] + b', "source": "other"}', 400, "duplicate_key", "$.source"),
    "a key twice in another spelling": (raw_claim('"a", "\\u0063laim": "b"'), 400, "duplicate_key", CLAIM),
    "too deep": (ticket(intake=nested(12)), 400, "too_deep", "$.intake" + ".deeper" * 12),
    "far too deep": (b"[" * 100_000, 400, "too_deep", "$"),
    "too many entries": (ticket(intake={str(number): 1 for number in range(1001)}), 400, "too_long", "$.intake"),
    "a text too long for anything": (intake(claim="x" * 20_001), 400, "too_long", CLAIM),
    "a claim too long for its process": (intake(claim="x" * 4001), 400, "too_long", CLAIM),
    "too large": (intake(claim="x" * MAX_BYTES), 413, "too_large", ""),
    "no organisation": (without("organisation"), 400, "missing", "$.organisation"),
    "no process": (without("process"), 400, "missing", "$.process"),
    "no source": (without("source"), 400, "missing", "$.source"),
    "no external id": (without("external_id"), 400, "missing", "$.external_id"),
    "no intake": (without("intake"), 400, "missing", "$.intake"),
    "an unknown process": (ticket(process="nothing"), 400, "unknown_process", "$.process"),
    "an unknown field": (ticket(urgent=True), 400, "unknown_field", "$.urgent"),
    "an unknown field of the intake": (intake(urgent="yes"), 400, "unknown_field", "$.intake.urgent"),
    "an unknown department": (ticket(department="nobody"), 400, "unknown_department", "$.department"),
    "a number for a name": (ticket(organisation=1), 400, "wrong_type", "$.organisation"),
    "nothing for a name": (ticket(process=None), 400, "wrong_type", "$.process"),
    "a number for an id": (ticket(external_id=4821), 400, "wrong_type", "$.external_id"),
    "a list for the intake": (ticket(intake=[]), 400, "wrong_type", "$.intake"),
    "a number in the intake": (intake(payment_id=31), 400, "wrong_type", "$.intake.payment_id"),
    "yes in the intake": (intake(payment_id=True), 400, "wrong_type", "$.intake.payment_id"),
    "nothing in the intake": (intake(payment_id=None), 400, "wrong_type", "$.intake.payment_id"),
    "an id with a path in it": (intake(payment_id="../PAY-31"), 400, "wrong_format", "$.intake.payment_id"),
    "an id with a line break": (intake(payment_id="PAY-31\n"), 400, "wrong_format", "$.intake.payment_id"),
    "an empty claim": (intake(claim=""), 400, "empty", CLAIM),
    "an empty external id": (ticket(external_id=" \u200b "), 400, "empty", "$.external_id"),
    "a long external id": (ticket(external_id="T" * 201), 400, "too_long", "$.external_id"),
    "a control character in an id": (ticket(external_id="T-\u0007"), 400, "control_character", "$.external_id"),
    "an empty source": (ticket(source=" "), 400, "empty", "$.source"),
    "a long source": (ticket(source="s" * 65), 400, "too_long", "$.source"),
    "a link that is a script": (ticket(source_url="javascript:alert(1)"), 400, "wrong_format", "$.source_url"),
    "a long link": (ticket(source_url="https://" + "x" * 1000), 400, "too_long", "$.source_url"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_ticket_is_refused_with_its_place_and_nothing_is_stored(machine: Caller, name: str) -> None:
    body, status, code, path = BAD[name]
    before = fingerprint()

    answer = machine.client.post(CASES, body, content_type="application/json")

    problem = answer.json()
    assert (answer.status_code, problem["code"], problem.get("path", "")) == (status, code, path)
    assert answer["Content-Type"] == "application/problem+json"
    assert problem["status"] == status
    assert problem["title"] and problem["detail"] and problem["type"].endswith(code)
    assert fingerprint() == before


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"])
def test_only_json_is_read(machine: Caller, kind: str) -> None:
    before = fingerprint()

    answer = machine.client.generic("POST", CASES, b"organisation=acme", content_type=kind)

    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    assert fingerprint() == before


def test_the_largest_body_that_is_allowed_is_read(machine: Caller) -> None:
    body = ticket()
    body += b" " * (MAX_BYTES - len(body))

    assert machine.client.post(CASES, body, content_type="application/json").status_code == 201
    answer = machine.client.post(CASES, body + b" ", content_type="application/json")
    assert (answer.status_code, answer.json()["limit"]) == (413, MAX_BYTES)


@pytest.mark.parametrize(
    ("data", "code", "path"),
    [
        ({}, "empty", "$.data"),
        ([], "wrong_type", "$.data"),
        ({"nickname": "x"}, "unknown_field", "$.data.nickname"),
        ({"payment_id": 32}, "wrong_type", "$.data.payment_id"),
        ({"payment_id": ""}, "empty", "$.data.payment_id"),
    ],
)
def test_bad_data_for_a_case_is_refused_and_nothing_is_stored(
    machine: Caller, opened: Any, data: Any, code: str, path: str
) -> None:
    case = opened()
    before = fingerprint()

    answer = machine.post(case["links"]["data"], {"data": data})

    assert (answer.status_code, answer.json()["code"], answer.json()["path"]) == (400, code, path)
    assert fingerprint() == before


@pytest.mark.parametrize(
    ("query", "code", "path"),
    [
        ("staet=CHECKING", "unknown_field", "$query.staet"),
        ("state=DONE", "invalid", "$query.state"),
        ("limit=0", "invalid", "$query.limit"),
        ("limit=201", "invalid", "$query.limit"),
        ("limit=many", "invalid", "$query.limit"),
        ("after=1", "wrong_format", "$query.after"),
        ("after=C-%00", "nul", "$query.after"),
        ("subject=%00", "nul", "$query.subject"),
        ("external_id=T%07", "control_character", "$query.external_id"),
    ],
)
def test_a_list_asked_for_wrongly_says_so_and_shows_nothing(machine: Caller, query: str, code: str, path: str) -> None:
    answer = machine.client.get(f"{CASES}?{query}")

    assert (answer.status_code, answer.json()["code"], answer.json()["path"]) == (400, code, path)
