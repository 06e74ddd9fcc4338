"""The help page: every word of the console from the one glossary, and what Caseflow promises and what it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from caseflow.domain import words as glossary
from caseflow.domain.advice import ADVICE, TURNS, Turn, advice_for
from integrations.contract import Owner
from integrations.registry import list_adapters

from . import vocabulary, words
from .attention import step_text, turn_word

GUARANTEES: Sequence[Promise] = (
    gettext_lazy("A ticket becomes one case, however often it is sent."),
    gettext_lazy("A decision counts for exactly what was seen: for anything else it is refused and nothing is sent."),
    gettext_lazy(
        "Facts are read again just before a request. If one that the decision rests on changed, nothing is sent."
    ),
    gettext_lazy(
        "Every change keeps one key for life. Without an answer it is not repeated before its result was checked."
    ),
    gettext_lazy("Nothing is called done before the service's own state was read back or its receipt came."),
    gettext_lazy("A decision can be withdrawn until its request begins."),
    gettext_lazy("A worker that dies loses no work, and a message that comes twice does nothing twice."),
    gettext_lazy("Each event of a history is bound to the one before it; nothing is changed or taken out later."),
    gettext_lazy(
        "You see the organisations in which you have a role. What is out of sight looks like what does not exist."
    ),
)
LIMITS: Sequence[Promise] = (
    gettext_lazy("Between the last reading of the facts and the change a moment remains in which they can change."),
    gettext_lazy(
        "Of a service without keys nobody can promise that a request was carried out once: after a lost answer nothing"
        " is repeated and a person decides."
    ),
    gettext_lazy("A message that the mail server accepted is not yet a message that was delivered or read."),
    gettext_lazy("What somebody changes in an outside system is noticed at the next comparison, not at once."),
    gettext_lazy("The history proves that every change is explained; it cannot prove that the explanation is honest."),
    gettext_lazy("Erased personal texts can be read from older backups until those are gone."),
)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a case stops, with whose turn it then is and the recommended step."""

    word: words.Shown
    turn: words.Shown
    step: str


@dataclass(frozen=True, slots=True)
class Meaning:
    """A word that has no icon of its own."""

    code: str
    label: str
    help: str


@dataclass(frozen=True, slots=True)
class HelpPage:
    states: Sequence[words.Shown]
    actions: Sequence[words.Shown]
    outcomes: Sequence[Meaning]
    turns: Sequence[words.Shown]
    reasons: Sequence[Reason]
    guarantees: Sequence[str]
    limits: Sequence[str]
    owners: Sequence[tuple[str, Owner]]


def gather() -> HelpPage:
    """No query: the words are the code's own."""
    return HelpPage(
        states=[words.state_word(code) for code in glossary.STATES],
        actions=[words.action_word(code) for code in glossary.ACTIONS],
        outcomes=[Meaning(code, gettext(word.label), gettext(word.help)) for code, word in glossary.OUTCOMES.items()],
        turns=[turn_word(Turn(turn)) for turn in TURNS],
        reasons=[_reason(code) for code in ADVICE],
        guarantees=[str(sentence) for sentence in GUARANTEES],
        limits=[str(sentence) for sentence in LIMITS],
        owners=[(vocabulary.system_label(name), adapter.owner) for name, adapter in list_adapters().items()],
    )


def _reason(code: str) -> Reason:
    advice = advice_for(code)
    return Reason(words.reason_word(code), turn_word(advice.turn), step_text(advice.step))
