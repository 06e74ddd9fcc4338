"""Orders for many cases in words: what is ordered, why a case is left out, and what is against a step now."""

from __future__ import annotations

from .words import Word
from .words import gettext_noop as _

#: What is ordered, and what happens and does not happen for every case that has its turn.
KINDS: dict[str, Word] = {
    "observe_again": Word(
        _("Check again"),
        _("The facts are read anew from the outside systems, and new proposals may follow. No external changes."),
    ),
    "reconcile": Word(
        _("Check with the service"),
        _("The service is asked what became of each request whose result is unknown. No new change is asked for."),
    ),
    "ask_data": Word(
        _("Ask for data"),
        _(
            "Each case waits for data, and its proposal is not decided. Nothing is sent outside. The reason says what"
            " is needed."
        ),
    ),
    "hand_over": Word(
        _("Hand over"),
        _("Each case is held by the colleague for an hour, whoever had it. Nothing is sent outside."),
    ),
}

STATUSES: dict[str, Word] = {
    "preview": Word(_("Preview"), _("Nothing is ordered yet. The list does not change any more.")),
    "running": Word(_("Running"), _("The cases have their turn one after the other.")),
    "paused": Word(_("Paused"), _("No further case has its turn until somebody lets it go on.")),
    "ended": Word(_("Carried out"), _("Every case of the list had its turn.")),
    "cancelled": Word(_("Cancelled"), _("What was left is skipped; what was done stays done.")),
}

ITEMS: dict[str, str] = {
    "planned": _("waits for its turn"),
    "done": _("ordered"),
    "failed": _("failed"),
    "skipped": _("skipped"),
}

#: Why nothing was ordered for a case of the list.
SKIPS: dict[str, str] = {
    "closed": _("The case is closed."),
    "checking": _("The case is being checked already."),
    "not_stopped": _("The case goes on by itself or waits for something else."),
    "in_doubt": _("The result of a change is unknown: check with the service first."),
    "nothing_in_doubt": _("No change of this case has an unknown result."),
    "no_answer_is_missing": _("The service has answered; its state is being read back."),
    "not_waiting": _("No proposal of this case waits for a decision."),
    "expired": _("The time for a decision has run out."),
    "causer": _("You took part in this case, so another person has to decide."),
    "not_theirs": _("The colleague may not work on this case."),
    "not_permitted": _("You may not order this for the case."),
    "process_missing": _("The process of this case is not installed here."),
    "moved_on": _("The case moved on after the preview; nothing was ordered for it."),
    "cancelled": _("Cancelled before its turn came."),
    "causer_may_not_decide": _("You took part in this case, so another person has to decide."),
    "unknown_holder": _("The colleague may not work on this case."),
    "purged": _("The personal texts of the case were erased."),
    "internal_error": _("The application failed for this case. Call the developers and name it."),
}

#: What is against a step with the bulk itself.
REFUSALS: dict[str, str] = {
    "another_person": _("Only who made the preview confirms it."),
    "preview_too_old": _("The preview is older than an hour. Make a new one from the list."),
    "nothing_planned": _("Nothing can be ordered for the cases of this list."),
    "preview": _("It is not confirmed yet."),
    "running": _("It runs already."),
    "paused": _("It is paused already."),
    "ended": _("It is carried out already."),
    "cancelled": _("It was cancelled."),
}
