"""The spine: what is known of a case, the work for it, and what may hold it up."""

from .case import Case, IntakeRevision, Observation
from .ended import Ended, EndedCount
from .holding import Hold, Note
from .personal import CaseKey, PersonalText
from .platform import Installation, Pause, Schedule, WorkerBeat
from .task import Attempt, Task
from .webhooks import WebhookEvent, WebhookSecret, WebhookSource

__all__ = [
    "Attempt",
    "Case",
    "CaseKey",
    "Ended",
    "EndedCount",
    "Hold",
    "Installation",
    "IntakeRevision",
    "Note",
    "Observation",
    "Pause",
    "PersonalText",
    "Schedule",
    "Task",
    "WebhookEvent",
    "WebhookSecret",
    "WebhookSource",
    "WorkerBeat",
]
