"""Accepting a ticket: case, first intake revision, audit and the task to check it, in one transaction (A1, A8, A9)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from random import SystemRandom
from typing import Any
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction

from accounts.models import Organisation
from accounts.principal import Actor
from audit.bodies import event_body
from caseflow.domain.canonical import normalised
from caseflow.domain.errors import BadInput, IntakeConflict
from caseflow.domain.failpoints import failpoint
from caseflow.domain.identifiers import normalise_external_id, public_id
from caseflow.domain.lifecycle import State
from caseflow.domain.process import Process
from caseflow.statements import row_of

from .bell import ring_after_commit
from .models import Case
from .personal import Sealer, digest_of_personal
from .processes import newest_process, own_sources
from .publishing import NewTask, publish_soon
from .revisions import checked_intake, split_personal
from .rows import CaseRow

MAX_SOURCE = 64  #: characters
MAX_URL = 1000  #: characters
CLASHES = 5  #: public ids tried; one clash is about once in 10^15 cases

_rng = SystemRandom()

#: The conflict target is named: a bare DO NOTHING would also swallow a clash of the random public id.
_OPEN = """
WITH t AS MATERIALIZED (SELECT clock_timestamp() AS at),
u AS MATERIALIZED (SELECT at, (extract(epoch FROM at) * 1000000)::bigint AS us FROM t),
opened AS (
  INSERT INTO cases_case (public_id, organisation_id, department_id, process, process_version, source, external_id,
         external_id_normal, source_url, intake_digest, subject, state, version, state_since, reason, ending, outcome,
         plan_begun, effects_open, effects_done, returns, audit_count, audit_head, created_at)
  SELECT %(public_id)s, %(organisation)s, %(department)s, %(process)s, %(process_version)s, %(source)s, %(external_id)s,
         %(normal)s, %(source_url)s, %(digest)s, %(subject)s, %(state)s, 1, at, '', '', '', false, 0, 0, 0, 1,
         sha256(''::bytea || int8send(us) || %(body)s), at FROM u
  ON CONFLICT (organisation_id, source, external_id_normal) DO NOTHING
  RETURNING id, organisation_id, audit_head, created_at),
keyed AS (INSERT INTO cases_casekey (case_id, wrapped) SELECT id, %(wrapped)s FROM opened),
sealed AS (
  INSERT INTO cases_personaltext (case_id, field, ciphertext, at)
  SELECT id, s.*, created_at FROM opened, unnest(%(fields)s::text[], %(sealed)s::bytea[]) s),
told AS (
  INSERT INTO cases_intakerevision (case_id, number, body, digest, told_by_kind, told_by_id, told_by_person, at)
  SELECT id, 1, %(told)s::jsonb, %(told_digest)s, %(actor_kind)s, %(actor_id)s, %(actor_person)s::bigint, created_at
  FROM opened)
INSERT INTO audit_auditevent (organisation_id, case_id, seq, kind, actor_kind, actor_id, from_state, to_state, version,
                              at, at_us, body, hash)
SELECT organisation_id, id, 1, 'case.opened', %(actor_kind)s, %(actor_id)s, '', %(state)s, 1, at, us, %(body)s,
       audit_head FROM opened, u RETURNING case_id, at
