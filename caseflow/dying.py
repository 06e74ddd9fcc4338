"""No process outlives the one that started it, not even after its kill -9."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent(parent_lives: Callable[[], bool]) -> None:
    """Have the kernel kill this process when its parent dies, or end now if that is dead already; Linux only."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if not parent_lives():
            os._exit(1)
