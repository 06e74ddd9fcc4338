"""Errors of the product. The docstring is the message; `code` is stable and language-neutral.

HTTP is mapped in one file only: `caseflow/api/errors.py`.
"""

from __future__ import annotations

from typing import Any, ClassVar


class CaseflowError(Exception):
    """Something in caseflow refused to go on."""

    code: ClassVar[str] = "caseflow_error"

    def __init__(self, **params: Any) -> None:
        self.params = params
        super().__init__(self.message)

    @property
    def message(self) -> str:
        text = (self.__doc__ or self.code).strip().splitlines()[0]
        try:
            return text.format(**self.params)
        except (KeyError, IndexError):
            return text


class BadInput(CaseflowError):
    """{path}: {problem}"""

    code = "bad_input"

    def __init__(self, *, code: str, path: str, problem: str, **params: Any) -> None:
        self.code = code  # type: ignore[misc]  # each kind of bad input has its own stable code
        super().__init__(path=path, problem=problem, **params)


class TooLarge(CaseflowError):
    """The request is larger than {limit} bytes."""

    code = "too_large"


class TooManyRequests(CaseflowError):
    """Too many requests; try again in {wait} seconds."""

    code = "too_many_requests"


class WebhookRefused(CaseflowError):
    """This delivery is not signed by anybody known here."""

    code = "webhook_refused"


class WebhookLate(CaseflowError):
    """The delivery is signed, but its moment is more than five minutes from the server's clock."""

    code = "webhook_late"


class NotFound(CaseflowError):
    """Nothing by this name is within your reach."""

    code = "not_found"


class NotPermitted(CaseflowError):
    """You do not have the right "{right}" here."""

    code = "not_permitted"


class IntakeConflict(CaseflowError):
    """The ticket {external_id} was accepted before with other content, as case {case}."""

    code = "intake_conflict"


class ForbiddenTransition(CaseflowError):
    """The event "{event}" is not allowed in state {state}."""

    code = "forbidden_transition"


class StaleCase(CaseflowError):
    """The case moved on: it was version {seen} when you looked and is version {current} now."""

    code = "stale_case"


class VersionMoved(CaseflowError):
    """The case moved on: you looked at version {seen}, and it is version {current} now."""

    code = "version_moved"


class RecoveryNotPossible(CaseflowError):
    """This recovery is not possible now: {reason}."""

    code = "recovery_not_possible"


class RecoveryWaits(CaseflowError):
    """The same is ordered already, as {recovery}, and waits for a second person."""

    code = "recovery_waits"


class RecoveryEnded(CaseflowError):
    """The order {recovery} waits for nobody any more: it is {status}."""

    code = "recovery_ended"


class SecondPersonNeeded(CaseflowError):
    """You ordered this yourself, so another person has to sign."""

    code = "second_person_needed"


class HeldByAnother(CaseflowError):
    """{person} has this case until {until}; take it over if you must."""

    code = "held_by_another"


class CaseIsClosed(CaseflowError):
    """The case is closed, so nobody works on it any more."""

    code = "case_is_closed"


class EditionOpen(CaseflowError):
    """The edition before is still under way, in case {case}."""

    code = "edition_open"


class BulkNotPossible(CaseflowError):
    """This is not possible for this bulk now: {reason}."""

    code = "bulk_not_possible"


class StaleSnapshot(CaseflowError):
    """The decision was not accepted: what you saw is not what is proposed now."""

    code = "stale_snapshot"


class AlreadyDecided(CaseflowError):
    """This proposal was decided before, by {person} at {at}."""

    code = "already_decided"


class ProposalExpired(CaseflowError):
    """This proposal could be decided until {valid_until}; nothing was sent."""

    code = "proposal_expired"


class NotDecidable(CaseflowError):
    """This proposal waits for no decision: the case is {state}."""

    code = "not_decidable"


class CauserMayNotDecide(CaseflowError):
    """You took part in this case, so another person has to decide."""

    code = "causer_may_not_decide"


class NotYourDecision(CaseflowError):
    """Only somebody whose approval was counted may withdraw it."""

    code = "not_your_decision"


class TooLateToWithdraw(CaseflowError):
    """The request {action} was handed over at {at}; it cannot be withdrawn any more."""

    code = "too_late_to_withdraw"


class OwnGrant(CaseflowError):
    """Nobody grants a role to themselves; another administrator has to."""

    code = "own_grant"


class LastAdministrator(CaseflowError):
    """An organisation keeps an administrator: make somebody else one first."""

    code = "last_administrator"


class LeaseLost(CaseflowError):
    """The lease of task {task} is held by another worker; nothing was written."""

    code = "lease_lost"


class SubjectBusy(CaseflowError):
    """Another case is changing {subject} right now."""

    code = "subject_busy"


class CallRefused(CaseflowError):
    """The call may not begin: {reason}."""

    code = "call_refused"


class Purged(CaseflowError):
    """The personal text of this case was deleted."""

    code = "purged"


class ProcessNotInstalled(CaseflowError):
    """This installation has no process {process} in version {version}."""

    code = "process_not_installed"


class BrokenProposal(CaseflowError):
    """The proposer's answer breaks a rule: {problem}."""

    code = "broken_proposal"
