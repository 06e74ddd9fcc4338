"""Pages by key: the last row's public id stands for its place, so a page costs the same however far it lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from rest_framework.request import Request

from caseflow.domain.errors import BadInput
from caseflow.domain.identifiers import PUBLIC_ID

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Rows of one page, and the address of the next one or None."""

    results: list[Row]
    next: str | None


def page_of(rows: QuerySet[Row], places: QuerySet[Row], request: Request, *, after: str, limit: int) -> Page[Row]:
    """Newest first; one query. Raises BadInput for an `after` that is no id of ours.

    `places` are all rows in sight: the last row may have left the filters since, but not its place. An `after` out of
    sight gives an empty page. Numbers of rows as places would tell how much others have.
    """
    if after:
        if not PUBLIC_ID.fullmatch(after):
            raise BadInput(code="wrong_format", path="$query.after", problem="an id from a page before is needed")
        rows = rows.filter(pk__lt=places.order_by().filter(public_id=after).values("pk"))
    found = list(rows.order_by("-pk")[: limit + 1])
    if len(found) <= limit:
        return Page(found, None)
    found = found[:limit]
    last: Any = found[-1]
    parameters = dict(request.query_params.items()) | {"after": last.public_id}
    return Page(found, f"{request.path}?{urlencode(parameters)}")
