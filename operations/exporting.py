"""Taking a list out as a file: exactly its rows, by rights that hold until the end, on record (design §9, §10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from accounts import access
from accounts.principal import Principal, actor_of
from audit.services import PLATFORM, record_access
from caseflow.domain.errors import BadInput, NotPermitted
from caseflow.domain.roles import Right

MAX_ROWS = 20_000  #: of one file; a longer list is narrowed first
PORTION = 1_000  #: rows fetched at once

Row = TypeVar("Row", bound=Model)
Line = Mapping[str, Any]


def take_out(
    principal: Principal,
    rows: QuerySet[Row],
    *,
    line_of: Callable[[Row], Line],
    organisation_of: Callable[[Row], int],
    what: str,
    form: str,
    told: Mapping[str, str],
) -> list[Line]:
    """The lines of `rows`, which the caller narrowed to what `principal` sees, in their order.

    `told` says as primitives what the list was narrowed to. One event in every organisation whose rows are taken, with
    the number of its rows only. Raises BadInput for more than MAX_ROWS, and NotPermitted where a right to see them
    ended meanwhile.
    """
    lines: list[Line] = []
    counted: Counter[int] = Counter()
    for row in rows[: MAX_ROWS + 1].iterator(chunk_size=PORTION):
        lines.append(line_of(row))
        counted[organisation_of(row)] += 1
    if len(lines) > MAX_ROWS:
        raise BadInput(code="too_many", path="$.filter", problem=f"more than {MAX_ROWS} rows: narrow the list")
    put_on_record(principal, counted, what=what, form=form, told=told)
    return lines


def put_on_record(
    principal: Principal, counted: Mapping[int, int], *, what: str, form: str, told: Mapping[str, str]
) -> None:
    """That so many lines about each organisation (or PLATFORM) are taken out, at the last moment at which a right may
    still be missing. Raises NotPermitted."""
    seen = set(access.organisations_with(principal, Right.SEE_CASES).values_list("pk", flat=True))
    if PLATFORM in counted and access.is_platform_operator(principal):
        seen.add(PLATFORM)
    if not counted.keys() <= seen:
        raise NotPermitted(right=Right.SEE_CASES.value)
    for organisation, number in sorted(counted.items()):
        facts = {"what": what, "form": form, "rows": number, **told}
        record_access(organisation, "export.made", actor=actor_of(principal), facts=facts)
