"""What the database gives back is written the same as what it was given, whatever it did to it meanwhile."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caseflow.domain.canonical import MAX_INTEGER, canonical_bytes
from caseflow.domain.errors import BadInput

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
LEAVES = st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(VALUES)
def test_a_value_that_went_through_jsonb_has_the_same_canonical_bytes(database: None, value: Any) -> None:
    try:
        canonical = canonical_bytes(value)
    except BadInput:
        return  # two keys that are one in NFC: refused at the edge
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::jsonb::text, %s::bytea", [canonical.decode(), canonical])
        as_json, as_bytes = cursor.fetchone()
    assert canonical_bytes(json.loads(as_json)) == canonical
    assert bytes(as_bytes) == canonical


def test_the_order_of_keys_that_jsonb_chooses_does_not_matter(database: None) -> None:
    value = {"b": 1, "a": {"y": 1, "x": 2}, "aa": [True, None]}
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::jsonb::text", [json.dumps(value)])
        (text,) = cursor.fetchone()
    assert list(json.loads(text)) != list(value)
    assert canonical_bytes(json.loads(text)) == canonical_bytes(value)


@pytest.mark.parametrize("text", ["1.10", "1E2", "-0.0"])
def test_numbers_that_jsonb_would_rewrite_are_refused_before(text: str) -> None:
    with pytest.raises(BadInput, match="text"):
        canonical_bytes({"amount": json.loads(text)})
