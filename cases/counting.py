"""Counting what has ended without counting it: counts that were folded, and the rows that still wait for it.

A trigger inserts one row with the change that ends a case or an action. A reader adds the counts to the rows, both of
one snapshot, so the sum is right in every moment; folding moves rows into counts in one statement and changes no sum.
No counter is updated where cases move: two workers never wait for each other there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Count, Min, QuerySet

from accounts import access
from accounts.models import Organisation
from accounts.principal import Principal
from caseflow.domain.roles import Right

from .claiming import Lease
from .models.ended import Ended, EndedCount, What
from .settling import settlement
from .stages import Stage, register

PORTION = 20_000  #: rows folded in one transaction

_FOLD = """
WITH taken AS (
  DELETE FROM cases_ended WHERE id IN (SELECT id FROM cases_ended ORDER BY id LIMIT %s)
  RETURNING what, organisation_id, about, kind, state, since),
folded AS (
  INSERT INTO cases_endedcount AS c (what, organisation_id, about, kind, state, number, oldest)
  SELECT what, organisation_id, about, kind, state, count(*), min(since) FROM taken
  GROUP BY what, organisation_id, about, kind, state ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (what, organisation_id, about, kind, state)
  DO UPDATE SET number = c.number + excluded.number, oldest = least(c.oldest, excluded.oldest))
SELECT count(*) FROM taken
"""


@dataclass(frozen=True, slots=True)
class Told:
    """Rows of one state: how many, and since when the first of them is there."""

    number: int
    oldest: datetime


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What ended rows are narrowed to; empty means any. `about` is a process or a system."""

    organisation: str = ""
    about: str = ""
    kind: str = ""


def fold(portion: int = PORTION) -> int:
    """Move what waits into the counts, a portion a statement; how many rows there were."""
    total = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_FOLD, [portion])
            (done,) = cursor.fetchone()
        total += done
        if done < portion:
            return total


def with_ended(
    counted: QuerySet[Any, Any], principal: Principal, what: What, narrowing: Narrowing, *columns: str
) -> QuerySet[Any, Any]:
    """`counted`, a `values_list(…, number, oldest)` of rows that may still change, and those that ended.

    `columns` are the ones before the two numbers, as `EndedCount` calls them. One query; several rows of it may be of
    one state, `summed` adds them.
    """
    folded = _narrowed(EndedCount.objects.filter(what=what), principal, narrowing)
    waiting = _narrowed(Ended.objects.filter(what=what), principal, narrowing).values(*columns)
    return counted.order_by().union(
        folded.values_list(*columns, "number", "oldest"),
        waiting.annotate(n=Count("*"), first=Min("since")).values_list(*columns, "n", "first"),
        all=True,
    )


def summed(rows: Iterable[tuple[Any, ...]]) -> dict[Any, Told]:
    """The columns before the numbers (a tuple where there are several) → their sum."""
    found: dict[Any, Told] = {}
    for *key, number, oldest in rows:
        name = key[0] if len(key) == 1 else tuple(key)
        known = found.get(name)
        found[name] = Told(known.number + number, min(known.oldest, oldest)) if known else Told(number, oldest)
    return found


def _narrowed(rows: QuerySet[Any], principal: Principal, narrowing: Narrowing) -> QuerySet[Any]:
    rows = access.visible(rows, principal, Right.SEE_CASES).order_by()
    if narrowing.organisation:
        rows = rows.filter(organisation_id__in=Organisation.objects.filter(slug=narrowing.organisation).values("pk"))
    chosen = {"about": narrowing.about, "kind": narrowing.kind}
    return rows.filter(**{name: value for name, value in chosen.items() if value})


def fold_counts(lease: Lease) -> Lease | None:
    """The regular work: what ended since the last time."""
    fold()
    with settlement(lease) as settling:
        pass
    return settling.next_lease


register(Stage("fold_counts", fold_counts, carries=False))
