"""The sentences of errors for the catalogue: an error's docstring is its message, and gettext collects only literals.

A test holds this list equal to the docstrings.
"""

from __future__ import annotations

from caseflow.domain.words import gettext_noop as _

TEMPLATES: dict[str, str] = {
    "TooLarge": _("The request is larger than {limit} bytes."),
    "TooManyRequests": _("Too many requests; try again in {wait} seconds."),
    "WebhookRefused": _("This delivery is not signed by anybody known here."),
    "WebhookLate": _("The delivery is signed, but its moment is more than five minutes from the server's clock."),
    "NotFound": _("Nothing by this name is within your reach."),
    "NotPermitted": _('You do not have the right "{right}" here.'),
    "IntakeConflict": _("The ticket {external_id} was accepted before with other content, as case {case}."),
    "ForbiddenTransition": _('The event "{event}" is not allowed in state {state}.'),
    "StaleCase": _("The case moved on: it was version {seen} when you looked and is version {current} now."),
    "StaleSnapshot": _("The decision was not accepted: what you saw is not what is proposed now."),
    "AlreadyDecided": _("This proposal was decided before, by {person} at {at}."),
    "ProposalExpired": _("This proposal could be decided until {valid_until}; nothing was sent."),
    "NotDecidable": _("This proposal waits for no decision: the case is {state}."),
    "CauserMayNotDecide": _("You took part in this case, so another person has to decide."),
    "NotYourDecision": _("Only somebody whose approval was counted may withdraw it."),
    "TooLateToWithdraw": _("The request {action} was handed over at {at}; it cannot be withdrawn any more."),
    "OwnGrant": _("Nobody grants a role to themselves; another administrator has to."),
    "LastAdministrator": _("An organisation keeps an administrator: make somebody else one first."),
    "VersionMoved": _("The case moved on: you looked at version {seen}, and it is version {current} now."),
    "RecoveryNotPossible": _("This recovery is not possible now: {reason}."),
    "RecoveryWaits": _("The same is ordered already, as {recovery}, and waits for a second person."),
    "RecoveryEnded": _("The order {recovery} waits for nobody any more: it is {status}."),
    "SecondPersonNeeded": _("You ordered this yourself, so another person has to sign."),
    "ServiceNeverRecovers": _("Recoveries are ordered and signed by persons; a service account never does."),
    "HeldByAnother": _("{person} has this case until {until}; take it over if you must."),
    "CaseIsClosed": _("The case is closed, so nobody works on it any more."),
    "ServiceNeverHolds": _("A case is held by persons; a service account never holds one."),
    "EditionOpen": _("The edition before is still under way, in case {case}."),
    "BulkNotPossible": _("This is not possible for this bulk now: {reason}."),
    "SubjectBusy": _("Another case is changing {subject} right now."),
    "Purged": _("The personal text of this case was deleted."),
    "ProcessNotInstalled": _("This installation has no process {process} in version {version}."),
    "ServiceNeverDecides": _("Decisions are made by persons; a service account never decides or withdraws."),
}
