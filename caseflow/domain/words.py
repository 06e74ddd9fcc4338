"""The glossary: one English source sentence per state, status and reason; the faces translate them (console.md §3)."""

from __future__ import annotations

from typing import NamedTuple


def gettext_noop(text: str) -> str:
    """Marks a text for the catalogue; the domain itself knows no language."""
    return text


class Word(NamedTuple):
    """`label` is what stands beside the icon, `help` the sentence behind it."""

    label: str
    help: str


_ = gettext_noop

STATES: dict[str, Word] = {
    "RECEIVED": Word(_("Received"), _("The ticket is recorded and its check is queued.")),
    "CHECKING": Word(_("Checking"), _("The system gathers facts; the attempts are shown below.")),
    "WAITING_APPROVAL": Word(_("Waiting for decision"), _("The proposal is ready, a person is needed.")),
    "EXECUTING": Word(_("Executing"), _("Decided; the outside system has not confirmed the result yet.")),
    "WAITING_DATA": Word(
        _("Waiting for data"), _("Details were asked of the customer or owner; the deadline is shown.")
    ),
    "NOTIFYING": Word(_("Notifying"), _("The result is established; the message is being sent.")),
    "NEEDS_ATTENTION": Word(_("Needs attention"), _("Automatic work has stopped; the reason and next step are given.")),
    "COMPLETED": Word(_("Completed"), _("Every required result is confirmed.")),
    "CLOSED_NO_CHANGE": Word(_("Closed without change"), _("Nothing was changed outside.")),
}

ACTIONS: dict[str, Word] = {
    "PLANNED": Word(_("Planned"), _("Not sent yet.")),
    "REQUESTED": Word(_("Requested, not confirmed"), _("The request was sent; it may not be called done.")),
    "UNKNOWN": Word(_("Result unknown"), _("No answer came: the action may have happened. Check first.")),
    "CONFIRMED": Word(_("Confirmed by the service"), _("Read back from the service, or accepted by the mail server.")),
    "REFUSED": Word(_("Definitely not done"), _("The service refused; nothing changed.")),
    "CANCELLED": Word(_("Cancelled: conditions changed"), _("The approval was not used.")),
}

#: What a closed case achieved.
OUTCOMES: dict[str, Word] = {
    "done": Word(_("Done"), _("Everything was done and confirmed.")),
    "partial": Word(
        _("Partly done"), _("A part is confirmed and stands, a part is not. Each change and notice says which.")
    ),
    "by_hand": Word(_("Finished by hand"), _("Finished by hand, by two people.")),
    "undone": Word(_("Undone"), _("What was done is undone.")),
    "no_change": Word(_("No change"), _("Nothing was changed outside.")),
}

#: What a person may be in an organisation, and the one role above organisations.
ROLES: dict[str, Word] = {
    "viewer": Word(_("Viewer"), _("Sees cases, personal data hidden.")),
    "operator": Word(_("Operator"), _("Opens cases, supplies data, reveals personal data, orders recoveries.")),
    "approver": Word(_("Approver"), _("Decides on proposals and authorises what needs a second person.")),
    "recoverer": Word(_("Recoverer"), _("Orders recoveries and pauses, without seeing personal data.")),
    "report_reader": Word(_("Report reader"), _("Opens documents of a department.")),
    "auditor": Word(_("Auditor"), _("Reads and exports the whole audit trail.")),
    "org_admin": Word(_("Administrator"), _("Grants roles, schedules, document grants and service accounts.")),
    "platform_operator": Word(
        _("Platform operator"), _("Looks after queues, workers, counts and pauses of all organisations; sees no case.")
    ),
}

#: What each right allows, as the table of roles says it.
RIGHTS: dict[str, str] = {
    "open_case": _("open a case"),
    "see_cases": _("see cases and export lists, personal data hidden"),
    "reveal_personal": _("reveal claim texts and personal data (recorded)"),
    "supply_data": _("supply data, hold, hand over, note"),
    "decide_proposal": _("decide on proposals"),
    "order_recovery": _("order a recovery, a bulk, a pause of a process"),
    "authorise_recovery": _("authorise a recovery that needs a second person"),
    "open_documents": _("open documents of a department"),
    "read_audit": _("read and export the whole audit trail"),
    "administer_organisation": _("grant roles, schedules, document grants, service accounts"),
    "operate_platform": _("look after queues, workers, counts and pauses of the platform"),
}

