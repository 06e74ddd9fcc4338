"""The product's settings with outside systems that live in the worker's own process."""

from __future__ import annotations

import os

from caseflow.settings import *  # noqa: F403
from caseflow.settings import ADAPTERS, DRAMATIQ_BROKER

if os.environ.get("CASEFLOW_BENCH_OUTSIDE") != "http":
    ADAPTERS = {
        **ADAPTERS,
        "payments": "tests.bench.adapters.Payments",
        "subscriptions": "tests.bench.adapters.Subscriptions",
        "mail": "tests.bench.adapters.Mail",
    }

if os.environ.get("CASEFLOW_BENCH_CALLS"):
    DRAMATIQ_BROKER = {
        **DRAMATIQ_BROKER,
        "MIDDLEWARE": [*DRAMATIQ_BROKER["MIDDLEWARE"], "tests.bench.calls.CountCalls"],
    }
