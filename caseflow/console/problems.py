"""What a refusal is on a page: its HTTP status, a title and a translated sentence, by the error's stable code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from caseflow.domain import recovery_words
from caseflow.domain.errors import CaseflowError

from . import words
from .moments import moment_text


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal as a page tells it."""

    status: int
    code: str
    title: str
    sentence: str


_CHANGED = gettext_lazy("Decision not accepted: the data has changed")
_NOT_ACCEPTED = gettext_lazy("The decision was not accepted")

_KNOWN: dict[str, tuple[int, Promise, Promise]] = {
    "stale_snapshot": (409, _CHANGED, gettext_lazy("Nothing was sent. Look at the changes, then decide again.")),
    "stale_case": (
        409,
        _CHANGED,
        gettext_lazy("The case was version %(seen)s when you looked and is version %(current)s now. Nothing was sent."),
    ),
    "already_decided": (
        409,
        gettext_lazy("This proposal is decided already"),
        gettext_lazy("%(person)s decided on it: %(decision)s, %(at)s. Your decision was not counted."),
    ),
    "proposal_expired": (
        409,
        gettext_lazy("The time for this decision has run out"),
        gettext_lazy("This request expired on %(valid_until)s. Nothing was sent. Ask for a new proposal to continue."),
    ),
    "not_decidable": (
        409,
        gettext_lazy("This proposal waits for no decision"),
        gettext_lazy("The case is now in the state “%(state)s”. Nothing was changed by your press."),
    ),
    "causer_may_not_decide": (
        403,
        gettext_lazy("Another person has to decide"),
        gettext_lazy("You took part in this case: who opens a case or supplies its data does not decide on it."),
    ),
    "too_late_to_withdraw": (
        409,
        gettext_lazy("Too late to withdraw"),
        gettext_lazy("Request %(action)s went to execution at %(at)s. Follow the result in the case."),
    ),
    "not_your_decision": (
        403,
        gettext_lazy("This decision is not yours"),
        gettext_lazy("Only somebody whose approval was counted may withdraw it."),
    ),
    "forbidden_transition": (
        409,
        _NOT_ACCEPTED,
        gettext_lazy("This is not possible while the case is in the state “%(state)s”."),
    ),
    "held_by_another": (
        409,
        gettext_lazy("Somebody else has this case"),
        gettext_lazy("%(person)s has it until %(until)s. Talk to them, or take it over; that is put on record."),
    ),
    "edition_open": (
        409,
        gettext_lazy("The edition before is not finished"),
        gettext_lazy("It is still under way, in case %(case)s. Bring that case to its end first."),
    ),
    "case_is_closed": (
        409,
        gettext_lazy("The case is closed"),
        gettext_lazy("Nobody works on a closed case. A note can still be written."),
    ),
    "own_grant": (
        403,
        gettext_lazy("Another administrator has to grant it"),
        gettext_lazy("Nobody grants a role to themselves."),
    ),
    "last_administrator": (
        409,
        gettext_lazy("The last administrator stays"),
        gettext_lazy("An organisation keeps an administrator: make somebody else one first."),
    ),
    "version_moved": (
        409,
        gettext_lazy("Not carried out: the case moved on"),
        gettext_lazy("You looked at version %(seen)s of the case; it is version %(current)s now. Nothing was changed."),
    ),
    "recovery_not_possible": (
        409,
        gettext_lazy("This is not possible now"),
        gettext_lazy("%(reason)s Nothing was changed by your press."),
    ),
    "recovery_waits": (
        409,
        gettext_lazy("This is ordered already"),
        gettext_lazy("Order %(recovery)s waits for a second person."),
    ),
    "recovery_ended": (
        409,
        gettext_lazy("This order waits for nobody any more"),
        gettext_lazy("Order %(recovery)s: %(status)s. Nothing was changed by your press."),
    ),
    "second_person_needed": (
        403,
        gettext_lazy("Another person has to sign"),
        gettext_lazy("You ordered this yourself. Somebody else has to look and sign."),
    ),
    "not_permitted": (
        403,
        gettext_lazy("You do not have this right here"),
        gettext_lazy("The right needed is “%(right)s”. The organisation's administrator can grant it."),
    ),
}

