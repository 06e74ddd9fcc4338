"""What to do where automatic work has stopped: by reason, whose turn it is, what was tried, and one next step.

The four turns of requirement C1 are WAIT, FIX_INPUT, ASK_OWNER and STOP; two more name who else may be needed. Texts
are English sources; the faces translate them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from .words import Word
from .words import gettext_noop as _


class Turn(StrEnum):
    """Whose turn it is."""

    WAIT = "wait"
    FIX_INPUT = "fix_input"
    ASK_OWNER = "ask_owner"
    STOP = "stop"
    DEVELOPERS = "developers"
    ADMINISTRATOR = "administrator"


class Step(StrEnum):
    """The one step that is recommended. What may be ordered for a case carries the name of that order (design §4)."""

    OBSERVE_AGAIN = "observe_again"
    CORRECT_INPUT = "correct_input"
    RECONCILE = "reconcile"
    ACCEPT_NOT_APPLIED = "accept_not_applied"
    SEND_NOTICE = "send_notice"
    FINISH_BY_HAND = "finish_by_hand"
    ASK_OWNER = "ask_owner"
    CALL_DEVELOPERS = "call_developers"
    GRANT_RIGHT = "grant_right"
    WAIT = "wait"


class Advice(NamedTuple):
    """`tried` says what Caseflow did before it stopped."""

    turn: Turn
    step: Step
    tried: str


#: Steps that nobody may order while a change is in doubt: it could be made twice.
NOT_IN_DOUBT = frozenset(
    {Step.OBSERVE_AGAIN, Step.CORRECT_INPUT, Step.SEND_NOTICE, Step.FINISH_BY_HAND, Step.ASK_OWNER}
)

TURNS: dict[Turn, Word] = {
    Turn.WAIT: Word(_("Wait, then check again"), _("The cause passes by itself or is being repaired elsewhere.")),
    Turn.FIX_INPUT: Word(_("Correct the input"), _("An operator finds out the right data and supplies it.")),
    Turn.ASK_OWNER: Word(_("Ask the owner of the system"), _("Only the team behind the outside system can help.")),
    Turn.STOP: Word(_("Stop: a person decides"), _("No rule may go on by itself from here.")),
    Turn.DEVELOPERS: Word(_("Call the developers"), _("The fault is in Caseflow itself.")),
    Turn.ADMINISTRATOR: Word(_("Ask the administrator"), _("A right is missing that only the administrator grants.")),
}

STEPS: dict[Step, str] = {
    Step.OBSERVE_AGAIN: _("Check again"),
    Step.CORRECT_INPUT: _("Correct the input"),
    Step.RECONCILE: _("Check the result with the service"),
    Step.ACCEPT_NOT_APPLIED: _("Accept as not applied"),
    Step.SEND_NOTICE: _("Send the notice again"),
    Step.FINISH_BY_HAND: _("Handle it by hand, then record the result"),
    Step.ASK_OWNER: _("Ask the owner, then check again"),
    Step.CALL_DEVELOPERS: _("Call the developers and name the case"),
    Step.GRANT_RIGHT: _("Have the right granted"),
    Step.WAIT: _("Wait for the other case"),
}

_TRIED_ALL = _("Every attempt that the rules allow was made, each after a longer pause.")
_REFUSED_ONCE = _("The request was sent once and refused. A refused request is not repeated.")

ADVICE: dict[str, Advice] = {
    "attempts_exhausted": Advice(Turn.WAIT, Step.OBSERVE_AGAIN, _TRIED_ALL),
    "deadline_passed": Advice(
        Turn.WAIT, Step.OBSERVE_AGAIN, _("Attempts were repeated until the time for them was over.")
    ),
    "worker_lost": Advice(
        Turn.DEVELOPERS,
        Step.CALL_DEVELOPERS,
        _("The task was begun again after each loss; every time its worker ended in the middle of it."),
    ),
    "invalid_data": Advice(
        Turn.FIX_INPUT,
        Step.CORRECT_INPUT,
        _("The outside system was asked and named the data as wrong. The same data is not sent twice."),
    ),
    "not_permitted": Advice(
        Turn.ASK_OWNER,
        Step.ASK_OWNER,
        _("The outside system was asked and denied access. It is not asked again by itself."),
    ),
    "no_room": Advice(
        Turn.ASK_OWNER,
        Step.ASK_OWNER,
        _("The outside system was asked to keep something and could not: it is full or can only be read."),
    ),
    "permanent_fault": Advice(
        Turn.ASK_OWNER, Step.ASK_OWNER, _("The outside system gave an answer that more attempts do not change.")
    ),
    "internal_error": Advice(
        Turn.DEVELOPERS, Step.CALL_DEVELOPERS, _("The step was tried and ended with a fault of the application.")
    ),
    "data_asked": Advice(Turn.FIX_INPUT, Step.CORRECT_INPUT, _("The data was asked for and has not come yet.")),
    "waited_too_long": Advice(
        Turn.FIX_INPUT, Step.CORRECT_INPUT, _("The case waited for the data until the time for it was over.")
    ),
    "decision_expired": Advice(
        Turn.STOP,
        Step.OBSERVE_AGAIN,
        _("The proposal was offered to everybody who may decide until its time ran out. Nothing was sent."),
    ),
    "rejected_by_hand": Advice(
        Turn.STOP, Step.FINISH_BY_HAND, _("An approver rejected the proposal and wants it handled by hand.")
    ),
    "returned_too_often": Advice(
        Turn.STOP,
        Step.FINISH_BY_HAND,
        _("A proposal was made three times; each was returned or its facts changed before it could be used."),
    ),
    "partly_done": Advice(
        Turn.STOP,
        Step.OBSERVE_AGAIN,
        _("The plan was begun; then a fact changed or the approval lapsed, and the rest was not sent."),
    ),
    "effect_refused": Advice(Turn.STOP, Step.OBSERVE_AGAIN, _REFUSED_ONCE),
    "effect_refused_partly": Advice(
        Turn.STOP, Step.OBSERVE_AGAIN, _("The changes before it were made and confirmed; this one was refused.")
    ),
    "undoing_refused": Advice(Turn.ASK_OWNER, Step.ASK_OWNER, _REFUSED_ONCE),
    "gave_up": Advice(
        Turn.WAIT,
        Step.OBSERVE_AGAIN,
        _("The change was sent again and again under one key; the service provably took none of the requests."),
    ),
    "unknown_too_long": Advice(
        Turn.ASK_OWNER,
        Step.RECONCILE,
        _("No answer came. The service was asked what became of the request until the time for it was over."),
    ),
    "not_confirmed": Advice(
        Turn.ASK_OWNER,
        Step.RECONCILE,
        _("The service accepted the request. Its state was read again and again and is still the old one."),
    ),
    "not_applied": Advice(
        Turn.STOP,
        Step.ACCEPT_NOT_APPLIED,
        _("No answer came. A look-up, made when the request could no longer arrive, did not find it."),
    ),
    "accepted_not_applied": Advice(
        Turn.STOP,
        Step.OBSERVE_AGAIN,
        _("A look-up found that nothing was applied, and a person accepted that. Nothing was sent again."),
    ),
    "found_not_done": Advice(
        Turn.STOP,
        Step.OBSERVE_AGAIN,
        _("Two people looked in the source system and found that nothing was changed. Nothing was sent again."),
    ),
    "notice_unconfirmed": Advice(
        Turn.STOP, Step.SEND_NOTICE, _("The message was handed over, but the mail server confirmed none or not all.")
    ),
    "no_access": Advice(
        Turn.ADMINISTRATOR,
        Step.SEND_NOTICE,
        _("The access of each recipient was read when the message was about to leave, and one of them has none."),
    ),
    "broken_proposal": Advice(
        Turn.STOP,
        Step.OBSERVE_AGAIN,
        _("The proposal was checked against the rules and refused before anybody saw it."),
    ),
    "model_answer_invalid": Advice(
        Turn.STOP,
        Step.OBSERVE_AGAIN,
        _("The model was asked three times, each time with the errors of its last answer. Nothing of it was used."),
    ),
    "facts_missing": Advice(
        Turn.FIX_INPUT, Step.CORRECT_INPUT, _("Every fact was read three times; what the decision needs is not there.")
    ),
    "no_decider": Advice(
        Turn.ADMINISTRATOR, Step.GRANT_RIGHT, _("Everybody with the right took part in the case, or nobody has it.")
    ),
    "subject_busy": Advice(
        Turn.WAIT, Step.WAIT, _("The change was held back while another case changes the same object.")
    ),
    "amount_differs": Advice(Turn.STOP, Step.FINISH_BY_HAND, _("Payment and price were read and compared.")),
    "another_account": Advice(
        Turn.FIX_INPUT, Step.CORRECT_INPUT, _("The accounts of payment and subscription were read and compared.")
    ),
    "unclear_facts": Advice(Turn.STOP, Step.OBSERVE_AGAIN, _("Every fact was read; no rule fits them.")),
}

#: For an ending of a process that asks for a person and stands in no list here.
OTHER = Advice(Turn.STOP, Step.FINISH_BY_HAND, _("Every fact was read; the rule of the process asks for a person."))


def advice_for(reason: str, *, effects_open: int = 0) -> Advice:
    """The advice for a case; while a change of it is in doubt the result is found out first."""
    advice = ADVICE.get(reason, OTHER)
    if effects_open and advice.step in NOT_IN_DOUBT:
        return advice._replace(step=Step.RECONCILE)
    return advice
