"""Every function call of a worker while it works on messages, counted by cProfile: `--calls` of the benchmark.

CASEFLOW_BENCH_CALLS names the file; it is written when the worker stops. Exact counts, times dearer than they are.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import threading
from typing import Any

from dramatiq import Middleware


class CountCalls(Middleware):
    def __init__(self) -> None:
        self._own = threading.local()
        self._lock = threading.Lock()
        self._all: list[cProfile.Profile] = []

    def before_process_message(self, broker: Any, message: Any) -> None:
        profile = getattr(self._own, "profile", None)
        if profile is None:
            profile = self._own.profile = cProfile.Profile()
            with self._lock:
                self._all.append(profile)
        profile.enable()

    def after_process_message(self, broker: Any, message: Any, *, result: Any = None, exception: Any = None) -> None:
        self._own.profile.disable()

    def after_worker_shutdown(self, broker: Any, worker: Any) -> None:
        if not self._all:
            return
        with open(os.environ["CASEFLOW_BENCH_CALLS"], "w", encoding="utf-8") as file:
            found = pstats.Stats(*self._all, stream=file)
            for order in ("tottime", "cumulative"):
                found.sort_stats(order).print_stats(60)
