"""The body of a request to open a case, checked field by field: unknown fields are refused, types are not bent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts import access
from accounts.models import Organisation
from accounts.principal import Actor
from caseflow.domain.errors import BadInput

from .intake import Opened, open_case

REQUIRED = ("process", "source", "external_id", "intake")
OPTIONAL = ("organisation", "source_url", "department")


@dataclass(frozen=True, slots=True)
class OpeningRequest:
    """What was asked for, in the request's own words. `organisation` and `department` are short names or ''."""

    process: str
    source: str
    external_id: str
    intake: Any
    organisation: str = ""
    source_url: str = ""
    department: str = ""


def read_request(body: Any) -> OpeningRequest:
    """Raises BadInput(code, path, problem) for the first field that is missing, unknown or of a wrong type."""
    if not isinstance(body, Mapping):
        raise BadInput(code="wrong_type", path="$", problem="an object is needed")
    for name in body:
        if name not in REQUIRED + OPTIONAL:
            raise BadInput(code="unknown_field", path=f"$.{name}", problem="there is no such field")
    for name in REQUIRED:
        if name not in body:
            raise BadInput(code="missing", path=f"$.{name}", problem="this field is needed")
    for name, value in body.items():
        if name != "intake" and not isinstance(value, str):
            raise BadInput(code="wrong_type", path=f"$.{name}", problem="text is needed")
    return OpeningRequest(**body)


def open_requested(request: OpeningRequest, *, organisation: Organisation, actor: Actor) -> Opened:
    """Open the case. Raises BadInput, also where the request names another organisation, and IntakeConflict."""
    if request.organisation not in ("", organisation.slug):
        raise BadInput(code="wrong_organisation", path="$.organisation", problem="this is another organisation")
    return open_case(
        organisation=organisation,
        process=request.process,
        source=request.source,
        external_id=request.external_id,
        intake=request.intake,
        actor=actor,
        source_url=request.source_url,
        department_id=access.get_department_id(organisation, request.department),
    )
