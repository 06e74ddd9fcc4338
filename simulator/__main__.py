"""`python -m simulator --port P --ledger FILE`: the outside world, until it is told to end."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import Any

from simulator.ledger import Ledger
from simulator.server import run
from simulator.world import World

DAY = 86400.0  #: seconds


def main() -> int:
    parser = argparse.ArgumentParser(prog="simulator", description="Outside systems for tests and the demo.")
    parser.add_argument("--port", type=int, required=True, help="0 takes a free one")
    parser.add_argument("--ledger", required=True, help="SQLite file; made when missing")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--key-life", type=float, default=DAY, help="seconds an idempotency key is honoured")
    options = parser.parse_args()
    ledger = Ledger(options.ledger)

    def end(signum: int, frame: Any) -> None:
        raise SystemExit(0)

    def ready(port: int) -> None:
        print(f"simulator ready on http://{options.host}:{port}", flush=True)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    try:
        run(options.host, options.port, World(ledger, options.key_life), ready)
    finally:
        ledger.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
