"""Telling staff by mail what waits for them: regular work, best effort, once a person, kind and subject.

Nothing rests on it: what waits stands in the console. A mail holds a public id and a link, never a customer's data, and
decides nothing. A copied or restored installation tells nobody (design §5).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core import mail
from django.db.models import Exists, OuterRef
from django.utils import translation
from django.utils.translation import gettext

from accounts.models import StaffNotice
from accounts.telling import Wanted, people_with, store_wanted
from actions.models import Action, ActionKind, ActionStatus
from approvals.models import Decision, Proposal
from caseflow.domain.lifecycle import State
from caseflow.domain.notices import STAFF_NOTICES
from caseflow.domain.notices import StaffNotice as Kind
from caseflow.domain.roles import Right
from cases.claiming import Lease
from cases.holding import holders_of
from cases.models.task import SLOW
from cases.rows import database_now
from cases.settling import settlement
from cases.stages import Stage, register

from .installing import installation_stand

STAGE = "tell_staff"
AT_ONCE = 500  #: subjects of one kind that are looked at in one run
EXPIRES_WITHIN = timedelta(hours=2)  #: before the end of the time for a decision
RETURNED_WITHIN = timedelta(days=1)  #: older news are no news
UNKNOWN_AFTER = timedelta(minutes=15)  #: the reconciler finds out most results sooner
PORTION = timedelta(seconds=20)  #: of sending, well within the stage's limit; the rest is sent by the next run

log = logging.getLogger(__name__)


def tell_staff(lease: Lease) -> Lease | None:
    """One run. Whatever becomes of the mail, the task is done: the next run tries what was not begun."""
    if settings.CASEFLOW_STAFF_MAIL and not installation_stand().held:
        now = database_now()
        store_wanted(find_wanted(now), at=now)
        send_unsent()
    with settlement(lease) as settling:
        pass
    return settling.next_lease


def find_wanted(now: datetime) -> Iterator[Wanted]:
    """Everything that somebody should know of now, told before or not; a fixed number of queries."""
    yield from _waiting(now)
    yield from _returned(now)
    yield from _unknown(now)


def send_unsent() -> int:
    """Send what is written down and was not begun; how many mails the server took."""
    ends, sent = time.monotonic() + PORTION.total_seconds(), 0
    rows = StaffNotice.objects.filter(outcome="").select_related("person").order_by("pk")[:AT_ONCE]
    for row in rows:
        if time.monotonic() > ends:
            break
        # Marked first: a run that dies here has told nobody twice.
        mine = StaffNotice.objects.filter(pk=row.pk, outcome="").update(outcome=StaffNotice.Outcome.SENT)
        if not mine:
            continue
        try:
            letter_of(row).send()
        except (OSError, SMTPException) as error:
            StaffNotice.objects.filter(pk=row.pk).update(outcome=StaffNotice.Outcome.FAILED)
            log.warning("the mail server took no notice %s: %s", row.pk, type(error).__name__)
        else:
            StaffNotice.objects.filter(pk=row.pk).update(sent_at=database_now())
            sent += 1
    return sent


def letter_of(row: StaffNotice) -> mail.EmailMessage:
    """In the language of its reader; a sentence with a public id, and the link to the page."""
    page = "actions" if row.kind == Kind.UNKNOWN else "approvals"
    link = f"{settings.CASEFLOW_BASE_URL.rstrip('/')}/console/{page}/{row.subject}/"
    with translation.override(row.person.language):
        sentence = gettext(STAFF_NOTICES[Kind(row.kind)].help).format(id=row.subject)
        more = gettext("Which notices you get is chosen in your preferences.")
        return mail.EmailMessage(
            subject=f"Caseflow: {sentence}", body=f"{sentence}\n\n{link}\n\n{more}\n", to=[row.person.email]
        )


def _waiting(now: datetime) -> Iterator[Wanted]:
    newer = Proposal.objects.filter(case=OuterRef("case"), has_effects=True, number__gt=OuterRef("number"))
    rows = Proposal.objects.filter(
        ~Exists(newer),
        case__state=State.WAITING_APPROVAL.value,
        needs_approval=True,
        has_effects=True,
        valid_until__gt=now,
    )
    plans = list(rows.select_related("case").defer("snapshot").order_by("valid_until", "pk")[:AT_ONCE])
    deciders = people_with(Right.DECIDE, {plan.case.organisation_id for plan in plans})
    counted = set(
        Decision.objects.filter(proposal__in=plans, kind=Decision.Kind.APPROVE).values_list("proposal_id", "person_id")
    )
    for plan in plans:
        ends = plan.valid_until is not None and plan.valid_until - now <= EXPIRES_WITHIN
        for person_id in sorted(deciders.get(plan.case.organisation_id, frozenset()) - set(plan.causers)):
            if (plan.pk, person_id) not in counted:
                kind = Kind.EXPIRES if ends else Kind.WAITS
                yield Wanted(person_id, plan.case.organisation_id, kind, plan.public_id)


def _returned(now: datetime) -> Iterator[Wanted]:
    """To whoever has the case, or to everybody who may work on it."""
    rows = Decision.objects.filter(kind=Decision.Kind.RETURN, at__gt=now - RETURNED_WITHIN)
    returns = list(rows.select_related("proposal__case").defer("proposal__snapshot").order_by("-pk")[:AT_ONCE])
    workers = people_with(Right.SUPPLY_DATA, {one.proposal.case.organisation_id for one in returns})
    holders = holders_of({one.proposal.case_id for one in returns})
    for one in returns:
        case, holder = one.proposal.case, holders.get(one.proposal.case_id)
        able = workers.get(case.organisation_id, frozenset())
        told = able & {holder.person_id} if holder is not None else able
        for person_id in sorted(told - {one.person_id}):
            yield Wanted(person_id, case.organisation_id, Kind.RETURNED, one.proposal.public_id)


def _unknown(now: datetime) -> Iterator[Wanted]:
    rows = Action.objects.filter(
        kind=ActionKind.EFFECT, status=ActionStatus.UNKNOWN, first_sent_at__lt=now - UNKNOWN_AFTER
    )
    doubtful = list(rows.order_by("pk").values_list("public_id", "organisation_id")[:AT_ONCE])
    recoverers = people_with(Right.RECOVER, {organisation_id for _, organisation_id in doubtful})
    for public_id, organisation_id in doubtful:
        for person_id in sorted(recoverers.get(organisation_id, frozenset())):
            yield Wanted(person_id, organisation_id, Kind.UNKNOWN, public_id)


register(Stage(STAGE, tell_staff, carries=False, queue=SLOW))
