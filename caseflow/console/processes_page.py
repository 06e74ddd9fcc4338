"""Processes: what each is, how many of its cases stand where, and its picture drawn from the code's own table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from accounts import access
from accounts.models import Organisation, Person
from caseflow.domain import words as glossary
from caseflow.domain.drawing import EVERYWHERE, arrows_of
from caseflow.domain.errors import NotFound
from caseflow.domain.lifecycle import OPEN, Guard, State, Transition, When
from caseflow.domain.process import EndingKind, Process
from caseflow.domain.roles import Right
from cases.attention import StoppedFilter, count_by_former_state
from cases.processes import all_processes
from cases.standing import Standing, count_by_process, count_by_state

from . import vocabulary, words
from .addresses import Choice, address_of, choice, plain
from .diagram import LARGE, Arrow, Box, Picture, draw
from .moments import ago_text

GUARDS: dict[Guard, Promise] = {
    Guard.PLAN_NOT_BEGUN: gettext_lazy("no request of the plan has begun"),
    Guard.PLAN_BEGUN: gettext_lazy("a request of the plan has begun"),
    Guard.NO_EFFECTS_OPEN: gettext_lazy("no change is in doubt"),
    Guard.NO_EFFECTS_DONE: gettext_lazy("no change was made"),
}
ENDING_KINDS: dict[EndingKind, Promise] = {
    EndingKind.ACT: gettext_lazy("proposes a change"),
    EndingKind.CLOSE: gettext_lazy("closes the case"),
    EndingKind.ASK_DATA: gettext_lazy("asks for data"),
    EndingKind.WAIT: gettext_lazy("waits and reads again"),
    EndingKind.PERSON: gettext_lazy("asks for a person"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One process in the list."""

    slug: str
    title: str
    versions: Sequence[int]
    open: int
    closed: int
    attention: int
    oldest: datetime | None  #: of the open ones, since when the first is in its state


@dataclass(frozen=True, slots=True)
class Stand:
    """One state of one process with its numbers; `stopped` are cases that need attention now and stopped here."""

    state: words.Shown
    number: int
    oldest: datetime | None
    oldest_case: str
    stopped: int
    cases_address: str
    stopped_address: str