"""


@dataclass(frozen=True, slots=True)
class Opened:
    """The case of a ticket; `created` is false when the same ticket had been accepted before."""

    case: Case
    created: bool


@dataclass(frozen=True, slots=True)
class Ticket:
    """A checked request to open a case."""

    process: Process
    source: str
    external_id: str
    normal: str
    source_url: str
    intake: Mapping[str, Any]
    digest: str


def open_case(
    *,
    organisation: Organisation,
    process: str,
    source: str,
    external_id: str,
    intake: Any,
    actor: Actor,
    source_url: str = "",
    department_id: int | None = None,
    from_outside: bool = True,
) -> Opened:
    """Open a case, or find the one that the same ticket opened before.

    `from_outside` is false where a service of ours made the intake itself. Raises BadInput(code, path, problem), and
    IntakeConflict(external_id, case) where it came with other content.
    """
    ticket = check_ticket(
        process=process,
        source=source,
        external_id=external_id,
        intake=intake,
        source_url=source_url,
        department_id=department_id,
    )
    if from_outside and not ticket.process.from_outside:
        raise BadInput(code="not_from_outside", path="$.process", problem="nobody opens such a case from outside")
    if from_outside and ticket.source in own_sources():
        # It would take the name of a ticket that we have not written yet, and ours could never be opened.
        raise BadInput(code="own_source", path="$.source", problem="tickets of this source are written here only")
    for _attempt in range(CLASHES):
        try:
            with transaction.atomic():
                opened = _insert(ticket, organisation, department_id, actor)
                if opened is not None:
                    ring_after_commit()
                failpoint("intake.before_commit", ticket.external_id)
            if opened is not None:
                failpoint("intake.after_commit", ticket.external_id)
                return opened
        except IntegrityError as error:
            if "cases_case_public_id" not in str(error):
                raise
            continue
        return _existing(ticket, organisation)
    raise RuntimeError("no free public id was found")


def check_ticket(
    *,
    process: str,
    source: str,
    external_id: str,
    intake: Any,
    source_url: str = "",
    department_id: int | None = None,
) -> Ticket:
    """Everything that can be said of a request without the database. Raises BadInput."""
    normalised({"process": process, "source": source, "external_id": external_id, "source_url": source_url})
    for name, value, limit in (
        ("process", process, 64),
        ("source", source, MAX_SOURCE),
        ("source_url", source_url, MAX_URL),
    ):
        if not isinstance(value, str):
            raise BadInput(code="wrong_type", path=f"$.{name}", problem="text is needed")
        if len(value) > limit:
            raise BadInput(code="too_long", path=f"$.{name}", problem=f"longer than {limit} characters")
    if not isinstance(external_id, str):
        raise BadInput(code="wrong_type", path="$.external_id", problem="text is needed")
    if not source.strip():
        raise BadInput(code="empty", path="$.source", problem="the source system's name is needed")
    if not source.isprintable():
        raise BadInput(code="control_character", path="$.source", problem="a character that cannot be printed")
    if source_url and not _is_plain_link(source_url):
        raise BadInput(code="wrong_format", path="$.source_url", problem="a link begins with https:// and names a host")
    definition = newest_process(process)
    # The digest is over what was received, so that a schema default never makes a false conflict (design §5).
    received = {"process": process, "intake": intake, "source_url": source_url, "department": department_id}
    digest = digest_of_personal(received)
    return Ticket(
        process=definition,
        source=source.strip(),
        external_id=external_id,
        normal=normalise_external_id(external_id),
        source_url=source_url,
        intake=checked_intake(definition, intake),
        digest=digest,
    )


def _is_plain_link(link: str) -> bool:
    """A web address without a name in front of its host, which would pass for another host."""
    if not link.isprintable() or " " in link:
        return False
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    return parts.scheme in ("https", "http") and bool(parts.hostname) and parts.username is None


def _insert(ticket: Ticket, organisation: Organisation, department_id: int | None, actor: Actor) -> Opened | None:
    process = ticket.process
    name = public_id("C", _rng)
    facts = {"process": process.slug, "process_version": process.version, "source": ticket.source, "case": name}
    subject = process.subject(ticket.intake)[:200]
    parameters: dict[str, Any] = {
        "public_id": name,
        "organisation": organisation.pk,
        "department": department_id,
        "process": process.slug,
        "process_version": process.version,
        "source": ticket.source,
        "external_id": ticket.external_id,
        "normal": ticket.normal,
        "source_url": ticket.source_url,
        "digest": ticket.digest,
        "subject": subject,
        "state": State.RECEIVED.value,
        "actor_kind": actor.kind,
        "actor_id": actor.id,
        "body": event_body("case.opened", actor=actor, facts=facts, to_state=State.RECEIVED, version=1),
    }
    row = row_of(_OPEN, parameters | _told_first(ticket, actor))
    if row is None:
        return None
    case_id, at = row
    case = Case(
        id=case_id,
        public_id=name,
        organisation=organisation,
        department_id=department_id,
        process=process.slug,
        process_version=process.version,
        source=ticket.source,
        external_id=ticket.external_id,
        external_id_normal=ticket.normal,
        source_url=ticket.source_url,
        intake_digest=ticket.digest,
        subject=subject,
        state=State.RECEIVED.value,
        version=1,
        state_since=at,
        created_at=at,
    )
    publish_soon(CaseRow.of_case(case), [NewTask("check")])
    return Opened(case, created=True)


def _told_first(ticket: Ticket, actor: Actor) -> dict[str, Any]:
    """The first revision: what is personal of it goes apart, sealed by the case's own key."""
    sealer, wrapped = Sealer.new()
    body, texts = split_personal(ticket.process, ticket.intake)
    return {
        "wrapped": wrapped,
        "fields": list(texts),
        "sealed": [sealer.seal(field, text) for field, text in texts.items()],
        "told": json.dumps(body),
        "told_digest": digest_of_personal(ticket.intake),
        "actor_person": actor.person_id,
    }


def _existing(ticket: Ticket, organisation: Organisation) -> Opened:
    # A new statement: the loser of two concurrent inserts sees the winner's row only now.
    case = Case.objects.select_related("organisation").get(
        organisation=organisation, source=ticket.source, external_id_normal=ticket.normal
    )
    if case.intake_digest != ticket.digest:
        raise IntakeConflict(external_id=ticket.external_id, case=case.public_id)
    return Opened(case, created=False)