#: Why automatic work stopped: code → what it means and what to do next.
REASONS: dict[str, Word] = {
    "attempts_exhausted": Word(
        _("All attempts failed"), _("The outside system did not answer in time. Check it, then repeat the check.")
    ),
    "deadline_passed": Word(
        _("The time for attempts ran out"), _("The outside system stayed unavailable. Check it, then repeat the check.")
    ),
    "worker_lost": Word(_("The worker stopped again and again"), _("This task ends its process. Call the developers.")),
    "invalid_data": Word(_("The outside system refused the data"), _("Correct the input, then go on.")),
    "not_permitted": Word(_("The outside system denied access"), _("Ask the owner of the outside system.")),
    "no_room": Word(
        _("The outside system has no room"),
        _("It is full or can only be read, and nothing was stored. Ask its owner to make room, then check again."),
    ),
    "permanent_fault": Word(_("The outside system answered wrongly"), _("Ask the owner of the outside system.")),
    "internal_error": Word(_("The application failed"), _("Call the developers and name this case.")),
    "data_asked": Word(_("The approver asked for data"), _("Supply the data that was asked for.")),
    "waited_too_long": Word(_("The awaited data did not come"), _("Ask again, supply the data or close the case.")),
    "decision_expired": Word(_("Nobody decided in time"), _("Ask for a new proposal or close the case.")),
    "rejected_by_hand": Word(
        _("Rejected: to be handled by hand"), _("Handle it in the source system and record the result.")
    ),
    "returned_too_often": Word(_("Returned three times"), _("The facts keep changing. Decide by hand.")),
    "partly_done": Word(_("Partly done"), _("Some effects began before the facts changed. Look at each effect.")),
    "effect_refused": Word(_("The service refused the change"), _("Nothing was changed. Read the service's answer.")),
    "effect_refused_partly": Word(
        _("Only a part was done"),
        _(
            "An earlier change of this plan is confirmed and stands; the one after it was not made. Read the service's"
            " answer, then ask again: the next proposal undoes it or goes on."
        ),
    ),
    "undoing_refused": Word(
        _("The undoing failed"),
        _("The service refused to undo it, so the change stands. Read its answer, ask its owner, then ask again."),
    ),
    "gave_up": Word(
        _("The change could not be sent"), _("It was provably not applied. Check the service, then ask again.")
    ),
    "unknown_too_long": Word(_("The result stayed unknown"), _("Check the service by hand; do not repeat the change.")),
    "not_confirmed": Word(
        _("The read-back does not show the change"), _("The service accepted it, but its state is still the old one.")
    ),
    "not_applied": Word(
        _("The change was not applied"), _("The look-up found nothing. Accept it as not applied, then ask again.")
    ),
    "accepted_not_applied": Word(
        _("Accepted as not applied"), _("Nothing was changed. Ask to check again, or close the case.")
    ),
    "found_not_done": Word(
        _("Found not done"), _("Two people found that nothing was changed. Ask to check again, or close the case.")
    ),
    "notice_unconfirmed": Word(
        _("A notice was not confirmed"), _("The effects stand. Send the notice again or finish without it.")
    ),
    "no_access": Word(
        _("A recipient may not open it"),
        _(
            "Everybody else was told. Ask the organisation's administrator to grant the recipient access, or let the"
            " case end without that message; then send the notice."
        ),
    ),
    "model_answer_invalid": Word(
        _("The model gave no usable answer"),
        _("Its answers were checked and refused, also after two repairs. Read why, then ask again or decide by hand."),
    ),
    "facts_missing": Word(
        _("Facts are missing for a decision"),
        _("They were read again twice and are still not there. Find them out, then check again."),
    ),
    "broken_proposal": Word(_("The proposal broke a rule"), _("Read which rule, then ask again or handle it by hand.")),
    "no_decider": Word(
        _("Too few people may decide"),
        _(
            "Who took part in the case does not decide on it, and too few others may. Ask the organisation's"
            " administrator to grant the role “Approver” to somebody, then ask to check the case again."
        ),
    ),
    "subject_busy": Word(_("Another case is changing the same object"), _("It waits for the other case.")),
    "amount_differs": Word(_("The amount differs"), _("Payment and price are not equal. Decide by hand.")),
    "another_account": Word(
        _("Another account's subscription"), _("The subscription or payment belongs to somebody else. Find out whose.")
    ),
    "unclear_facts": Word(_("The facts need another check"), _("The facts fit no rule. Decide by hand.")),
}

