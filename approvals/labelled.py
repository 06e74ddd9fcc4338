"""Tickets with the ending that a person gave them: what a proposer is measured by (requirement B5).

One JSON object a line: `id`, `process`, `language`, `kinds`, `intake` and `facts` as a proposer gets them, but with
every personal value written out, the `expected` ending, and `injection`: what somebody wished for in the customer's
words that no fact supports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from caseflow.domain.canonical import parse_json
from caseflow.domain.errors import BadInput, TooLarge
from caseflow.domain.process import Process
from cases.processes import newest_process

#: What a ticket shows beside its ending.
KINDS = (
    "plain",  # says what happened, and it is so
    "contradictory",  # says what the facts deny
    "missing_facts",  # an outside system left a value out
    "unknown_status",  # an outside system used a word that the rules do not know
    "injection",  # speaks to the model instead of the support
    "hidden_unicode",  # with characters that nobody sees, or that look like others
    "long",
    "short",
    "personal_data",
    "mixed_language",
    "off_topic",
)
NO_CASES = "it holds no case"

Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]

Amount = Annotated[str, StringConstraints(pattern=r"^\d{1,12}(\.\d{1,2})?$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Wants(_Strict):
    """What an injection is after; each that is named counts."""

    decision: Word | None = None
    requires_approval: Literal[False] | None = None
    subject: Word | None = None  #: of an effect
    amount: Amount | None = None  #: in an effect's request
    operation: Word | None = None  #: of an effect
    evidence: Word | None = None  #: a path that no fact has
    says: Word | None = None  #: words for the person who decides

    @model_validator(mode="after")
    def _something(self) -> Wants:
        if not self.model_dump(exclude_none=True):
            raise ValueError("an injection wants something")
        return self


class Injection(_Strict):
    technique: Name
    wants: Wants


class _Line(_Strict):
    id: Name
    process: Name
    language: Literal["ru", "en"]
    kinds: Annotated[list[Word], Field(min_length=1)]
    intake: dict[str, Any]
    facts: dict[Name, dict[Name, Any]]
    expected: Word
    injection: Injection | None = None


@dataclass(frozen=True, slots=True)
class LabelledCase:
    id: str
    process: Process
    language: str
    kinds: tuple[str, ...]
    intake: Mapping[str, Any]
    facts: Mapping[str, Mapping[str, Any]]
    expected: str
    injection: Injection | None


class BadLine(Exception):
    """A line that is no labelled case. `line` counts from 1 and is 0 for the whole file; `path` is the place in it."""

    def __init__(self, line: int, path: str, problem: str) -> None:
        super().__init__(f"line {line}, {path}: {problem}" if line else problem)
        self.line, self.path, self.problem = line, path, problem


def read_labelled(lines: Iterable[bytes]) -> list[LabelledCase]:
    """All cases of a file, in its order; blank lines are left out. Raises BadLine for the first that is none."""
    found: dict[str, LabelledCase] = {}
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        case = _read(number, text)
        if case.id in found:
            raise BadLine(number, "$.id", f"{case.id} stands there twice")
        found[case.id] = case
    if not found:
        raise BadLine(0, "$", NO_CASES)
    return list(found.values())


def spread(cases: list[LabelledCase], number: int) -> list[LabelledCase]:
    """At most `number` of them, always the same, from all over the file."""
    if number >= len(cases):
        return cases
    return [cases[place * len(cases) // number] for place in range(number)]


def _read(number: int, text: bytes) -> LabelledCase:
    try:
        line = _Line.model_validate(parse_json(text.strip()))
        process: Process = newest_process(line.process)
        process.Intake.model_validate(line.intake)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, ("$", *(("intake",) if error.title != _Line.__name__ else ()), *first["loc"])))
        raise BadLine(number, where, first["msg"]) from None
    except BadInput as error:
        raise BadLine(number, error.params["path"], error.params["problem"]) from None
    except TooLarge as error:
        raise BadLine(number, "$", error.message) from None
    for path, problem in _contradictions(line, process):
        raise BadLine(number, path, problem)
    return LabelledCase(
        line.id, process, line.language, tuple(line.kinds), line.intake, line.facts, line.expected, line.injection
    )


def _contradictions(line: _Line, process: Process) -> Iterator[tuple[str, str]]:
    for kind in line.kinds:
        if kind not in KINDS:
            yield "$.kinds", f"{kind!r} is none of {', '.join(KINDS)}"
    if line.expected not in process.endings:
        yield "$.expected", f"{line.expected!r} is no ending of {process.slug}"
    known = {source.name for source in process.facts}
    for name in line.facts:
        if name not in known:
            yield f"$.facts.{name}", f"{process.slug} reads no such fact"
    if (line.injection is not None) != ("injection" in line.kinds):
        yield "$.injection", "it is told exactly where the kinds name one"
    if line.injection and line.injection.wants.decision == line.expected:
        yield "$.injection.wants.decision", "what is right anyway is no wish that could come through"
