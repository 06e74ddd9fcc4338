"""`python -m stand.manage COMMAND ...`: one of the product's commands against the demo of this checkout."""

import os
import socket
import sys
from collections.abc import Sequence
from urllib.parse import urlsplit

from stand.environment import CHECKOUT, FOLDER, load_or_make_secrets, remembered_demo

USAGE = 2  #: exit code
#: These words ask for help, which needs no server.
HELP = frozenset({"-h", "--help", "help", "--version", "version"})


def _listens(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 5432), timeout=2):
            return True
    except OSError:
        return False


def demo_environment() -> dict[str, str]:
    """What the demo's own processes are told. Empty where no demo ran in this checkout."""
    known: dict[str, str] = remembered_demo(FOLDER).get("environment", {})
    return {**os.environ, **load_or_make_secrets(FOLDER), **known} if known else {}


def main(arguments: Sequence[str]) -> int:
    environment = demo_environment()
    if not environment:
        print("No demo ran in this checkout yet. Start one with: make demo", file=sys.stderr)
        return USAGE
    if arguments and not HELP & set(arguments) and not _listens(environment["DATABASE_URL"]):
        print("The demo of this checkout is not running. Start it in another terminal: make demo", file=sys.stderr)
        return USAGE
    # From where the caller stands: a file is named as they see it.
    os.execve(sys.executable, [sys.executable, str(CHECKOUT / "manage.py"), *arguments], environment)  # noqa: S606


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
