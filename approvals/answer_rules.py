"""What code checks of a model's answer before it may become a proposal: form, decision, evidence, words (B2).

Each problem has a code and a name of ours; what the model is told of it may quote its own answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from caseflow.domain.canonical import parse_json
from caseflow.domain.errors import BadInput, TooLarge
from caseflow.domain.process import EndingKind, Facts, Process, Proposed, value_at
from caseflow.domain.words import gettext_noop as _

from .answers import Answer, Claimed, Problem
from .telling import Told

NEEDS_CHECK = "needs_another_check"
SCHEMA_VERSION = "answer-1"
MAX_ANSWER = 16 * 1024  #: bytes of the one JSON object

#: Code → the sentence for a support person; `about` stands beside it.
CODES: Mapping[str, str] = {
    "too_large": _("The answer was too long to be read."),
    "no_words": _("The answer held no words of the model."),
    "refused": _("The model refused to answer."),
    "cut_off": _("The answer ended before it was complete."),
    "not_json": _("The answer is not one JSON object."),
    "schema": _("A field of the answer is missing, unknown, or has a wrong form."),
    "decision_unknown": _("It proposes a decision that this process does not have."),
    "rule_differs": _("The business rule does not allow this decision with these facts."),
    "approval_switched_off": _("It tries to switch the approval off."),
    "no_evidence": _("It names no evidence for its decision."),
    "evidence_missing": _("It names a fact that nobody read."),
    "evidence_differs": _("It says of a fact what the fact does not say."),
    "unknown_subject": _("It names a subject that the case is not about."),
    "unknown_amount": _("Its words name a number that stands in no fact."),
    "nothing_is_missing": _("It asks for another check, but every fact that it names is there."),
}


class _Evidence(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    path: str = Field(min_length=1, max_length=120)
    value: str | int | float | bool | None


class _Words(BaseModel):
    """What a model says where the rules decide."""

    model_config = ConfigDict(extra="forbid", strict=True)

    evidence: list[_Evidence] = Field(max_length=20)
    explanation: str = Field(min_length=1, max_length=1500)


class _Decision(_Words):
    """What a model says where it proposes the decision."""

    decision: str = Field(max_length=64)
    missing: list[str] = Field(max_length=20)
    requires_approval: bool
    subject: str = Field(max_length=200)


_Shape = TypeVar("_Shape", bound=_Words)

SMALL = 10  #: whole numbers below it count things in a sentence
_NUMBER = re.compile(r"\d{1,3}(?:\s\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?")
_AMOUNT = re.compile(rf"({_NUMBER.pattern})\s?(?:[^\W\d_]{{1,4}}|[₽$€])?")
_TOKEN = re.compile(rf"(?<![\w-])(?:{_NUMBER.pattern})(?![\w-])|[\w-]*\d[\w-]*")


@dataclass(frozen=True, slots=True)
class Ground:
    """What an answer is held against."""

    process: Process
    facts: Facts
    intake: Mapping[str, Any]
    told: Told
    ruled: Proposed


def schema_of(process: Process, *, explains: bool) -> dict[str, Any]:
    """The JSON schema for servers that hold a model to one, with the decisions of this process by name."""
    evidence = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "enum": list(process.told_facts)},
            "value": {"type": ["string", "number", "boolean", "null"]},
        },
        "required": ["path", "value"],
        "additionalProperties": False,
    }
    properties: dict[str, Any] = {}
    if not explains:
        properties["decision"] = {"type": "string", "enum": [*process.endings, NEEDS_CHECK]}
    properties["evidence"] = {"type": "array", "items": evidence}
    if not explains:
        paths = {"type": "string", "enum": list(process.told_facts)}
        properties["missing"] = {"type": "array", "items": paths}
        properties["requires_approval"] = {"type": "boolean"}
        properties["subject"] = {"type": "string"}
    properties["explanation"] = {"type": "string"}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def said_decision(raw: str) -> str:
    """The decision in an answer as it came, "" where there is none to read: for comparing, never for acting."""
    try:
        found = _parsed(raw).get("decision")
    except (BadInput, TooLarge):
        return ""
    return found if isinstance(found, str) else ""


def check_decision(ground: Ground, text: str) -> Answer:
    """The answer of a model that decides: accepted, in need of facts, or with its problems."""
    said, problems = _read(_Decision, text)
    if said is None:
        return Answer(problems=problems)
    process, found = ground.process, list(_word_problems(ground, said))
    if said.decision == NEEDS_CHECK:
        found += _missing_problems(ground, said.missing)
        return Answer(problems=tuple(found)) if found else Answer(missing=tuple(said.missing))
    ending = process.endings.get(said.decision)
    if ending is None:
        told = f"decision {said.decision!r} is not one of: {', '.join([*process.endings, NEEDS_CHECK])}"
        found.append(Problem("decision_unknown", told=told))
    else:
        if said.missing:
            found.append(Problem("schema", "missing", f"missing is empty unless the decision is {NEEDS_CHECK}"))
        if said.decision != ground.ruled.decision:
            told = f"the business rule does not allow {said.decision!r} with these facts; go through the rules again"
            found.append(Problem("rule_differs", said.decision, told))
        if ending.kind is EndingKind.ACT and process.approval is not None and not said.requires_approval:
            found.append(Problem("approval_switched_off", told="requires_approval must be true"))
        if not said.evidence and ground.ruled.evidence:
            found.append(Problem("no_evidence", told="evidence must name the facts that the decision rests on"))
    if said.subject != process.subject(ground.intake):
        told = f"subject must be {process.subject(ground.intake)!r}: the case is about nothing else"
        found.append(Problem("unknown_subject", "subject", told))
    if found:
        return Answer(problems=tuple(found))
    evidence = _claimed(said)
    # Codes that anything is done by are the rule's own; of the model's answer only what was checked goes on.
    proposed = Proposed(
        decision=ground.ruled.decision,
        reason=ground.ruled.reason,
        evidence=tuple(dict.fromkeys(one.path for one in evidence)),
        requires_approval=said.requires_approval or ground.ruled.requires_approval,
    )
    return Answer(proposed=proposed, evidence=evidence, explanation=said.explanation)


def check_explanation(ground: Ground, text: str) -> Answer:
    """The answer of a model that explains: the rules' decision with its words, or its problems."""
    said, problems = _read(_Words, text)
    if said is None:
        return Answer(problems=problems)
    found = tuple(_word_problems(ground, said))
    if found:
        return Answer(problems=found)
    return Answer(proposed=ground.ruled, evidence=_claimed(said), explanation=said.explanation)


