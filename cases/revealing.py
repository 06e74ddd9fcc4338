"""Showing one personal text to one person who may see it: recorded, field by field (design §9, §10)."""

from __future__ import annotations

import re

from django.db import transaction

from accounts import access
from accounts.principal import Principal, actor_of
from caseflow.domain.errors import NotFound, NotPermitted, Purged
from caseflow.domain.roles import Right

from .advancing import record_event
from .models import Case
from .personal import read_texts
from .rows import CaseRow

#: Names of fields are ours: `intake.claim`, `fact.customer.email`, `decision.P-….7.reject`.
FIELD = re.compile(r"[A-Za-z0-9_.-]{1,80}")


def reveal(*, case: Case, field: str, person: Principal) -> str:
    """The newest text of one field of a case in sight.

    Raises NotPermitted, which is recorded; NotFound for a field that the case does not have; Purged. That a text was
    shown is recorded in a short transaction of its own after it was read: a text that cannot be put on record is not
    shown, and nothing that is only read waits for a writer.
    """
    row, actor = CaseRow.of_case(case), actor_of(person)
    if not FIELD.fullmatch(field):
        raise NotFound
    try:
        access.require(person, case.organisation_id, Right.REVEAL)
    except NotPermitted:
        with transaction.atomic(durable=True):
            record_event(row, "access.refused", actor=actor, facts={"right": Right.REVEAL.value, "field": field})
        raise
    try:
        text = read_texts(case.pk, [field]).get(field)
    except Purged:
        with transaction.atomic(durable=True):
            record_event(row, "personal.refused", actor=actor, facts={"field": field, "code": Purged.code})
        raise
    if text is None:
        raise NotFound
    with transaction.atomic(durable=True):
        record_event(row, "personal.revealed", actor=actor, facts={"field": field})
    return text
