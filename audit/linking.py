"""The sealer: gives organisation events their number and hash in the order in which they were committed (design §10).

Organisation events are plain inserts, so that two people who are refused at once never wait for each other. A trigger
puts each into `WaitingEvent`; that row, and no watermark of ids, says that an event has no number yet: a slow
transaction may commit a lower id later. One sealer at a time numbers what waits; another one waits and finds nothing.
"""

from __future__ import annotations

from django.db import connection, transaction

from .bodies import chain_hash, first_link
from .models import OrganisationLink

SEALERS = 4_821_000_002  #: the key of the advisory lock that sealers take; one for the whole database
PORTION = 1_000  #: events numbered in one transaction

#: A sealer has the queue to itself, so a plain read of it is enough.
_WAITING = """
SELECT e.organisation_id, e.id, e.at_us, e.body FROM audit_waitingevent w JOIN audit_auditevent e ON e.id = w.event_id
ORDER BY w.event_id LIMIT %s
"""

_HEADS = """
SELECT DISTINCT ON (organisation_id) organisation_id, seq, hash FROM audit_organisationlink
WHERE organisation_id = ANY(%s) ORDER BY organisation_id, seq DESC
"""


def link_events(portion: int = PORTION) -> int:
    """Number at most `portion` waiting events, in a transaction of its own; how many there were."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [SEALERS])
        cursor.execute(_WAITING, [portion])
        waiting = cursor.fetchall()
        if not waiting:
            return 0
        cursor.execute(_HEADS, [list({organisation for organisation, *_ in waiting})])
        heads = {organisation: (seq, bytes(head)) for organisation, seq, head in cursor.fetchall()}
        links = []
        for organisation, event_id, at_us, body in waiting:
            seq, head = heads.get(organisation, (0, first_link(organisation)))
            heads[organisation] = seq + 1, chain_hash(head, at_us, bytes(body))
            seq, head = heads[organisation]
            links.append(OrganisationLink(organisation_id=organisation, seq=seq, event_id=event_id, hash=head))
        OrganisationLink.objects.bulk_create(links)
        cursor.execute("DELETE FROM audit_waitingevent WHERE event_id = ANY(%s)", [[link.event_id for link in links]])
    return len(links)


def link_all() -> int:
    """Number everything that waits now; how many events there were."""
    total = 0
    while done := link_events():
        total += done
        if done < PORTION:
            break
    return total