_INPUT: dict[str, Promise] = {
    "missing": gettext_lazy("This is needed."),
    "empty": gettext_lazy("This is needed."),
    "too_long": gettext_lazy("This is too long."),
    "wrong_format": gettext_lazy("Only letters, digits and . _ : - are allowed, beginning with a letter or a digit."),
    "unknown_holder": gettext_lazy("This person may not work on the case."),
    "bad_address": gettext_lazy("This is no address that something can be sent to."),
    "not_https": gettext_lazy("Only https is sent to."),
    "not_public": gettext_lazy("This address is not one of the public internet."),
    "host_not_allowed": gettext_lazy("This installation may not send to this host. Who looks after it can allow it."),
    "too_many_hooks": gettext_lazy("There are as many of them as one organisation may have."),
    "name_taken": gettext_lazy("This name is used already."),
    "wrong_type": gettext_lazy("This has another form than expected."),
    "unknown_field": gettext_lazy("This field is not known."),
    "nul": gettext_lazy("This holds a character that is not allowed."),
    "control_character": gettext_lazy("This holds a character that is not allowed."),
    "lone_surrogate": gettext_lazy("This holds a character that is not allowed."),
    "not_used": gettext_lazy("This is not used here."),
    "past": gettext_lazy("This moment is over."),
    "unchanged": gettext_lazy("These values are known already. Order to check again instead."),
    "unknown_department": gettext_lazy("This organisation has no such department."),
    "unknown_kind": gettext_lazy("There is no report about this."),
    "malformed_period": gettext_lazy("A day is written 2026-10-01, a week 2026-W40, a month 2026-10."),
    "future_period": gettext_lazy("This period has not begun yet."),
    "open_period": gettext_lazy("This period is not over yet, in the organisation's time zone."),
    "no_recipients": gettext_lazy("Somebody has to be told, and nobody may open the documents of this department."),
    "unknown_recipient": gettext_lazy("Nobody of this organisation has this sign-in name."),
    "too_many": gettext_lazy("These are too many."),
    "unknown_zone": gettext_lazy("No time zone has this name."),
    "one_clock": gettext_lazy("Give either a time of day or a cron line."),
    "malformed_time": gettext_lazy("A time of day is written 08:00."),
    "cron_malformed": gettext_lazy("This is no cron line of five fields."),
    "cron_never": gettext_lazy("This cron line never fires: no day ever fits it."),
    "not_from_outside": gettext_lazy("What such a case is about is not changed by anybody."),
    "own_source": gettext_lazy("Tickets of this source are written here only."),
    "bad_digest": gettext_lazy("The form is incomplete. Open the proposal again and decide there."),
}


def problem_of(error: CaseflowError) -> Problem:
    """The refusal in the reader's language."""
    known = _KNOWN.get(error.code)
    if known is None:
        return Problem(400, error.code, gettext("This was not accepted"), input_sentence(error.code))
    status, title, sentence = known
    return Problem(status, error.code, str(title), str(sentence) % _Told(error.params))


def input_sentence(code: str) -> str:
    """What is wrong with a field."""
    return str(_INPUT.get(code, gettext_lazy("This value is not valid.")))


class _Told(dict[str, str]):
    """The parameters of an error in words; one that is missing is a dash, never a second error."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        super().__init__({name: _tell(name, value) for name, value in params.items()})

    def __missing__(self, name: str) -> str:
        return "–"


def _tell(name: str, value: Any) -> str:
    if name in ("at", "valid_until", "until"):
        return moment_text(datetime.fromisoformat(value)) if isinstance(value, str) else moment_text(value)
    if name == "state":
        return words.state_word(str(value)).label
    if name == "decision":
        return str(words.DECISIONS.get(value, value)).lower()
    if name == "reason" and value in recovery_words.REASONS:
        return gettext(recovery_words.REASONS[value])
    if name == "status" and value in recovery_words.STATUSES:
        return gettext(recovery_words.STATUSES[value])
    if name == "right":
        return str(words.RIGHTS.get(value, value))
    return str(value)
