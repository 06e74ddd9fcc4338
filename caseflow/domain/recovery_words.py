"""Recoveries in words: what a kind is called, what it does and what it does not; the faces translate them."""

from __future__ import annotations

from typing import NamedTuple

from .words import gettext_noop as _

KINDS: dict[str, str] = {
    "observe_again": _("Check again"),
    "ask_again": _("Ask for a new proposal"),
    "correct_input": _("Correct the input"),
    "reconcile": _("Check with the service"),
    "repeat": _("Repeat with the same key"),
    "accept_not_applied": _("Accept as not applied"),
    "result_by_hand": _("Record the result by hand"),
    "send_notice": _("Send the message"),
    "finish_without_notice": _("Finish without the message"),
    "finish_by_hand": _("Finish by hand"),
    "close": _("Close without change"),
}

STATUSES: dict[str, str] = {
    "waiting": _("waits for a second person"),
    "done": _("carried out"),
    "refused": _("not carried out"),
    "withdrawn": _("withdrawn"),
}

RESULTS: dict[str, str] = {"done": _("done"), "not_done": _("not done")}

#: Why an order ended without being carried out, or why it cannot be given now: code → a sentence.
REASONS: dict[str, str] = {
    "nothing_in_doubt": _("No change of this case has an unknown result now."),
    "no_answer_is_missing": _("The service has answered; its state is being read back."),
    "no_evidence": _("No look-up after the last request said that it was not applied. Check with the service first."),
    "no_final_evidence": _("The look-up came too early: the request may still be carried out. Check again later."),
    "key_not_alive": _("The service does not honour this key any more, so a repeat could happen twice."),
    "may_still_land": _("The unanswered request may still be carried out. Record “not done” later."),
    "effects_not_confirmed": _("Not every change of the plan is confirmed."),
    "asked_too_often": _("The case came back too often. Decide on this proposal, or close the case."),
    "no_notice_left": _("Every message of the plan is confirmed."),
    "another_action": _("Another change is the one with the unknown result."),
    "status_changed": _("The state of the change is no longer the one that was seen."),
    "asker_lost_right": _("Who ordered it may not order it any more."),
    "version_moved": _("The case moved on before it was signed."),
    "declined": _("The second person did not sign."),
    "withdrawn": _("Withdrawn by who ordered it."),
}


class Confirmation(NamedTuple):
    """The confirmation: a question that names the object, what happens, what does not, whether it can be undone.

    Places: {case} the ticket, {action} and {subject} of the effect in doubt, {key} its key, {system} the service.
    """

    title: str
    effect: str
    not_done: str
    button: str
    undo: str


_ONCE = _("This cannot be undone; it stays in the history.")
_AGAIN = _("Afterwards other steps can be ordered as usual.")

CONFIRMATIONS: dict[str, Confirmation] = {
    "observe_again": Confirmation(
        _("Check case {case} again?"),
        _("The facts are read anew from the outside systems, and a new proposal may follow."),
        _("Nothing is sent outside. You do not decide on what is proposed afterwards."),
        _("Check again"),
        _AGAIN,
    ),
    "ask_again": Confirmation(
        _("Ask for a new proposal in case {case}?"),
        _(
            "The facts are read anew and whoever proposes is asked again. The proposal that waits now can no longer be"
            " decided."
        ),
        _("Nothing is sent outside. You do not decide on what is proposed afterwards."),
        _("Ask for a new proposal"),
        _("The earlier proposal stays in the history as it is."),
    ),
    "correct_input": Confirmation(
        _("Correct the input of case {case}?"),
        _("The changed values become a new version of the input; the facts are read anew for it."),
        _(
            "Nothing is sent outside, and what was told before is kept. You do not decide on what is proposed"
            " afterwards."
        ),
        _("Correct the input"),
        _AGAIN,
    ),
    "reconcile": Confirmation(
        _("Check change {action} of {subject} with the service?"),
        _("The service is asked now what became of the request with the key {key}."),
        _(
            "No new change is asked for. Only where the service honours the key and says that nothing happened, the"
            " same request is sent again under the same key."
        ),
        _("Check with the service"),
        _AGAIN,
    ),
    "repeat": Confirmation(
        _("Repeat request {action} with the same key?"),
        _("The service honours the key {key}. It is asked once more, then the same request is sent again."),
        _("A repeat does not create a second change. Where the facts have changed, nothing is sent."),
        _("Repeat with the same key"),
        _("This cannot be undone once the request has begun."),
    ),
    "accept_not_applied": Confirmation(
        _("Accept change {action} of {subject} as not applied?"),
        _("The look-up found no such change. The change counts as definitely not done."),
        _("Nothing is sent. The case stays where it is; a second request always needs a new approval."),
        _("Accept as not applied"),
        _ONCE,
    ),
    "result_by_hand": Confirmation(
        _("Record the result of change {action} by hand?"),
        _("You state that you checked {subject} in the source system. A second person must confirm it."),
        _("Nothing is sent for this change, and nothing moves before the second person has signed."),
        _("Record the result"),
        _("The record is permanent and visible in the history."),
    ),
    "send_notice": Confirmation(
        _("Send the message of case {case}?"),
        _("Every message of the plan that is not confirmed is sent, each once."),
        _(
            "The change itself is not repeated. A message whose result is unknown may have arrived: then the customer"
            " gets it twice."
        ),
        _("Send the message"),
        _("A message that was sent cannot be taken back."),
    ),
    "finish_without_notice": Confirmation(
        _("Finish case {case} without the message?"),
        _("The case ends; the history says that the message was not confirmed."),
        _("No message is sent. Confirmed changes stay as they are."),
        _("Finish without the message"),
        _ONCE,
    ),
    "finish_by_hand": Confirmation(
        _("Finish case {case} by hand?"),
        _("You state that the case was settled outside Caseflow. A second person must confirm it; then the case ends."),
        _("Nothing is sent, and nothing moves before the second person has signed."),
        _("Finish by hand"),
        _ONCE,
    ),
    "close": Confirmation(
        _("Close case {case} without change?"),
        _("The case ends. A plan that was not sent yet is given up."),
        _("Nothing is sent and nothing is changed outside. The customer gets no message."),
        _("Close without change"),
        _ONCE,
    ),
}
