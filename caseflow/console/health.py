"""What is wrong with the machinery, in words, the most severe first, each with the command that helps (console.md 18).

The numbers are of the organisations in sight; who works and who does not is of the platform and names no organisation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from accounts.models import Person
from accounts.reach import Reach, reach_of
from caseflow.domain.errors import NotPermitted
from caseflow.domain.roles import PLATFORM as PLATFORM_OPERATOR
from caseflow.domain.roles import Right
from operations.indicators.health import QueueHealth, measure_health
from operations.indicators.scope import PLATFORM, Scope

from .moments import ago_text
from .tables import number_text

ALERT, WAIT, DONE = "alert", "wait", "done"  #: tones: nothing moves, something is slow, all is well


@dataclass(frozen=True, slots=True)
class Watch:
    """What a person may know of the machinery: counts of which organisations, and whether the page of operations."""

    seen: Scope
    operated: Scope

    @property
    def may_operate(self) -> bool:
        return self.operated.organisations != ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong. `late` says that cases wait because of it, so that it belongs on every page."""

    tone: str
    sentence: str
    commands: Sequence[str]
    late: bool = False


@dataclass(frozen=True, slots=True)
class Health:
    """The dot in the top bar, and the one banner under it."""

    tone: str
    label: str
    banner: Trouble | None
    may_operate: bool

    @property
    def icon(self) -> str:
        return {ALERT: "cross", WAIT: "clock"}.get(self.tone, "check")


def watch_of(reach: Reach) -> Watch:
    """No query."""
    if PLATFORM_OPERATOR in reach.anywhere:
        return Watch(PLATFORM, PLATFORM)
    seen = reach.where(Right.SEE_CASES)
    return Watch(Scope(seen), Scope(tuple(pk for pk in reach.where(Right.RECOVER) if pk in seen)))


def require_operator(person: Person) -> Watch:
    """Who may look after the machinery: a platform operator, and who recovers somewhere; one query. Raises
    NotPermitted."""
    watch = watch_of(reach_of(person))
    if not watch.may_operate:
        raise NotPermitted(right=Right.RECOVER.value)
    return watch


def health_for(reach: Reach) -> Health:
    """One query, on every page."""
    watch = watch_of(reach)
    found = measure_health(watch.seen)
    troubles = list(troubles_of(found))
    banner = next((trouble for trouble in troubles if trouble.late), None)
    tone = troubles[0].tone if troubles else DONE
    labels = {ALERT: gettext("Not working"), WAIT: gettext("Slow"), DONE: gettext("Working")}
    return Health(tone, labels[tone], banner, watch.may_operate)


def troubles_of(queues: Iterable[QueueHealth]) -> Iterator[Trouble]:
    """What the heartbeats and the age of the queues say, the most severe first; what makes work wait comes first."""
    yield from sorted(_found(list(queues)), key=lambda trouble: (trouble.tone != ALERT, not trouble.late))


def _found(queues: Sequence[QueueHealth]) -> Iterator[Trouble]:
    for one in queues:
        if not one.has_worker:
            sentence = gettext("No workers for the queue %(queue)s.") % {"queue": one.queue}
            commands = [f"manage.py run_workers --queues {one.queue}"]
            yield Trouble(ALERT, _with_waiting(sentence, one), commands, late=one.late > 0)
    if queues and not queues[0].has_dispatcher:
        late = max(queues, key=lambda one: one.late)
        sentence = gettext("No dispatcher lives: nobody rings for what is due.")
        yield Trouble(ALERT, _with_waiting(sentence, late), ["manage.py run_dispatcher"], late=late.late > 0)
    for one in queues:
        if one.has_worker and one.has_dispatcher and one.late:
            sentence = gettext("The queue %(queue)s is behind.") % {"queue": one.queue}
            commands = [f"manage.py run_workers --queues {one.queue}", "manage.py requeue_tasks"]
            yield Trouble(WAIT, _with_waiting(sentence, one), commands, late=True)


def _with_waiting(sentence: str, one: QueueHealth) -> str:
    if not one.late or one.oldest is None:
        return sentence
    waiting = ngettext(
        "%(number)s task has been waiting for %(age)s.",
        "%(number)s tasks have been waiting, the oldest for %(age)s.",
        one.late,
    )
    return f"{sentence} {waiting % {'number': number_text(one.late), 'age': ago_text(one.oldest)}}"
