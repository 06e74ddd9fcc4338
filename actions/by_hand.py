"""What persons establish about an effect in doubt: on a look-up's evidence, or two of them on what they saw outside.

The caller holds the case, has checked who may say so, and counts the guard columns.
"""

from __future__ import annotations

from caseflow.domain.outcomes import Confirmed, NotApplied, Refused

from .models import ActionStatus
from .storing import end_lost_calls, store_outcome

FOUND_NOT_DONE = "found_not_done"  #: the action's code where two people found that nothing had happened
ACCEPTED = "accepted_not_applied"  #: … where a look-up's "not applied" was accepted


def found_done(action_id: int) -> None:
    """Two people saw the change in the outside system."""
    end_lost_calls(action_id)
    store_outcome(action_id, "", Confirmed(), status=ActionStatus.CONFIRMED, confirmed_by="hand", settled=True)


def found_not_done(action_id: int) -> None:
    """Two people saw that the change was not made, and it can no longer be."""
    end_lost_calls(action_id)
    store_outcome(action_id, "", Refused(FOUND_NOT_DONE), status=ActionStatus.REFUSED, settled=True)


def accepted_not_applied(action_id: int) -> None:
    """The look-up that denies it stands beside the action."""
    store_outcome(action_id, "", NotApplied(ACCEPTED), status=ActionStatus.REFUSED, settled=True)
