"""The box about an unknown result: what is known, what is not, and what is safe, by the system's own contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext

from actions.models import IN_DOUBT, Action, ExternalCall
from cases.models import Task
from integrations.contract import Adapter
from integrations.registry import UnknownAdapter, get_adapter

from . import words
from .moments import moment_text


@dataclass(frozen=True, slots=True)
class Contract:
    """What the system promises, and what that means for one action."""

    adapter: Adapter
    key_ends: datetime | None  #: until then the key keeps a second request from making a second change
    lands_until: datetime | None  #: an unanswered request may still be carried out until then

    @property
    def key_lives(self) -> bool:
        return self.key_ends is not None and timezone.now() < self.key_ends

    @property
    def may_land(self) -> bool:
        return self.lands_until is not None and timezone.now() <= self.lands_until


@dataclass(frozen=True, slots=True)
class Doubt:
    """Sentences for a person who must not guess."""

    known: Sequence[str]
    unknown: str
    safe: Sequence[str]


def contract_of(action: Action, calls: Sequence[ExternalCall]) -> Contract | None:
    """None where this installation has no such system."""
    try:
        adapter = get_adapter(action.system)
    except (UnknownAdapter, ImportError, ValueError):
        return None
    sent = action.first_sent_at
    unanswered = [call.ended_at or timezone.now() for call in _requests(calls) if call.outcome in ("", "unknown")]
    return Contract(
        adapter=adapter,
        key_ends=sent + adapter.key_life if sent and adapter.honours_keys else None,
        lands_until=max(unanswered) + adapter.settles_after if unanswered else None,
    )


def doubt_about(
    action: Action, calls: Sequence[ExternalCall], contract: Contract | None, task: Task | None
) -> Doubt | None:
    """None where nothing is in doubt, or no longer: a settled message is asked about no more."""
    if action.status not in IN_DOUBT or action.settled_at is not None:
        return None
    accepted = any(call.outcome == "confirmed" for call in _requests(calls))
    return Doubt(
        known=[*_known(calls, accepted)],
        unknown=gettext("Whether the service's own state will show the change.")
        if accepted
        else gettext("Whether the change happened: the request may have arrived although no answer came."),
        safe=[*_safe(contract), _next(task)],
    )


def _requests(calls: Sequence[ExternalCall]) -> list[ExternalCall]:
    return [call for call in calls if call.kind == ExternalCall.Kind.PERFORM]


def _known(calls: Sequence[ExternalCall], accepted: bool) -> list[str]:
    requests = _requests(calls)
    found = []
    if requests:
        sent = {"number": len(requests), "at": moment_text(requests[-1].begun_at)}
        found.append(gettext("Requests sent under the one key: %(number)s, the last %(at)s.") % sent)
    if accepted:
        found.append(
            gettext("The service accepted the request; its state was read afterwards and is still the old one.")
        )
    looked = [call for call in calls if call.kind == ExternalCall.Kind.LOOKUP]
    if looked:
        last = {
            "at": moment_text(looked[-1].begun_at),
            "answer": str(words.CALL_OUTCOMES.get(looked[-1].outcome, looked[-1].outcome)),
        }
        found.append(gettext("The service was asked what became of it, last %(at)s: %(answer)s.") % last)
    return found


def _safe(contract: Contract | None) -> list[str]:
    if contract is None:
        return [gettext("Nothing can be asked or sent: this installation does not have the system any more.")]
    adapter = contract.adapter
    found = []
    if adapter.can_lookup:
        found.append(gettext("Asking the service what became of the request changes nothing and is always safe."))
    if adapter.honours_keys and contract.key_ends and contract.key_lives:
        until = {"until": moment_text(contract.key_ends)}
        found.append(
            gettext(
                "The same request under the same key makes no second change until %(until)s. Caseflow repeats it only"
                " after a look-up that found nothing."
            )
            % until
        )
    elif adapter.honours_keys:
        found.append(gettext("The key is older than its life: a repeat could make a second change, so none is sent."))
    elif adapter.can_lookup:
        until = {"until": moment_text(contract.lands_until) if contract.lands_until else "–"}
        found.append(
            gettext(
                "“Not applied” counts only when it was asked after %(until)s: until then the request may still arrive."
                " A second change needs a new approval."
            )
            % until
        )
    else:
        found.append(
            gettext(
                "The service has no keys and cannot be asked, so a repeat is not available. Somebody has to look in the"
                " service itself, and two people record the result."
            )
        )
    return found


def _next(task: Task | None) -> str:
    if task is None:
        return gettext("Caseflow does not check by itself any more: a person orders the next step in the case.")
    step = {"step": words.STAGES.get(task.stage, task.stage), "at": moment_text(task.available_at)}
    return gettext("Caseflow goes on by itself: %(step)s, %(at)s.") % step
