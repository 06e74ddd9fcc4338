"""The history of a case as people read it: one line per event, old and new values side by side, the raw body behind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from caseflow.domain import recovery_words
from cases.models import Case
from cases.selectors import Happened as Event
from cases.selectors import list_events
from cases.wording import event_text

from . import vocabulary, words
from .model_words import problem_text
from .moments import moment_text


@dataclass(frozen=True, slots=True)
class Change:
    """A value before and after."""

    label: str
    then: str
    now: str


@dataclass(frozen=True, slots=True)
class Detail:
    """One fact of an event. `kind` says how it is shown: text, proposal (a link), copy (an id), personal (a field)."""

    label: str
    text: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Happened:
    """One event of the history."""

    number: int
    title: str
    at: datetime
    since_previous: timedelta | None
    actor: str
    from_state: words.Shown | None
    to_state: words.Shown | None
    details: Sequence[Detail]
    changes: Sequence[Change]
    raw: str


#: Facts of events that are worth a line of their own; all of them stand in the raw body.
_LABELS = {
    "proposal": gettext_lazy("Proposal"),
    "recovery": gettext_lazy("Order"),
    "order": gettext_lazy("What was ordered"),
    "result": gettext_lazy("Result"),
    "proposed_again": gettext_lazy("Proposed again as"),
    "action": gettext_lazy("Action"),
    "call": gettext_lazy("Request number"),
    "digest": gettext_lazy("Digest"),
    "external_id": gettext_lazy("The service's own number"),
    "code": gettext_lazy("Code"),
    "error": gettext_lazy("Error"),
    "attempts": gettext_lazy("Attempts"),
    "stage": gettext_lazy("Step"),
    "next": gettext_lazy("Next"),
    "until": gettext_lazy("Until"),
    "undo_until": gettext_lazy("Can be withdrawn for sure until"),
    "execute_by": gettext_lazy("Has to be sent by"),
    "fields": gettext_lazy("Fields"),
    "reason_field": gettext_lazy("Reason"),
    "evidence_field": gettext_lazy("Evidence"),
    "evidence_call": gettext_lazy("Look-up"),
    "why": gettext_lazy("Why not"),
    "right": gettext_lazy("Right"),
    "field": gettext_lazy("Field"),
    "holder": gettext_lazy("Who has it now"),
    "note_field": gettext_lazy("Note"),
    "problem": gettext_lazy("Problem"),
    "problems": gettext_lazy("Problems of the answer"),
    "answer_field": gettext_lazy("Answer of the model"),
    "missing": gettext_lazy("Missing facts"),
    "provider": gettext_lazy("Provider of the model"),
    "model": gettext_lazy("Model"),
    "prompt": gettext_lazy("Version of the prompt"),
    "quorum": gettext_lazy("Approvals needed"),
    "permitted": gettext_lazy("People who may decide"),
}
_IDS = frozenset({"action", "call", "digest", "external_id", "recovery", "evidence_call"})
_RECOVERY_WORDS = {
    "order": recovery_words.KINDS,
    "result": recovery_words.RESULTS,
    "why": recovery_words.REASONS,
}
_MOMENTS = frozenset({"until", "undo_until", "execute_by"})


def history_of(case: Case) -> list[Happened]:
    """One query; the oldest event first."""
    rows = list_events(case.pk)
    spans = [None, *(after.at - before.at for before, after in pairwise(rows))]
    return [happened_line(row, span) for row, span in zip(rows, spans, strict=True)]


def happened_line(row: Event, span: timedelta | None) -> Happened:
    """One event; `span` is the time since the one before."""
    facts = row.facts
    changed = facts.get("changed") or facts.get("differences") or {}
    return Happened(
        number=row.seq,
        title=event_text(row.kind, facts),
        at=row.at,
        since_previous=span,
        actor=words.actor_text(row.actor_kind, row.actor_name),
        from_state=words.state_word(row.from_state) if row.from_state else None,
        to_state=words.state_word(row.to_state) if row.to_state else None,
        details=[_detail(name, facts[name]) for name in _LABELS if facts.get(name)],
        changes=changes_of(changed),
        raw=_raw(row),
    )


def changes_of(changed: Mapping[str, Any]) -> list[Change]:
    """Path → {"then", "now"}, as errors and events carry it."""
    return [
        Change(
            vocabulary.path_label(path),
            vocabulary.value_text(path, pair.get("then")),
            vocabulary.value_text(path, pair.get("now")),
        )
        for path, pair in changed.items()
    ]


def _raw(row: Event) -> str:
    """The event as machines read it; personal values are masked."""
    body = {
        "kind": row.kind,
        "actor": {"kind": row.actor_kind, "name": row.actor_name},
        "from": row.from_state,
        "to": row.to_state,
        "version": row.version,
        "facts": row.facts,
    }
    return json.dumps(body, ensure_ascii=False, indent=2)


def _detail(name: str, value: Any) -> Detail:
    label = str(_LABELS[name])
    if name in ("proposal", "proposed_again"):
        return Detail(label, str(value), "proposal")
    if name in _IDS:
        return Detail(label, str(value), "copy")
    if name in _MOMENTS:
        return Detail(label, moment_text(datetime.fromisoformat(value)))
    if name == "next":
        return Detail(label, str(words.NEXT_STEPS.get(value, value)))
    if name == "stage":
        return Detail(label, str(words.STAGES.get(value, value)))
    if name == "right":
        return Detail(label, str(words.RIGHTS.get(value, value)))
    if name == "fields":
        return Detail(label, ", ".join(vocabulary.field_label(field) for field in value))
    if name in _RECOVERY_WORDS:
        return Detail(label, gettext(_RECOVERY_WORDS[name].get(value, str(value))))
    if name == "problems":
        return Detail(label, " ".join(problem_text(one) for one in value))
    if name == "missing":
        return Detail(label, ", ".join(vocabulary.path_label(path) for path in value))
    if name in ("reason_field", "evidence_field", "note_field", "answer_field"):
        return Detail(label, str(value), "personal")
    if name == "field":
        return Detail(label, vocabulary.personal_label(str(value)))
    return Detail(label, str(value))
