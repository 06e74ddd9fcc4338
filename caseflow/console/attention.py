"""The page of what has stopped: by reason, with what was tried, whose turn it is, and the one recommended step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext

from accounts import access
from accounts.models import Organisation, Person
from caseflow.domain import advice as advices
from caseflow.domain.advice import Step, Turn, advice_for
from caseflow.domain.lifecycle import OPEN, State
from caseflow.domain.roles import Right
from cases.attention import StoppedFilter, count_by_reason, how_stopped, list_oldest_of_each, list_stopped
from cases.models import Case
from cases.processes import all_processes
from cases.selectors import Happened

from . import vocabulary, words
from .addresses import Chip, Choice, address_of, chips_of, choice, one_of, plain

EXAMPLES = 3  #: cases of each reason that stand on the page
FROM = sorted(state.value for state in OPEN - {State.NEEDS_ATTENTION})
TURN_ICONS = {
    Turn.WAIT: "clock",
    Turn.FIX_INPUT: "change",
    Turn.ASK_OWNER: "mail",
    Turn.STOP: "person",
    Turn.DEVELOPERS: "gear",
    Turn.ADMINISTRATOR: "person",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What was chosen; `stopped_in` is the state the cases were in before they stopped."""

    reason: str = ""
    turn: str = ""
    process: str = ""
    organisation: str = ""
    stopped_in: str = ""

    @classmethod
    def of(cls, query: QueryDict) -> Filters:
        return cls(
            reason=plain(query, "reason", 64),
            turn=one_of(query, "turn", list(Turn)),
            process=plain(query, "process", 64),
            organisation=plain(query, "organisation", 50),
            stopped_in=one_of(query, "stopped_in", FROM),
        )

    @property
    def narrowing(self) -> StoppedFilter:
        return StoppedFilter(self.organisation, self.process, self.reason, self.stopped_in)


