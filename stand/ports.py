"""Free ports on 127.0.0.1."""

import random
import socket

#: Below the range from which the kernel takes ports for outgoing connections.
LOWEST, HIGHEST = 20_000, 32_000


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
    """Return the preferred port if it is free, else a random free one."""
    if preferred and is_free(preferred):
        return preferred
    # Random, so that two checkouts that start in the same moment hardly ever choose the same.
    chance = random.SystemRandom()
    for _ in range(200):
        port = chance.randint(LOWEST, HIGHEST)
        if is_free(port):
            return port
    raise RuntimeError("No free port on 127.0.0.1.")
