"""The product's settings with outside systems that lie in the process itself and answer at once."""

from caseflow.settings import *  # noqa: F403
from caseflow.settings import ADAPTERS as _ADAPTERS
from caseflow.settings import CASEFLOW_LIMITS as _LIMITS

ADAPTERS = _ADAPTERS | {
    "payments": "tests.growth.outside.Payments",
    "subscriptions": "tests.growth.outside.Subscriptions",
    "mail": "tests.growth.outside.Mail",
}
CASEFLOW_UNDO_SECONDS = 0
#: Counted as ever, and never reached: a page is looked at more often than a person may.
CASEFLOW_LIMITS = {scope: (1_000_000, seconds) for scope, (_, seconds) in _LIMITS.items()}
