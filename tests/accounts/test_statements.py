"""A kept statement answers everybody for themselves, at the time it is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.db.models import Value
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Person
from accounts.statements import Kept

pytestmark = pytest.mark.usefixtures("database")
Make = Callable[..., Any]


def test_one_statement_answers_each_person_for_themselves(a_person: Make) -> None:
    kept = Kept(lambda person, word: Person.objects.filter(pk__in=[person.pk]).values_list("username", Value(word)))
    for name in ("first", "second"):
        assert kept.ask(a_person(name), "x") == [(name, "x")]
    assert kept.ask(Person.objects.get(username="first"), "y") == [("first", "y")]


def test_what_is_no_key_stands_in_the_text_where_a_plan_for_all_values_can_see_it(a_person: Make) -> None:
    kept = Kept(lambda person: Person.objects.filter(pk=person.pk, username="100 %s").values_list("username"))
    with CaptureQueriesContext(connection) as queries:
        assert kept.ask(a_person("100 %s")) == [("100 %s",)]
    (asked,) = [query["sql"] for query in queries if "SELECT" in query["sql"] and "accounts_person" in query["sql"]][
        -1:
    ]
    assert "'100 %%s'" in asked


@pytest.mark.parametrize(
    "build",
    [
        lambda person: Person.objects.filter(pk=person.pk, date_joined__lt=timezone.now()).values_list("pk"),
        lambda person: Person.objects.values_list("pk"),
    ],
    ids=["a moment of today", "nobody is named"],
)
def test_a_statement_that_would_be_another_one_tomorrow_or_for_anybody_else_is_not_kept(
    build: Callable[..., Any], a_person: Make
) -> None:
    with pytest.raises(ValueError, match=r"moment|a key"):
        Kept(build).ask(a_person("first"))