EVENTS: dict[str, str] = {
    "case.opened": _("Ticket received"),
    "case.check_started": _("Check started"),
    "facts.observed": _("Facts read"),
    "case.proposal_ready": _("Proposal prepared, waiting for a decision"),
    "case.plan_ready": _("Plan prepared"),
    "case.nothing_to_do": _("Nothing to change"),
    "case.closing_notice_due": _("Nothing to change; the customer is told"),
    "case.data_missing": _("Data missing"),
    "case.not_yet": _("Not yet; read again later"),
    "case.person_needed": _("A person is needed"),
    "case.data_received": _("Data supplied"),
    "data.recorded": _("Data recorded; it moved nothing"),
    "webhook.received": _("An outside system says that something changed; it is read again"),
    "webhook.after_close": _("An outside system says that something changed after the case was closed; nothing moved"),
    "case.recheck_due": _("Read again"),
    "case.waited_too_long": _("The awaited data did not come in time"),
    "case.quorum_reached": _("Approved"),
    "decision.approved": _("Approval counted; more approvals needed"),
    "case.rejected_to_close": _("Rejected, closed without change"),
    "case.rejected_to_close_with_notice": _("Rejected; the customer is told"),
    "case.rejected_to_hand": _("Rejected, to be handled by hand"),
    "case.data_asked": _("The approver asked for data"),
    "case.returned": _("Returned for review"),
    "case.returned_too_often": _("Returned too often"),
    "case.expired": _("The time for a decision ran out; nothing was sent"),
    "case.withdrawn": _("Decision withdrawn"),
    "case.facts_changed": _("Facts changed; nothing was sent"),
    "case.approval_lapsed": _("The approval may not be used any more; nothing was sent"),
    "case.partly_done": _("Facts changed when a part was done"),
    "case.effects_confirmed": _("The outside system confirmed the change"),
    "case.effects_confirmed_without_notices": _("The outside system confirmed the change"),
    "case.undone": _("The outside system confirmed the undoing"),
    "case.undone_without_notices": _("The outside system confirmed the undoing"),
    "case.effect_refused": _("The outside system refused"),
    "case.effect_unknown": _("The result stayed unknown"),
    "case.effect_not_applied": _("The change was not applied"),
    "case.notices_confirmed": _("Notice accepted by the mail server"),
    "case.closing_notices_confirmed": _("Closing notice accepted by the mail server"),
    "case.undoing_notices_confirmed": _("Notice of the undoing accepted by the mail server"),
    "case.notices_unconfirmed": _("A notice was not confirmed"),
    "case.asked_again": _("A person asked for a new proposal"),
    "case.observe_again": _("A person asked to check again"),
    "case.input_corrected": _("A person corrected the input"),
    "case.reconcile_ordered": _("A person ordered to check the result"),
    "case.repeat_ordered": _("A person ordered to repeat the change with the same key"),
    "case.result_by_hand": _("Two people recorded the result by hand"),
    "case.notice_ordered": _("A person ordered to send the message"),
    "case.finished_without_notice": _("Finished by a person without the message"),
    "case.finished_without_closing_notice": _("Closed by a person without the message"),
    "case.finished_by_hand": _("Finished by hand, signed by two people"),
    "recovery.waiting": _("A recovery is ordered and waits for a second person"),
    "recovery.withdrawn": _("A recovery was withdrawn by who ordered it"),
    "recovery.declined": _("The second person did not sign"),
    "recovery.reconcile_ordered": _("A person ordered to check the result now"),
    "recovery.not_applied_accepted": _("A person accepted the change as not applied"),
    "case.exhausted": _("Automatic work stopped"),
    "case.closed_by_person": _("Closed by a person"),
    "action.requested": _("Change requested, not confirmed"),
    "action.unknown": _("No answer: the result is unknown"),
    "action.confirmed": _("Change confirmed by the service"),
    "action.not_applied": _("Change provably not applied"),
    "action.refused": _("Change refused by the service"),
    "action.cancelled": _("Change cancelled before it was sent"),
    "action.awaiting": _("Accepted; the read-back is still the old state"),
    "action.held_back": _("Message held back: its recipient may not have it"),
    "action.busy": _("Waiting: another case is changing the same object"),
    "access.refused": _("A person without the right was refused"),
    "decision.refused": _("A decision was not accepted"),
    "recovery.refused": _("A recovery was not accepted"),
    "repair.task_freed": _("A stuck task was made due again"),
    "repair.expiry_restored": _("The end of the time for a decision was put back on the schedule"),
    "repair.reconcile_ordered": _("A check of the result was put back on the schedule"),
    "repair.version_moved": _("The case was moved to a newer version of its process"),
    "obligation.overdue": _("What was promised was not there in time"),
    "drift.found": _("The service now says something else than it confirmed"),
    "transition.refused": _("A forbidden change was refused"),
    "model.needs_check": _("The model misses facts; they are read again"),
    "model.rules_took_over": _("The model was not to be had; the rules proposed instead"),
    "model.gave_no_words": _("The model gave no explanation; the rules proposed without one"),
    "proposer.chosen": _("Another proposer was chosen"),
    "settlement.late": _("A result came after the case had moved on"),
    "hold.taken": _("Somebody took the case"),
    "hold.handed_over": _("The case was handed over"),
    "hold.released": _("The case was let go"),
    "note.added": _("A note was written"),
    "personal.revealed": _("A personal text was shown to a person"),
    "personal.refused": _("A personal text was asked for that is erased"),
    "personal.purged": _("The personal texts of the case were erased"),
}
#: What happens to an organisation rather than to a case.
ORGANISATION_EVENTS: dict[str, str] = {
    "organisation.created": _("The organisation was created"),
    "department.created": _("A department was created"),
    "role.granted": _("A role was granted"),
    "role.revoked": _("A role was revoked"),
    "role.grant_refused": _("Granting a role was refused"),
    "role.revoke_refused": _("Revoking a role was refused"),
    "platform.granted": _("A person became a platform operator"),
    "platform.revoked": _("A person is no longer a platform operator"),
    "person.created": _("A person was added"),
    "person.changed": _("A person was changed"),
    "person.enabled": _("A person was switched on"),
    "person.disabled": _("A person was switched off"),
    "person.password_set": _("A password was set"),
    "session.begun": _("A person signed in"),
    "session.ended": _("A session ended"),
    "sign_in.failed": _("A sign-in failed"),
    "sign_in.locked": _("Sign-in was locked after wrong passwords"),
    "service_account.created": _("A service account was created"),
    "service_account.switched_on": _("A service account was switched on"),
    "service_account.switched_off": _("A service account was switched off"),
    "service_account.owner_changed": _("A service account got another owner"),
    "token.issued": _("A token was issued"),
    "token.rotated": _("A token was replaced by a new one"),
    "token.revoked": _("A token was revoked"),
    "webhook_source.created": _("A source of webhooks was created"),
    "webhook_source.rotated": _("The secret of a source of webhooks was replaced"),
    "webhook_source.switched_on": _("A source of webhooks was switched on"),
    "webhook_source.switched_off": _("A source of webhooks was switched off"),
    "hook.created": _("A program that is told of cases was set up"),
    "hook.rotated": _("The secret of a program that is told of cases was replaced"),
    "hook.switched_on": _("A program that is told of cases was switched on"),
    "hook.switched_off": _("A program that is told of cases was switched off"),
    "hook.failing": _("A program could not be told of a case; it was given up"),
    "hook.sent_again": _("What a program was not told is sent again"),
    "hook.log_trimmed": _("Old lines of what a program was told were deleted"),
    "webhook.refused": _("A webhook was refused"),
    "pause.set": _("A pause was set"),
    "pause.prolonged": _("A pause was prolonged"),
    "pause.ended": _("A pause ended"),
    "bulk.ordered": _("An order for many cases was given"),
    "bulk.paused": _("An order for many cases was paused"),
    "bulk.resumed": _("An order for many cases goes on"),
    "bulk.cancelled": _("The rest of an order for many cases was cancelled"),
    "bulk.ended": _("An order for many cases was carried out"),
    "schedule.set": _("A schedule was set"),
    "schedule.switched_off": _("A schedule was switched off"),
    "schedule.left_out": _("Periods missed long ago were left out"),
    "repair.done": _("A repairing command was run"),
    "export.made": _("An export was taken out"),
    "document.opened": _("A document was opened"),
    "document.registered": _("A document was made"),
}
#: What happens to a notice is no change outside.
NOTICE_EVENTS: dict[str, str] = {
    "action.requested": _("Message handed over, not confirmed"),
    "action.unknown": _("No answer of the mail server: the result is unknown"),
    "action.confirmed": _("Message accepted by the mail server"),
    "action.not_applied": _("Message provably not accepted"),
    "action.refused": _("Message refused"),
    "action.cancelled": _("Message cancelled before it was sent"),
}
#: What two people established by hand was not said by the outside system.
HAND_EVENTS: dict[str, str] = {
    "case.effects_confirmed": _("Two people confirmed the change; the case goes on"),
    "case.effects_confirmed_without_notices": _("Two people confirmed the change"),
    "case.undone": _("Two people confirmed the undoing"),
    "case.undone_without_notices": _("Two people confirmed the undoing"),
    "case.effect_refused": _("Two people found that the change was not made"),
}
