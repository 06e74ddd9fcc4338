"""Free ports on 127.0.0.1."""

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path

#: Below the range from which the kernel takes ports for outgoing connections.
LOWEST, HIGHEST = 20_000, 32_000

_claims: dict[int, int] = {}  #: open file by port; the kernel lets go of its lock when this process ends


def is_free(port: int) -> bool:
    """Tell whether a server could listen on this port of 127.0.0.1 now."""
    with socket.socket() as probe:
        # As servers do, so that connections of a former run that linger in TIME_WAIT do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port(preferred: int = 0) -> int:
    """Return the preferred port if it is free, else a random free one. No other stand gets it while this one lives."""
    if preferred and is_free(preferred) and _claim(preferred):
        return preferred
    chance = random.SystemRandom()
    for _ in range(200):
        port = chance.randint(LOWEST, HIGHEST)
        if is_free(port) and _claim(port):
            return port
    raise RuntimeError("No free port on 127.0.0.1.")


def _claim(port: int) -> bool:
    """Keep the port for this stand: its server listens only seconds later, and another stand may choose meanwhile."""
    if port in _claims:
        return True
    folder = Path(tempfile.gettempdir()) / f"caseflow-ports-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        file = os.open(folder / str(port), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:
        return True  # no place for claims: as good as it was without them
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return False
    _claims[port] = file
    return True
