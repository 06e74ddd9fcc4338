"""The glossary of the domain as a page shows it: translated, with an icon and a tone (console.md §3, §6)."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext, gettext_lazy, pgettext

from caseflow.domain import words
from caseflow.domain.process import Process
from caseflow.domain.times import Part
from cases.processes import all_processes
from cases.wording import Reasoned, ending_text, find_ending, reason_text


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
    "ask_model": gettext_lazy("Ask the model"),
    "expire": gettext_lazy("The time for a decision ends"),
    "find_deciders": gettext_lazy("Look whether enough people may decide"),
    "execute": gettext_lazy("Send the change"),
    "reconcile": gettext_lazy("Check the result with the service"),
    "notify": gettext_lazy("Send the message"),
    "look": gettext_lazy("Look at what changed outside"),
    "recheck": gettext_lazy("Read the facts again"),
    "data_due": gettext_lazy("The time for data ends"),
    "drift": gettext_lazy("Compare with the outside systems"),
    "bulk": gettext_lazy("Go through an order for many cases"),
    "sweep_documents": gettext_lazy("Clear away half-written files"),
    "open_reports": gettext_lazy("Open the reports that are due"),
    "tell_staff": gettext_lazy("Tell staff by mail what waits for them"),
    "spread_hooks": gettext_lazy("Find changes of cases that programs are told of"),
    "tell_hook": gettext_lazy("Tell a program of a change of a case"),
}
ROLES = {code: gettext_lazy(word.label) for code, word in words.ROLES.items()}
RIGHTS = {code: gettext_lazy(text) for code, text in words.RIGHTS.items()} | {
    "see_cases": gettext_lazy("see cases"),
    "decide_proposal": gettext_lazy("decide proposals"),
    "supply_data": gettext_lazy("supply data"),
    "reveal_personal": gettext_lazy("reveal personal data"),
    "withdraw": gettext_lazy("withdraw this decision"),
}
#: Whose turn it was in a case's time (design §14).
PARTS = {
    "queue": gettext_lazy("waiting for a worker"),
    "automatic": gettext_lazy("worked on by the machine"),
    "person": gettext_lazy("waiting for a person"),
    "outside": gettext_lazy("at an outside system"),
    "notice": gettext_lazy("telling people"),
}
#: How one try at a task ended.
ATTEMPT_OUTCOMES = {
    "done": gettext_lazy("done"),
    "fault": gettext_lazy("failed"),
    "worker_lost": gettext_lazy("the worker was lost"),
    "given_back": gettext_lazy("given back"),
    "late": gettext_lazy("came too late"),
    "cancelled": gettext_lazy("cancelled"),
}


def state_word(code: str) -> Shown:
    return _shown(words.STATES, _STATE_LOOKS, code)


def part_word(part: Part) -> str:
    return str(PARTS[part.value])


def proposal_word(code: str) -> Shown:
    """Of a plan that stands no more; what superseded it is named beside the word."""
    if code == "withdrawn":
        return Shown(code, str(DECISIONS["withdraw"]), gettext("Nothing was sent."), "minus", "calm")
    return Shown(code, gettext("Superseded by"), "", "minus", "calm")


def action_word(code: str) -> Shown:
    return _shown(words.ACTIONS, _ACTION_LOOKS, code)


def reason_word(code: str) -> Shown:
    """Of a reason alone, whatever the process: for groups and filters."""
    if code in words.REASONS:
        word = words.REASONS[code]
        return Shown(code, gettext(word.label), gettext(word.help), "warning", "alert")
    endings = (process.endings.get(code) for process in all_processes().values())
    label = next((gettext(ending.sentence) for ending in endings if ending), code)
    return Shown(code, label, "", "warning", "alert")


def reason_of(case: Reasoned) -> Shown:
    """Why a case waits or stopped, with the next step where the glossary knows one."""
    word = words.REASONS.get(case.reason)
    return Shown(case.reason, reason_text(case), gettext(word.help) if word else "", "warning", "alert")


def actor_text(kind: str, name: str) -> str:
    """Who did it, as people read it."""
    if kind == "system":
        return gettext("Caseflow")
    if kind == "service":
        return gettext("Machine “%(name)s”") % {"name": name}
    return name


def attempt_outcome(code: str) -> str:
    """An attempt that ended its task for good carries the reason."""
    if code in ATTEMPT_OUTCOMES:
        return str(ATTEMPT_OUTCOMES[code])
    return gettext(words.REASONS[code].label) if code in words.REASONS else code


def process_title(slug: str, version: int) -> str:
    process = _process(slug, version)
    return gettext(process.title) if process else slug


def newest_title(slug: str) -> str:
    """What the newest version of a process is called; the slug itself where none is installed."""
    versions = [process for process in all_processes().values() if process.slug == slug]
    return gettext(max(versions, key=lambda process: process.version).title) if versions else slug


def ending_sentence(slug: str, version: int, decision: str) -> str:
    """What the process says of its decision, or nothing where it is none of the process's own."""
    return ending_text(slug, version, decision)


def request_sentence(slug: str, version: int, decision: str, subject: str) -> str:
    """The exact effect in one sentence (console.md §2)."""
    ending = find_ending(slug, version, decision)
    return gettext(ending.request).format(subject=subject) if ending and ending.request else ""


def zone_word(name: str) -> str:
    """The short name of a time zone: MSK is МСК in Russian."""
    return pgettext("time zone", "MSK") if name == "MSK" else name


def _process(slug: str, version: int) -> Process | None:
    return all_processes().get(f"{slug}:{version}")


def _shown(glossary: dict[str, words.Word], looks: dict[str, tuple[str, str]], code: str) -> Shown:
    word = glossary[code]
    icon, tone = looks[code]
    return Shown(code, gettext(word.label), gettext(word.help), icon, tone)
