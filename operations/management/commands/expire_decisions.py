"""`manage.py expire_decisions`: proposals whose time for a decision has no task that ends it get one again.

Exit codes: 0 done, 1 failed, 2 usage, 3 something remains.
"""

from __future__ import annotations

from typing import Any

from django.db import connection

from accounts.principal import Actor
from cases.advancing import record_event
from cases.bell import ring_after_commit
from cases.publishing import NewTask, publish
from cases.rows import lock_case
from operations.models import Repair
from operations.repairing import Found, RepairCommand

_MISSING = """
SELECT c.id, c.public_id, c.organisation_id, p.public_id, p.valid_until, p.valid_until <= clock_timestamp()
FROM cases_case c
JOIN LATERAL (SELECT p.public_id, p.valid_until FROM approvals_proposal p
              WHERE p.case_id = c.id AND p.has_effects AND p.needs_approval ORDER BY p.number DESC LIMIT 1) p ON true
WHERE c.state = 'WAITING_APPROVAL'
  AND (%(organisations)s::bigint[] IS NULL OR c.organisation_id = ANY(%(organisations)s))
  AND (%(case)s::bigint IS NULL OR c.id = %(case)s)
  AND NOT EXISTS (SELECT FROM cases_task t
                  WHERE t.case_id = c.id AND t.stage = 'expire' AND t.subject = p.public_id
                    AND t.generation = c.version AND t.status IN ('due', 'leased'))
ORDER BY c.id
"""


class Command(RepairCommand):
    name = "expire_decisions"
    help = "Puts the end of the time for a decision back on the schedule where it is missing."

    def find(self, organisations: list[int] | None) -> list[Found]:
        return [
            Found(
                organisation,
                case_id,
                "its time is over and nothing ends it" if past else "nothing will end its time",
                {"case": case, "proposal": proposal, "valid_until": until.isoformat()},
            )
            for case_id, case, organisation, proposal, until, past in _ask(organisations)
        ]

    def repair(self, found: Found, repair: Repair, actor: Actor) -> bool:
        case = lock_case(found.case_id or 0)
        rows = _ask(None, case=case.id)
        if not rows:
            return False
        _, _, _, proposal, until, _ = rows[0]
        facts = {"proposal": proposal, "repair": repair.pk, "os_account": repair.os_account}
        case = record_event(case, "repair.expiry_restored", actor=actor, facts=facts).case
        publish(case, [NewTask("expire", subject=proposal, at=until)])
        ring_after_commit()
        return True


def _ask(organisations: list[int] | None, *, case: int | None = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(_MISSING, {"organisations": organisations, "case": case})
        rows: list[Any] = cursor.fetchall()
    return rows
