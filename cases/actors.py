"""The one Dramatiq actor. A message is an id, untrusted: reload, then check."""

from __future__ import annotations

import dramatiq

from .models.task import QUICK, SLOW
from .working import work_on

MAX_ID = 2**63 - 1


@dramatiq.actor(queue_name=QUICK)
def run_task(task_id: int) -> None:
    """Work on one task; a forged or unknown id moves nothing."""
    if isinstance(task_id, bool) or not isinstance(task_id, int) or not 0 < task_id <= MAX_ID:
        return
    work_on(task_id)


# The same actor serves the slow queue: the dispatcher names the queue with each message.
dramatiq.get_broker().declare_queue(SLOW)
