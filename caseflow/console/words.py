"""The glossary of the domain as a page shows it: translated, with an icon and a tone (console.md §3, §6)."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext, gettext_lazy, pgettext

from caseflow.domain import words
from caseflow.domain.process import Ending, Process
from cases.processes import all_processes


@dataclass(frozen=True, slots=True)
class Shown:
    """A word with the sentence behind it. The tone names a colour, which never stands alone."""

    code: str
    label: str
    help: str
    icon: str
    tone: str


_STATE_LOOKS = {
    "RECEIVED": ("inbox", "calm"),
    "CHECKING": ("search", "busy"),
    "WAITING_APPROVAL": ("person", "wait"),
    "EXECUTING": ("play", "busy"),
    "WAITING_DATA": ("clock", "wait"),
    "NOTIFYING": ("mail", "busy"),
    "NEEDS_ATTENTION": ("warning", "alert"),
    "COMPLETED": ("check", "done"),
    "CLOSED_NO_CHANGE": ("minus", "calm"),
}
_ACTION_LOOKS = {
    "PLANNED": ("clock", "calm"),
    "REQUESTED": ("play", "busy"),
    "UNKNOWN": ("question", "alert"),
    "CONFIRMED": ("check", "done"),
    "REFUSED": ("cross", "alert"),
    "CANCELLED": ("minus", "calm"),
}

OUTCOMES = {code: gettext_lazy(word.help) for code, word in words.OUTCOMES.items()}
DECISIONS = {
    "approve": gettext_lazy("Approved"),
    "reject": gettext_lazy("Rejected"),
    "return": gettext_lazy("Returned for review"),
    "ask_data": gettext_lazy("Data asked for"),
    "withdraw": gettext_lazy("Withdrawn"),
}
NEXT_STEPS = {
    "close": gettext_lazy("close without change"),
    "by_hand": gettext_lazy("handle manually"),
}
CONFIRMED_BY = {
    "read": gettext_lazy("The state was read back from the service."),
    "receipt": gettext_lazy("Accepted by the mail server; delivery is unknown."),
    "lookup": gettext_lazy("No answer had come; a look-up by the same key found it done."),
    "hand": gettext_lazy("Confirmed by hand by two people."),
}
CALL_KINDS = {
    "perform": gettext_lazy("Request"),
    "lookup": gettext_lazy("Look-up"),
    "read": gettext_lazy("Reading"),
}
CALL_OUTCOMES = {
    "confirmed": gettext_lazy("accepted"),
    "refused": gettext_lazy("refused"),
    "not_applied": gettext_lazy("not applied"),
    "unknown": gettext_lazy("no answer"),
}
STAGES = {
    "check": gettext_lazy("Start the check"),
    "observe": gettext_lazy("Read the facts"),
    "propose": gettext_lazy("Prepare a proposal"),
    "expire": gettext_lazy("The time for a decision ends"),
    "execute": gettext_lazy("Send the change"),
    "reconcile": gettext_lazy("Check the result with the service"),
    "notify": gettext_lazy("Send the message"),
    "recheck": gettext_lazy("Read the facts again"),
    "data_due": gettext_lazy("The time for data ends"),
    "drift": gettext_lazy("Compare with the outside systems"),
    "remind": gettext_lazy("Remind of the decision"),
    "escalate": gettext_lazy("Tell more people"),
}
RIGHTS = {
    "see_cases": gettext_lazy("see cases"),
    "decide_proposal": gettext_lazy("decide proposals"),
    "supply_data": gettext_lazy("supply data"),
    "reveal_personal": gettext_lazy("reveal personal data"),
    "withdraw": gettext_lazy("withdraw this decision"),
}
#: What happens to a notice is no change outside.
NOTICE_EVENTS = {
    "action.requested": gettext_lazy("Message handed over, not confirmed"),
    "action.unknown": gettext_lazy("No answer of the mail server: the result is unknown"),
    "action.confirmed": gettext_lazy("Message accepted by the mail server"),
    "action.not_applied": gettext_lazy("Message provably not accepted"),
    "action.refused": gettext_lazy("Message refused"),
    "action.cancelled": gettext_lazy("Message cancelled before it was sent"),
}
#: Reasons to wait, which are no reasons for attention.
WAITING_REASONS = {"data_asked": gettext_lazy("The approver asked for data")}


def state_word(code: str) -> Shown:
    return _shown(words.STATES, _STATE_LOOKS, code)


def action_word(code: str) -> Shown:
    return _shown(words.ACTIONS, _ACTION_LOOKS, code)


def reason_word(code: str) -> Shown:
    if code in WAITING_REASONS:
        return Shown(code, str(WAITING_REASONS[code]), "", "clock", "wait")
    word = words.REASONS.get(code)
    if word is None:
        return Shown(code, code, "", "warning", "alert")
    return Shown(code, gettext(word.label), gettext(word.help), "warning", "alert")


def event_word(kind: str, *, is_notice: bool = False) -> str:
    if is_notice and kind in NOTICE_EVENTS:
        return str(NOTICE_EVENTS[kind])
    return gettext(words.EVENTS[kind]) if kind in words.EVENTS else kind


def process_title(slug: str, version: int) -> str:
    process = _process(slug, version)
    return gettext(process.title) if process else slug


def ending_sentence(slug: str, version: int, decision: str) -> str:
    """What the process says of its decision, or nothing where it is none of the process's own."""
    ending = _ending(slug, version, decision)
    return gettext(ending.sentence) if ending else ""


def request_sentence(slug: str, version: int, decision: str, subject: str) -> str:
    """The exact effect in one sentence (console.md §2)."""
    ending = _ending(slug, version, decision)
    return gettext(ending.request).format(subject=subject) if ending and ending.request else ""


def zone_word(name: str) -> str:
    """The short name of a time zone: MSK is МСК in Russian."""
    return pgettext("time zone", "MSK") if name == "MSK" else name


def _process(slug: str, version: int) -> Process | None:
    return all_processes().get(f"{slug}:{version}")


def _ending(slug: str, version: int, decision: str) -> Ending | None:
    process = _process(slug, version)
    return process.endings.get(decision) if process else None


def _shown(glossary: dict[str, words.Word], looks: dict[str, tuple[str, str]], code: str) -> Shown:
    word = glossary[code]
    icon, tone = looks[code]
    return Shown(code, gettext(word.label), gettext(word.help), icon, tone)