@dataclass(frozen=True, slots=True)
class Node:
    """A state in the picture: its box, its numbers as lines of text, and what a screen reader says of them."""

    box: Box
    stand: Stand
    counted: str
    stopped: str
    says: str


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow in the picture, with what it tells under the pointer."""

    line: str
    head: str
    tone: str
    says: str


@dataclass(frozen=True, slots=True)
class Move:
    """One row of the table in words."""

    source: str
    event: str
    target: str
    starts: Sequence[str]
    guards: Sequence[str]
    outcome: str


@dataclass(frozen=True, slots=True)
class Ending:
    """One decision of the process."""

    name: str
    kind: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ProcessPage:
    process: Process
    title: str
    versions: Sequence[int]
    picture: Picture
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    stands: Sequence[Stand]
    moves: Sequence[Move]
    endings: Sequence[Ending]
    facts: Sequence[tuple[str, str]]
    choices: Sequence[Choice]
    organisation: str
    organisations: Sequence[Organisation]

    @property
    def total(self) -> int:
        return sum(stand.number for stand in self.stands)


def list_processes(person: Person, organisation: str) -> list[Row]:
    """One query. Also a process that is installed no more but has cases stands here."""
    counted = count_by_process(person, organisation=organisation)
    slugs = {process.slug for process in all_processes().values()} | set(counted)
    return [_row(slug, counted.get(slug, {})) for slug in sorted(slugs)]


def gather(person: Person, slug: str, query: QueryDict) -> ProcessPage:
    """Four queries, however many cases there are. Raises NotFound for a process that is not installed."""
    process = newest(slug)
    organisations = list(access.organisations_with(person, Right.SEE_CASES).order_by("name"))
    organisation = plain(query, "organisation", 50)
    counted = count_by_state(person, process=slug, organisation=organisation)
    stopped = count_by_former_state(person, StoppedFilter(organisation=organisation, process=slug))
    stands = {state: _stand(state, slug, organisation, counted, stopped) for state in State}
    arrows = arrows_of(process.table)
    picture = draw(arrows, LARGE)
    return ProcessPage(
        process=process,
        title=gettext(process.title),
        versions=sorted(_versions(slug)),
        picture=picture,
        nodes=[_node(box, stands[box.state]) for box in picture.boxes],
        edges=[
            Edge(arrow.line, arrow.head, _tone(arrow.target, arrows[arrow.source, arrow.target]), _says(arrow, arrows))
            for arrow in picture.arrows
        ],
        stands=list(stands.values()),
        moves=[_move(row) for row in process.table],
        endings=[
            Ending(name, str(ENDING_KINDS[ending.kind]), gettext(ending.sentence))
            for name, ending in process.endings.items()
        ],
        facts=[(vocabulary.fact_label(one.name), vocabulary.system_label(one.system)) for one in process.facts],
        choices=choices_of(organisations, organisation),
        organisation=organisation,
        organisations=organisations,
    )


def newest(slug: str) -> Process:
    """The newest installed version. Raises NotFound."""
    versions = _versions(slug)
    if not versions:
        raise NotFound
    return versions[max(versions)]


def choices_of(organisations: Sequence[Organisation], chosen: str) -> list[Choice]:
    """The organisation, for who sees several."""
    if len(organisations) < 2:
        return []
    names = {organisation.slug: organisation.name for organisation in organisations}
    return [choice("organisation", gettext("Organisation"), names, chosen)]


def _versions(slug: str) -> dict[int, Process]:
    return {process.version: process for process in all_processes().values() if process.slug == slug}


def _row(slug: str, counted: Mapping[str, Standing]) -> Row:
    opened = [standing for state, standing in counted.items() if state in OPEN]
    attention = counted.get(State.NEEDS_ATTENTION)
    return Row(
        slug=slug,
        title=words.newest_title(slug),
        versions=sorted(_versions(slug)),
        open=sum(standing.number for standing in opened),
        closed=sum(standing.number for state, standing in counted.items() if state not in OPEN),
        attention=attention.number if attention else 0,
        oldest=min((standing.oldest for standing in opened), default=None),
    )


def _stand(
    state: State, slug: str, organisation: str, counted: Mapping[str, Standing], stopped: Mapping[str, int]
) -> Stand:
    found = counted.get(state)
    chosen = {"process": slug, "organisation": organisation}
    return Stand(
        state=words.state_word(state.value),
        number=found.number if found else 0,
        oldest=found.oldest if found else None,
        oldest_case=found.oldest_case if found else "",
        stopped=stopped.get(state, 0),
        cases_address=reverse("console:cases") + address_of(chosen, state=state.value),
        stopped_address=reverse("console:attention") + address_of(chosen, stopped_in=state.value),
    )


def _node(box: Box, stand: Stand) -> Node:
    counted, says = str(stand.number), f"{stand.state.label}: {stand.number}"
    if stand.oldest and box.state in OPEN:
        age = ago_text(stand.oldest)
        counted += f" · {age}"
        says += ", " + gettext("the oldest %(age)s") % {"age": age}
    stopped = gettext("stopped here: %(number)s") % {"number": stand.stopped} if stand.stopped else ""
    return Node(box, stand, counted, stopped, says)


def _tone(target: State, events: Sequence[str]) -> str:
    if EVERYWHERE.issuperset(events):
        return "rare"
    return {State.NEEDS_ATTENTION: "alert", State.COMPLETED: "done"}.get(target, "plain")


def _says(arrow: Arrow, arrows: Mapping[tuple[State, State], Sequence[str]]) -> str:
    source, target = arrow.source, arrow.target
    events = "; ".join(event_word(event) for event in arrows[source, target])
    return f"{words.state_word(source).label} → {words.state_word(target).label}: {events}"


def event_word(event: str) -> str:
    """What an event of the table is called in a history."""
    kind = f"case.{event}"
    return gettext(glossary.EVENTS[kind]) if kind in glossary.EVENTS else event


def _move(row: Transition) -> Move:
    starts = [(str(words.STAGES.get(start.stage, start.stage)), start.when) for start in row.starts]
    return Move(
        source=words.state_word(row.source).label,
        event=event_word(row.event),
        target=words.state_word(row.target).label,
        starts=[
            name if when is When.NOW else gettext("%(step)s (at its time)") % {"step": name} for name, when in starts
        ],
        guards=[str(GUARDS[guard]) for guard in sorted(row.guards)],
        outcome=gettext(glossary.OUTCOMES[row.outcome].label) if row.outcome else "",
    )
