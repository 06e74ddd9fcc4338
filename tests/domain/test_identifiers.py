"""One ticket has one spelling, however its number was typed or pasted."""

from __future__ import annotations

import unicodedata
from random import Random

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from caseflow.domain.errors import BadInput
from caseflow.domain.identifiers import MAX_EXTERNAL_ID, PUBLIC_ID, normalise_external_id, public_id


@pytest.mark.parametrize(
    "typed",
    [
        "T-1",
        " T-1 ",
        "\u00a0T-1\u3000",
        "T\u20101",
        "T\u20111",
        "T\u20121",
        "T\u20131",
        "T\u20141",
        "T\u20151",
        "T-1\u200b",
        "\ufeffT-1",
        "T\u200c-\u200d1\u2060",
        "\u200b T-1 \u200b",
    ],
)
def test_every_way_to_type_a_number_is_one_ticket(typed: str) -> None:
    assert normalise_external_id(typed) == "T-1"


def test_composed_and_decomposed_letters_are_one_ticket() -> None:
    assert normalise_external_id("Cafe\u0301-1") == normalise_external_id("Caf\u00e9-1")


def test_case_matters_unless_the_source_says_otherwise() -> None:
    assert normalise_external_id("t-1") != normalise_external_id("T-1")
    assert normalise_external_id("T-1", case_sensitive=False) == normalise_external_id("t-1", case_sensitive=False)


def test_different_numbers_stay_different() -> None:
    typed = ["T-1", "T-11", "T1", "T--1", "T 1", "Т-1", "T_1"]  # the last but one begins with a Cyrillic letter
    assert len({normalise_external_id(text) for text in typed}) == len(typed)


def test_normalising_twice_changes_nothing() -> None:
    for text in ("\u200b T\u2014e\u0301 ", " \u200b \u00a0 x \u200b "):
        once = normalise_external_id(text)
        assert normalise_external_id(once) == once


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("", "empty"),
        (" \u200b\ufeff ", "empty"),
        ("T" * 201, "too_long"),
        ("T\n1", "control_character"),
        ("T\x001", "control_character"),
        ("T\ud8001", "control_character"),
        ("T\x7f", "control_character"),
    ],
)
def test_what_is_no_number_is_refused_with_its_place(typed: str, code: str) -> None:
    with pytest.raises(BadInput) as refusal:
        normalise_external_id(typed)
    assert (refusal.value.code, refusal.value.params["path"]) == (code, "$.external_id")


def test_our_own_names_look_like_our_own_names() -> None:
    rng = Random(4821)
    names = {public_id("C", rng) for _ in range(1000)}
    assert len(names) == 1000
    assert all(PUBLIC_ID.match(name) and name.startswith("C-") for name in names)


INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015"
#: What people and programs really put into a number, and what is only possible.
TYPED = st.text(
    st.sampled_from("Tt-_ 1éÉßİ\u0301\u0327\u00a0Ω\u2126" + INVISIBLE + DASHES)
    | st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]),
    max_size=30,
)


def spelled(typed: str, **how: bool) -> str:
    try:
        return normalise_external_id(typed, **how)
    except BadInput as error:
        assume(error.code != "empty")
        raise


@given(TYPED, st.booleans())
@example("e\u200b\u0301", True)
@example("\u0301\u200b T", True)
def test_the_one_spelling_is_written_as_itself(typed: str, case_sensitive: bool) -> None:
    once = spelled(typed, case_sensitive=case_sensitive)
    assert normalise_external_id(once, case_sensitive=case_sensitive) == once
    assert 0 < len(once) <= MAX_EXTERNAL_ID
    assert once == once.strip() and not set(once) & set(INVISIBLE + DASHES)
    if case_sensitive:
        assert unicodedata.is_normalized("NFC", once)


@given(TYPED, st.sampled_from(INVISIBLE), st.integers(0, 30), st.sampled_from(["NFC", "NFD"]), st.sampled_from(DASHES))
def test_what_nobody_sees_makes_no_second_ticket(typed: str, mark: str, place: int, form: str, dash: str) -> None:
    other = typed[:place] + mark + typed[place:]
    assert spelled(other) == spelled(typed)
    assert spelled(unicodedata.normalize(form, typed)) == spelled(typed)
    assert spelled(f" {typed}\u00a0") == spelled(typed)
    assert spelled(typed.replace("-", dash)) == spelled(typed)
