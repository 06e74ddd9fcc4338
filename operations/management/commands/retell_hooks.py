"""`manage.py retell_hooks`: what programs outside were not told, because it was given up, is sent again.

Exit codes: 0 done, 1 failed, 2 usage, 3 something remains. Only the newest 1 000 are looked at in one run.
"""

from __future__ import annotations

from accounts.principal import Actor
from caseflow.domain.roles import Right
from operations.hook_models import HookDelivery
from operations.hooks import given_up, send_again
from operations.models import Repair
from operations.repairing import Found, RepairCommand

AT_ONCE = 1_000  #: rows


class Command(RepairCommand):
    name = "retell_hooks"
    right = Right.ADMINISTER
    help = "Sends again what programs that are told of cases were not told."

    def find(self, organisations: list[int] | None) -> list[Found]:
        rows = HookDelivery.objects.filter(hook__is_active=True)
        if organisations is not None:
            rows = rows.filter(hook__organisation__in=organisations)
        # Oldest first, so that the changes of one case come in their order.
        return [_found(row) for row in sorted(given_up(rows).order_by("-pk")[:AT_ONCE], key=lambda row: row.pk)]

    def repair(self, found: Found, repair: Repair, actor: Actor) -> bool:
        return send_again(delivery=HookDelivery.objects.get(pk=found.about["delivery"]), by=actor)


def _found(row: HookDelivery) -> Found:
    about = {
        "delivery": row.pk,
        "hook": row.hook.public_id,
        "case": row.case.public_id,
        "version": row.version,
        "answer": row.answer or "",
        "code": row.code,
    }
    # The case itself is not touched, so nothing of it is locked.
    return Found(row.hook.organisation_id, None, "given up", about)
