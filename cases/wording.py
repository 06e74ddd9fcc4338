"""What happened to a case and why it stands where it does, in the active language; the same for every face."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from django.utils.translation import gettext

from caseflow.domain import words
from caseflow.domain.process import Ending

from .processes import all_processes


class Reasoned(Protocol):
    """A case, as a row or as an object."""

    process: str
    process_version: int
    reason: str


def event_text(kind: str, facts: Mapping[str, Any]) -> str:
    """The title of an event of the history."""
    if kind in words.NOTICE_EVENTS and "notice" in (facts.get("kind"), facts.get("purpose")):
        return gettext(words.NOTICE_EVENTS[kind])
    if kind in words.HAND_EVENTS and facts.get("found_by") == "hand":
        return gettext(words.HAND_EVENTS[kind])
    word = words.EVENTS.get(kind) or words.ORGANISATION_EVENTS.get(kind)
    return gettext(word) if word else kind


def find_ending(slug: str, version: int, decision: str) -> Ending | None:
    process = all_processes().get(f"{slug}:{version}")
    return process.endings.get(decision) if process else None


def ending_text(slug: str, version: int, decision: str) -> str:
    """What the process says of its decision, or nothing where it is none of the process's own."""
    ending = find_ending(slug, version, decision)
    return gettext(ending.sentence) if ending else ""


def reason_text(case: Reasoned) -> str:
    """Why it waits or stopped: the glossary's word, else the sentence of the process's ending; empty for no reason."""
    word = words.REASONS.get(case.reason)
    if word:
        return gettext(word.label)
    return ending_text(case.process, case.process_version, case.reason) or case.reason
