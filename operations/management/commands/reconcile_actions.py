"""`manage.py reconcile_actions`: actions in doubt that nothing looks after any more are looked up again.

Only asks: nothing is sent, settled or resumed by this command. Exit codes: 0 done, 1 failed, 2 usage, 3 something
remains.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import connection

from accounts.principal import Actor
from caseflow.domain.errors import ForbiddenTransition
from caseflow.domain.lifecycle import Event, State
from cases.advancing import advance_case, record_event
from cases.bell import ring_after_commit
from cases.models import Installation
from cases.publishing import NewTask, publish
from cases.rows import lock_case
from cases.settling import started_by
from operations.models import Repair
from operations.repairing import Found, RepairCommand

_IN_DOUBT = """
SELECT a.id, a.public_id, a.organisation_id, a.kind, a.status, a.system, a.first_sent_at, c.id, c.public_id, c.state,
       c.plan_begun
FROM actions_action a JOIN cases_case c ON c.id = a.case_id
WHERE a.status IN ('REQUESTED', 'UNKNOWN') AND a.settled_at IS NULL AND c.closed_at IS NULL
  AND (%(organisations)s::bigint[] IS NULL OR a.organisation_id = ANY(%(organisations)s))
  AND (%(action)s::bigint IS NULL OR a.id = %(action)s)
  AND NOT EXISTS (SELECT FROM cases_task t
                  WHERE t.case_id = c.id AND t.subject = a.public_id AND t.generation = c.version
                    AND t.stage IN ('execute', 'reconcile', 'notify') AND t.status IN ('due', 'leased'))
ORDER BY a.id
"""


class Command(RepairCommand):
    name = "reconcile_actions"
    help = "Looks up again what became of actions whose result is unknown and that no task looks after."

    def find(self, organisations: list[int] | None) -> list[Found]:
        return [_found(*row) for row in _ask(organisations)]

    def repair(self, found: Found, repair: Repair, actor: Actor) -> bool:
        case = lock_case(found.case_id or 0)
        rows = _ask(None, action=found.about["id"])
        if not rows or not _found(*rows[0]).repairable:
            return False
        action = found.about["action"]
        facts = {"action": action, "repair": repair.pk, "os_account": repair.os_account}
        if case.state is State.NEEDS_ATTENTION:
            transition = case.definition.table.get(case.state, Event.RECONCILE_ORDERED)
            try:
                case = advance_case(case, Event.RECONCILE_ORDERED, actor=actor, facts=facts).case
            except ForbiddenTransition:
                return False
            publish(case, started_by(transition.starts, [NewTask("reconcile", subject=action)]))
        else:
            case = record_event(case, "repair.reconcile_ordered", actor=actor, facts=facts).case
            publish(case, [NewTask("reconcile" if found.about["kind"] == "effect" else "notify", subject=action)])
        ring_after_commit()
        return True

    def remarks(self) -> list[str]:
        home = Installation.objects.first()
        if home is None or home.installation_id != settings.CASEFLOW_INSTALLATION_ID:
            return ["This database belongs to another installation, so nothing is sent from here."]
        if home.restored:
            return [
                "This database was restored from a copy, so nothing is sent. When every result is settled, a person"
                " resumes; this command never does."
            ]
        return []


def _ask(organisations: list[int] | None, *, action: int | None = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(_IN_DOUBT, {"organisations": organisations, "action": action})
        rows: list[Any] = cursor.fetchall()
    return rows


def _found(
    id: int,
    action: str,
    organisation: int,
    kind: str,
    status: str,
    system: str,
    sent: Any,
    case_id: int,
    case: str,
    state: str,
    plan_begun: bool,
) -> Found:
    about = {
        "id": id,
        "action": action,
        "case": case,
        "kind": kind,
        "status": status,
        "system": system,
        "state": state,
        "sent_at": sent.isoformat() if sent else "",
    }
    if kind == "effect":
        repairable = state == State.EXECUTING or (state == State.NEEDS_ATTENTION and plan_begun)
    else:
        repairable = state in (State.NOTIFYING, State.WAITING_DATA)
    advice = "" if repairable else "Open the case: a person has to say what follows."
    return Found(organisation, case_id, "in doubt, and nothing looks after it", about, repairable, advice)
