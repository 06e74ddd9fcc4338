"""The one Dramatiq actor. A message is an id, or a bunch of ids, untrusted: reload, then check."""

from __future__ import annotations

import dramatiq

from caseflow import traces

from .dispatching import BUNCH
from .models.task import QUICK, SLOW
from .working import work_on

MAX_ID = 2**63 - 1


@dramatiq.actor(queue_name=QUICK)
def run_task(task_id: int | list[int]) -> None:
    """Work on one task, or on a bunch one after the other; a forged or unknown id moves nothing."""
    several = task_id if isinstance(task_id, list) else [task_id]
    if len(several) > BUNCH:
        return
    for one in several:
        if not isinstance(one, bool) and isinstance(one, int) and 0 < one <= MAX_ID:
            traces.unbind()  # each of a bunch is a piece of work of its own
            traces.bind(task_id=one)
            work_on(one)


# The same actor serves the slow queue: the dispatcher names the queue with each message.
dramatiq.get_broker().declare_queue(SLOW)
