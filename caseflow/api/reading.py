"""Reading what was sent: bytes by the strict JSON of the domain, then a form that refuses what it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from caseflow.domain.canonical import MAX_BYTES, normalised, parse_json
from caseflow.domain.errors import BadInput
from cases.revisions import bad_input_of

Form = TypeVar("Form", bound=BaseModel)


class Body(BaseModel):
    """Base of every request body."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Query(BaseModel):
    """Base of every query string: a misspelt filter is refused, since ignoring it would show too much."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StrictJsonParser(BaseParser):
    """Duplicate keys, NUL, NaN and the like are refused here, before anything is looked up."""

    media_type = "application/json"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        # One byte more than allowed is enough to know; a longer body is never held in memory.
        return parse_json(stream.read(MAX_BYTES + 1))


def read_body(request: Request, form: type[Form]) -> Form:
    """Raises TooLarge and BadInput(code, path, problem) for the first wrong place."""
    # Without a body DRF asks no parser and gives an empty mapping.
    data = request.data
    if not isinstance(data, Mapping):
        raise BadInput(code="wrong_type", path="$", problem="an object is needed")
    return _read(dict(data), form, "$")


def read_query(request: Request, form: type[Form]) -> Form:
    """Raises BadInput with a path like `$query.limit`."""
    values = dict(request.query_params.items())
    return _read(normalised(values, "$query"), form, "$query")


def _read(values: Mapping[str, Any], form: type[Form], path: str) -> Form:
    try:
        return form.model_validate(values)
    except ValidationError as error:
        raise bad_input_of(error, path) from None