@dataclass(frozen=True, slots=True)
class Example:
    """One stopped case: what exactly was tried, who owns the system that failed, and its own next step."""

    case: Case
    since: datetime
    tried: str
    action: str
    system: str
    owner: Mapping[str, str]
    step: str
    address: str
    may: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Cases that stopped for one reason."""

    reason: words.Shown
    number: int
    oldest: datetime
    turn: words.Shown
    tried: str
    step: str
    cases_address: str
    examples: Sequence[Example]

    @property
    def may_order(self) -> bool:
        """Something for all of them at once, under the list of cases."""
        return any(example.may for example in self.examples)


@dataclass(frozen=True, slots=True)
class AttentionPage:
    filters: Filters
    groups: Sequence[Group]
    total: int
    chips: Sequence[Chip]
    choices: Sequence[Choice]
    organisations: Sequence[Organisation]

    @property
    def address(self) -> str:
        return address_of(asdict(self.filters))


def gather(person: Person, query: QueryDict) -> AttentionPage:
    """Five queries, whatever stopped."""
    filters = Filters.of(query)
    organisations = list(access.organisations_with(person, Right.SEE_CASES).order_by("name"))
    found = [one for one in count_by_reason(person, filters.narrowing) if _fits(one.reason, filters.turn)]
    cases = list_oldest_of_each(person, filters.narrowing, each=EXAMPLES) if found else []
    events = how_stopped(cases) if cases else {}
    permitted = set(access.organisations_with(person, Right.RECOVER).values_list("pk", flat=True)) if found else set()
    examples: dict[str, list[Example]] = {}
    for case in cases:
        examples.setdefault(case.reason, []).append(_example(case, events.get(case.pk), permitted))
    return AttentionPage(
        filters=filters,
        groups=[_group(one.reason, one.number, one.oldest, examples.get(one.reason, []), filters) for one in found],
        total=sum(one.number for one in found),
        chips=chips_of(asdict(filters), _labels(filters, organisations)),
        choices=_choices(filters, organisations),
        organisations=organisations,
    )


def rows_of(person: Person, filters: Filters) -> QuerySet[Case]:
    """Every case that the page counts, reason by reason, the longest waiting first. One query now, one when read."""
    reasons = [one.reason for one in count_by_reason(person, filters.narrowing) if _fits(one.reason, filters.turn)]
    return list_stopped(person, filters.narrowing).filter(reason__in=reasons).order_by("reason", "state_since", "pk")


def turn_word(turn: Turn) -> words.Shown:
    word = advices.TURNS[turn]
    return words.Shown(turn.value, gettext(word.label), gettext(word.help), TURN_ICONS[turn], "wait")


def step_text(step: Step) -> str:
    return gettext(advices.STEPS[step])


def _fits(reason: str, turn: str) -> bool:
    return not turn or advice_for(reason).turn == turn


def _group(reason: str, number: int, oldest: datetime, examples: Sequence[Example], filters: Filters) -> Group:
    advice = advice_for(reason)
    chosen = {"state": State.NEEDS_ATTENTION.value, "reason": reason}
    chosen |= {"process": filters.process, "organisation": filters.organisation}
    return Group(
        reason=words.reason_word(reason),
        number=number,
        oldest=oldest,
        turn=turn_word(advice.turn),
        tried=gettext(advice.tried),
        step=step_text(advice.step),
        cases_address=reverse("console:cases") + address_of(chosen),
        examples=examples,
    )


def _example(case: Case, event: Happened | None, permitted: set[int]) -> Example:
    facts = event.facts if event else {}
    return Example(
        case=case,
        since=case.state_since,
        tried=_tried(facts),
        action=str(facts.get("action", "")),
        system=vocabulary.system_label(str(facts["system"])) if facts.get("system") else "",
        owner=facts.get("owner") or {},
        step=step_text(advice_for(case.reason, effects_open=case.effects_open).step),
        address=reverse("console:case", args=[case.public_id]) + "#recovery",
        may=case.organisation_id in permitted,
    )


def _tried(facts: Mapping[str, Any]) -> str:
    """The step, how often it was tried and the last answer, as far as the event that stopped the case tells."""
    parts = []
    if facts.get("stage"):
        parts.append(str(words.STAGES.get(facts["stage"], facts["stage"])))
    elif facts.get("operation"):
        parts.append(vocabulary.operation_label(str(facts.get("system", "")), str(facts["operation"])))
    if facts.get("attempts"):
        parts.append(gettext("attempts: %(number)s") % {"number": facts["attempts"]})
    code = facts.get("error") or facts.get("code")
    if code:
        parts.append(gettext("the last answer: %(code)s") % {"code": code})
    return " · ".join(parts)


def _labels(filters: Filters, organisations: Sequence[Organisation]) -> dict[str, str]:
    names = {organisation.slug: organisation.name for organisation in organisations}
    return {
        "reason": words.reason_word(filters.reason).label if filters.reason else "",
        "turn": turn_word(Turn(filters.turn)).label if filters.turn else "",
        "process": words.newest_title(filters.process),
        "organisation": names.get(filters.organisation, filters.organisation),
        "stopped_in": _stopped_in(filters.stopped_in) if filters.stopped_in else "",
    }


def _stopped_in(state: str) -> str:
    return gettext("stopped in the state “%(state)s”") % {"state": words.state_word(state).label}


def _choices(filters: Filters, organisations: Sequence[Organisation]) -> list[Choice]:
    slugs = sorted({process.slug for process in all_processes().values()})
    found = [
        choice("turn", gettext("Whose turn it is"), {turn: turn_word(turn).label for turn in Turn}, filters.turn),
        choice("process", gettext("Process"), {slug: words.newest_title(slug) for slug in slugs}, filters.process),
        choice(
            "stopped_in",
            gettext("State before it stopped"),
            {state: words.state_word(state).label for state in FROM},
            filters.stopped_in,
        ),
    ]
    if len(organisations) > 1:
        names = {organisation.slug: organisation.name for organisation in organisations}
        found.append(choice("organisation", gettext("Organisation"), names, filters.organisation))
    return found
