"""The product's settings with outside systems that lie in the process itself and answer at once."""

from caseflow.settings import *  # noqa: F403
from caseflow.settings import ADAPTERS as _ADAPTERS

ADAPTERS = _ADAPTERS | {
    "payments": "tests.growth.outside.Payments",
    "subscriptions": "tests.growth.outside.Subscriptions",
    "mail": "tests.growth.outside.Mail",
}
CASEFLOW_UNDO_SECONDS = 0
