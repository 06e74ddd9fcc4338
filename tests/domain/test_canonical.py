"""One way to write a value, so that one digest means one content."""

from __future__ import annotations

import copy
import json
import unicodedata
from typing import Any

import pytest
import rfc8785
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from caseflow.domain.canonical import (
    MAX_DEPTH,
    MAX_INTEGER,
    MAX_ITEMS,
    MAX_TEXT,
    canonical_bytes,
    digest_of,
    keyed_digest,
    normalised,
    parse_json,
)
from caseflow.domain.errors import BadInput, TooLarge

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
LEAVES = st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)
often = settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


def written(value: Any) -> bytes:
    """The canonical bytes; two keys that are one in NFC are another test's business."""
    try:
        return canonical_bytes(value)
    except BadInput as error:
        assume(error.code != "duplicate_key")
        raise


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every leaf."""
    if isinstance(value, dict) and value:
        return [place for key in value for place in places(value[key], (*path, key))]
    if isinstance(value, list) and value:
        return [place for index, item in enumerate(value) for place in places(item, (*path, index))]
    return [path]


@often
@given(VALUES)
def test_what_is_read_back_is_written_the_same(value: Any) -> None:
    once = written(value)
    assert canonical_bytes(json.loads(once)) == once
    assert canonical_bytes(parse_json(once)) == once


#: Also what is refused, what is at a limit or beyond it, and what NFC writes otherwise.
ODD_TEXTS = st.text(st.characters(), max_size=6) | st.sampled_from(
    [
        *("e\u0301", "\u212b", "\x00", "\ud800", "\U0001f600", "\uffff", "x" * MAX_TEXT, "x" * (MAX_TEXT + 1)),
        *("\\u0000", "\u0301", "\n\u0303", '"\u0338', "\u0338<"),  # beside what the encoder writes
    ]
)
ODD_LEAVES = ODD_TEXTS | st.none() | st.booleans() | st.integers(-MAX_INTEGER - 1, MAX_INTEGER + 1) | st.floats()
ODD_VALUES = st.recursive(
    ODD_LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner)
        | st.dictionaries(ODD_TEXTS, inner, max_size=4)
        | st.integers(MAX_ITEMS, MAX_ITEMS + 1).map(lambda items: ["x"] * items)
    ),
    max_leaves=12,
)


def by_the_walk(value: Any) -> Any:
    try:
        return rfc8785.dumps(normalised(value))
    except BadInput as error:
        return error.code, error.params


def as_written(value: Any) -> Any:
    try:
        return canonical_bytes(value)
    except BadInput as error:
        return error.code, error.params


@often
@given(ODD_VALUES, st.integers(0, MAX_DEPTH + 1))
@example({"\uffff": 1, "\U0001f600": 2}, 0)  # as code points they stand in one order, as UTF-16 in the other
@example({"e\u0301": "\ud800"}, 0)
@example({"a": "\x00"}, 0)
@example({"a\x00": 1}, 0)
@example(["\\u0000", "\n\u0303", "e", "\u0301"], 0)
def test_the_short_way_writes_and_refuses_what_the_walk_does(value: Any, depth: int) -> None:
    for _ in range(depth):
        value = [value]
    assert as_written(value) == by_the_walk(value)


@often
@given(VALUES)
def test_every_value_is_written_as_rfc_8785_says(value: Any) -> None:
    assert written(value) == rfc8785.dumps(json.loads(written(value)))


@often
@given(st.dictionaries(TEXTS, LEAVES, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_keys_and_the_form_of_letters_do_not_matter(value: dict[str, Any], chance: Any) -> None:
    keys = list(value)
    chance.shuffle(keys)
    other = {
        unicodedata.normalize("NFD", key): unicodedata.normalize("NFD", item) if isinstance(item, str) else item
        for key, item in ((key, value[key]) for key in keys)
    }
    assume(len(other) == len(value))
    assert written(other) == written(value)


@often
@given(VALUES, LEAVES, st.randoms(use_true_random=False))
def test_a_change_of_any_leaf_changes_the_digest(value: Any, leaf: Any, chance: Any) -> None:
    before = written(value)
    changed: Any = {"root": copy.deepcopy(value)}
    path = ("root", *chance.choice(places(value)))
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    found = holder[path[-1]]
    assume(canonical_bytes(found) != canonical_bytes(leaf))
    holder[path[-1]] = leaf
    assert digest_of(written(changed["root"])) != digest_of(before)


POISON = [
    (float("nan"), "not_a_number"),
    (float("-inf"), "not_a_number"),
    (1.1, "fraction"),
    ("a\x00b", "nul"),
    ("\ud83d", "lone_surrogate"),
    (MAX_INTEGER + 1, "number_too_long"),
    (b"bytes", "wrong_type"),
    ({1: 2}, "wrong_type"),
]


@often
@given(VALUES, st.sampled_from(POISON), st.randoms(use_true_random=False))
def test_one_bad_leaf_anywhere_refuses_the_whole_and_is_named(value: Any, poison: Any, chance: Any) -> None:
    written(value)
    bad, code = poison
    holder: Any = {"root": copy.deepcopy(value)}
    path = ("root", *chance.choice(places(value)))
    whole = holder
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = bad
    with pytest.raises(BadInput) as refusal:
        canonical_bytes(whole)
    shown = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    assert refusal.value.code == code
    assert refusal.value.params["path"] == unicodedata.normalize("NFC", shown)


@often
@given(st.dictionaries(TEXTS, LEAVES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_key_that_stands_twice_is_refused_however_it_is_written(value: dict[str, Any], chance: Any) -> None:
    written(value)
    key = chance.choice(list(value))
    form = chance.choice(["NFC", "NFD"])
    pairs = [*value.items(), (unicodedata.normalize(form, key), 1)]
    body = "{" + ",".join(f"{json.dumps(name)}: {json.dumps(item)}" for name, item in pairs) + "}"
    with pytest.raises(BadInput) as refusal:
        parse_json(body.encode())
    assert refusal.value.code == "duplicate_key"


def test_a_number_and_its_text_and_a_truth_are_three_values() -> None:
    assert len({canonical_bytes(value) for value in (1, "1", True)}) == 3


def test_a_digest_is_64_lower_case_characters_and_a_keyed_one_needs_the_key() -> None:
    text = canonical_bytes({"claim": "деньги"})
    assert len(digest_of(text)) == 64
    assert digest_of(text) == digest_of(text).lower()
    assert len({digest_of(text), keyed_digest(b"a" * 32, text), keyed_digest(b"b" * 32, text)}) == 3


DEEP = "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)
BAD = [
    (b'{"a": {"b": "x\\u0000y"}}', "nul", "$.a.b"),
    (b'{"a\\u0000": 1}', "nul", "$"),
    (b'{"a": ["ok", "\\ud83d"]}', "lone_surrogate", "$.a[1]"),
    (b'{"a": NaN}', "not_a_number", "$.a"),
    (b'{"a": [1, Infinity]}', "not_a_number", "$.a[1]"),
    (b'{"a": -Infinity}', "not_a_number", "$.a"),
    (b'{"a": 1e999}', "not_a_number", "$.a"),
    (b'{"amount": 1.10}', "fraction", "$.amount"),
    (b'{"amount": 1E2}', "fraction", "$.amount"),
    (b'{"a": {"b": 1, "b": 1}}', "duplicate_key", "$.a.b"),
    ('{"a": {"é": 1, "e\u0301": 2}}'.encode(), "duplicate_key", "$.a.é"),
    (f'{{"a": {MAX_INTEGER + 1}}}'.encode(), "number_too_long", "$.a"),
    (b'{"a": -' + b"9" * 5000 + b"}", "number_too_long", "$"),
    (f'{{"a": {DEEP}}}'.encode(), "too_deep", "$.a" + "[0]" * MAX_DEPTH),
    (b"[" * 100_000 + b"]" * 100_000, "too_deep", "$"),
    (b'{"a": "' + b"x" * (MAX_TEXT + 1) + b'"}', "too_long", "$.a"),
    (b'{"a": [' + b",".join([b"0"] * (MAX_ITEMS + 1)) + b"]}", "too_long", "$.a"),
    (b'{"a": }', "not_json", "$"),
    (b"", "not_json", "$"),
    (b'{"a": 1} {"a": 2}', "not_json", "$"),
    (b"\xff\xfe{}", "not_utf8", "$"),
    (b"\xef\xbb\xbf{}", "not_json", "$"),
]


@pytest.mark.parametrize(
    ("body", "code", "path"), BAD, ids=[f"{code}-{place}" for place, (_, code, _) in enumerate(BAD)]
)
def test_what_cannot_be_read_back_the_same_is_refused_with_its_place(body: bytes, code: str, path: str) -> None:
    with pytest.raises(BadInput) as refusal:
        parse_json(body)
    assert (refusal.value.code, refusal.value.params["path"][:200]) == (code, path)


@pytest.mark.parametrize(
    ("value", "code", "path"),
    [
        ({"a": 1.0}, "fraction", "$.a"),
        ({"a": float("nan")}, "not_a_number", "$.a"),
        ({"a": {1: 2}}, "wrong_type", "$.a"),
        ({"a": [b"bytes"]}, "wrong_type", "$.a[0]"),
        ({"a": object()}, "wrong_type", "$.a"),
        ({"a": "\udc00"}, "lone_surrogate", "$.a"),
    ],
)
def test_a_value_of_our_own_is_held_to_the_same_rules(value: Any, code: str, path: str) -> None:
    with pytest.raises(BadInput) as refusal:
        canonical_bytes(value)
    assert (refusal.value.code, refusal.value.params["path"]) == (code, path)


def test_a_body_over_the_limit_is_refused_unread() -> None:
    with pytest.raises(TooLarge) as refusal:
        parse_json(b"[" * 65, max_bytes=64)
    assert refusal.value.params == {"limit": 64}
