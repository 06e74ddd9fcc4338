"""Intake checked against the process's schema, split into what may be stored openly and what is personal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from caseflow.domain.errors import BadInput
from caseflow.domain.process import Process

from .personal import digest_of_personal

#: pydantic's error types → our stable codes; everything else is "invalid".
_CODES = {
    "missing": "missing",
    "extra_forbidden": "unknown_field",
    "string_too_long": "too_long",
    "string_too_short": "empty",
    "string_pattern_mismatch": "wrong_format",
    "string_type": "wrong_type",
    "int_type": "wrong_type",
    "bool_type": "wrong_type",
    "dict_type": "wrong_type",
    "model_type": "wrong_type",
    "list_type": "wrong_type",
}


def checked_intake(process: Process, intake: Any, *, path: str = "$.intake") -> dict[str, Any]:
    """`intake` in the process's own schema. Raises BadInput(code, path, problem) for the first wrong place."""
    try:
        return process.Intake.model_validate(intake).model_dump(mode="json")
    except ValidationError as error:
        raise bad_input_of(error, path) from None


def bad_input_of(error: ValidationError, path: str = "$") -> BadInput:
    """The first problem of a pydantic error as ours, with a path like `$.intake.payment_id`."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = path + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    return BadInput(code=_CODES.get(first["type"], "invalid"), path=place, problem=first["msg"])


def split_personal(process: Process, intake: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """(body with references, personal texts by field name 'intake.<field>')."""
    body, texts = dict(intake), {}
    for name in process.personal_intake & intake.keys():
        field = f"intake.{name}"
        texts[field] = str(intake[name])
        body[name] = {"personal": field, "digest": digest_of_personal(intake[name])}
    return body, texts
