"""What a configuration says of an outside system that speaks JSON over HTTP, and what is wrong with one.

A file in TOML or JSON holds a table for each system. Everything is read and compared when the adapter is made, so that
`manage.py check` names the file, the place in it and the mistake before anything is asked.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from caseflow.domain.outcomes import FaultKind

PLACE = re.compile(r"\{([a-z_]+(?:\.[A-Za-z0-9_]+)*)\}")
PATH = r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$"  #: "operation.id": the field `id` of the object `operation`

FieldPath = Annotated[str, Field(pattern=PATH)]
Seconds = Annotated[float, Field(gt=0, le=30 * 86400)]
Status = Annotated[int, Field(ge=300, le=599)]
Header = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")]


class BadConfiguration(ValueError):
    """The configuration {file} says at {place}: {problem}."""

    def __init__(self, file: str, place: str, problem: str) -> None:
        super().__init__(f"the configuration {file} is wrong at {place}: {problem}")


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class OwnerPart(Part):
    team: str
    contact: str


class Auth(Part):
    """A header whose value stands in the environment, never in the file."""

    header: Header = "Authorization"
    prefix: str = "Bearer "
    env: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")


class Keys(Part):
    """Present only where the same key twice is one effect."""

    header: Header = "Idempotency-Key"
    life: Seconds  #: seconds for which it is kept; write less than is promised
    replayed_header: Header = "Idempotent-Replayed"


class FactPart(Part):
    """One field of an answer as one field of a fact."""

    path: FieldPath = Field(alias="from")
    kind: Literal["text", "amount", "number", "flag"] = Field("text", alias="as")
    optional: bool = False
    one_of: list[str] = []
    map: dict[str, str] = {}  #: their word → ours; a word that is not in it is no answer


class Missing(Part):
    """The system's own word that there is no such object. A status alone would be a wrong address's word, too."""

    status: Status = 404
    code: str
    facts: dict[str, str | None]


class Read(Part):
    path: str
    facts: dict[str, FactPart]
    missing: Missing | None = None

    @field_validator("path")
    @classmethod
    def _path(cls, path: str) -> str:
        return _is_path(path, {"subject"})

    @field_validator("facts", mode="before")
    @classmethod
    def _short(cls, facts: Any) -> Any:
        """`status = "status"` is short for `status = { from = "status" }`."""
        if not isinstance(facts, Mapping):
            return facts
        return {name: {"from": told} if isinstance(told, str) else told for name, told in facts.items()}


class Perform(Part):
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    path: str
    body: dict[str, Any] | None = None  #: without one, the request as the plan has it
    external_id: FieldPath | None = None
    expect: dict[FieldPath, str | bool | int] = {}  #: what a 2xx answer says when it is about this very request

    @field_validator("path")
    @classmethod
    def _path(cls, path: str) -> str:
        return _is_path(path, {"subject", "key"})

    @model_validator(mode="after")
    def _places(self) -> Perform:
        for name in _places_in([self.body, list(self.expect.values())]):
            if name not in ("subject", "key") and not name.startswith("request."):
                raise ValueError(f"{{{name}}} is none of {{subject}}, {{key}} and {{request.…}}")
        return self


class Absent(Part):
    status: Status = 404
    code: str


class Lookup(Part):
    path: str
    external_id: FieldPath | None = None
    expect: dict[FieldPath, str | bool | int] = Field(min_length=1)
    detail: dict[str, FieldPath] = {}  #: what else of the answer is kept with the call, where it is there
    absent: Absent

    @field_validator("path")
    @classmethod
    def _path(cls, path: str) -> str:
        return _is_path(path, {"key"})

    @field_validator("expect")
    @classmethod
    def _only_keys(cls, expect: dict[str, Any]) -> dict[str, Any]:
        for name in _places_in(list(expect.values())):
            if name != "key":
                raise ValueError(f"{{{name}}} is not {{key}}, all that a look-up knows")
        return expect


class Rule(Part):
    """What an answer to a write means; the first that fits is taken, before the rules of `integrations.answers`."""

    status: Status
    code: str | None = None
    names_wait: bool | None = None  #: only with (or without) a Retry-After
    means: Literal["refused", "not_applied", "unknown"]
    kind: Literal["invalid_data", "not_permitted", "permanent"] = "permanent"
    say: str = ""  #: our own code for it

    @property
    def fault(self) -> FaultKind:
        return FaultKind(self.kind)


class RestConfig(Part):
    base_url: str = Field(pattern=r"^https?://[^/?#]+(/[^?#]*)?$")
    owner: OwnerPart
    auth: Auth | None = None
    keys: Keys | None = None
    confirms_by: Literal["read", "receipt"] = "read"
    settles_after: Seconds = 70
    read_within: Seconds = 3
    perform_within: Seconds = 5
    error_code: FieldPath = "code"
    read: dict[str, Read] = {}
    perform: dict[str, Perform] = {}
    lookup: Lookup | None = None
    outcomes: list[Rule] = []

    @model_validator(mode="after")
    def _fits(self) -> RestConfig:
        if not self.read and not self.perform:
            raise ValueError("the system is neither read nor asked to do anything")
        if self.keys and self.keys.life <= self.settles_after:
            raise ValueError("keys.life ends before settles_after: a key would be dead before the doubt is over")
        return self


def read_file(path: str) -> dict[str, Any]:
    """The tables of a file, by system. Raises BadConfiguration where it is neither TOML nor JSON, or cannot be read."""
    try:
        text = Path(path).read_text("utf-8")
        tables = json.loads(text) if path.endswith(".json") else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise BadConfiguration(path, "the file", str(error)) from error
    for name, table in tables.items() if isinstance(tables, dict) else [("the file", None)]:
        if not isinstance(table, dict):
            raise BadConfiguration(path, name, "a table with what is said of one system is needed")
    return dict(tables)


def config_of(table: Mapping[str, Any], *, file: str, system: str) -> RestConfig:
    """Raises BadConfiguration for the first mistake."""
    try:
        return RestConfig.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join([system, *(str(step) for step in first["loc"])])
        raise BadConfiguration(file, place, first["msg"]) from error


def _is_path(path: str, allowed: set[str]) -> str:
    if not path.startswith("/") or "?" in path or "#" in path or ".." in path:
        raise ValueError("a path begins with / and holds neither ?, # nor ..")
    for part in path[1:].split("/"):
        if "{" in part and not PLACE.fullmatch(part):
            raise ValueError(f"{part} is not one place such as {{subject}} by itself")
    for name in PLACE.findall(path):
        if name not in allowed:
            raise ValueError(f"{{{name}}} is none of {', '.join(sorted(f'{{{one}}}' for one in allowed))}")
    return path


def _places_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from PLACE.findall(value)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _places_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from _places_in(one)