def _parsed(text: str) -> dict[str, Any]:
    """Exactly one JSON object, strictly: no fence around it, no second one after it, no duplicate key."""
    found = parse_json(text.encode("utf-8", "replace"), max_bytes=MAX_ANSWER)
    if not isinstance(found, dict):
        raise BadInput(code="not_json", path="$", problem="one JSON object is needed")
    return found


def _read(shape: type[_Shape], text: str) -> tuple[_Shape | None, tuple[Problem, ...]]:
    try:
        return shape.model_validate(_parsed(text)), ()
    except TooLarge:
        return None, (Problem("too_large", told=f"the answer must be shorter than {MAX_ANSWER} bytes"),)
    except BadInput as error:
        if error.code == "not_json":
            return None, (Problem("not_json", told="answer with exactly one JSON object, nothing before or after it"),)
        return None, (Problem("schema", told=f"{error.params['path']}: {error.params['problem']}"),)
    except ValidationError as error:
        # The first five are enough to mend an answer; a name that is not ours is not kept.
        return None, tuple(
            Problem("schema", _ours(shape, one["loc"]), f"{'.'.join(map(str, one['loc']))}: {one['msg']}")
            for one in error.errors(include_url=False, include_input=False)[:5]
        )


def _ours(shape: type[BaseModel], place: tuple[int | str, ...]) -> str:
    return str(place[0]) if place and place[0] in shape.model_fields else ""


def _word_problems(ground: Ground, said: _Words) -> Iterator[Problem]:
    for one in said.evidence:
        about = one.path if one.path in ground.told.facts else ""
        known = ground.told.facts.get(one.path)
        if known is None or value_at(ground.facts, one.path) is None:
            yield Problem("evidence_missing", about, f"evidence {one.path!r}: no such fact was told to you")
        elif type(known) is not type(one.value) or known != one.value:
            yield Problem("evidence_differs", about, f"evidence {one.path!r} is {known!r}, not {one.value!r}")
    yield from _number_problems(ground, said.explanation)


def _number_problems(ground: Ground, words: str) -> Iterator[Problem]:
    """Every number and every name with a number in it stands in what was told, so nothing new comes in by the words."""
    for placeholder in ground.told.placeholders:
        words = words.replace(placeholder, " ")
    told = [str(value) for values in (ground.told.facts, ground.told.intake) for value in values.values()]
    sentences = [ending.sentence for ending in ground.process.endings.values()]
    names = {one.casefold() for one in told}
    numbers = {_number(found) for text in (*told, *sentences) for found in _NUMBER.findall(text)}
    for name in names:
        words = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", " ", words, flags=re.IGNORECASE) if name else words
    for token in _TOKEN.findall(words):
        number = _number(token)
        if number is None:
            yield Problem("unknown_subject", told=f"explanation names {token!r}, which stands in no fact")
        elif number not in numbers and not (number == int(number) and number < SMALL):
            yield Problem("unknown_amount", told=f"explanation names {token!r}, which stands in no fact")


def _number(token: str) -> Decimal | None:
    """`1 490,00`, `990.00RUB`, `24` as a number; None for a name with a number in it."""
    found = _AMOUNT.fullmatch(token.strip(".,:;"))
    if found is None:
        return None
    return Decimal(re.sub(r"\s", "", found.group(1)).replace(",", "."))


def _missing_problems(ground: Ground, missing: Sequence[str]) -> list[Problem]:
    """Another check is due where the named facts are missing and the rules cannot decide without them either."""
    ending = ground.process.endings[ground.ruled.decision]
    absent = all(path in ground.told.facts and ground.told.facts[path] is None for path in missing)
    if missing and absent and ending.kind is EndingKind.PERSON:
        return []
    return [Problem("nothing_is_missing", told="the facts that are there are enough for one of the rules")]


def _claimed(said: _Words) -> tuple[Claimed, ...]:
    return tuple(Claimed(one.path, one.value) for one in said.evidence)
