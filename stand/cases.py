"""`make cases N=20000`: fill the demo that runs in this checkout with cases in every state, each with its history."""

import os
import sys
from collections.abc import Sequence

from stand.environment import CHECKOUT
from stand.manage import USAGE, demo_environment


def main(arguments: Sequence[str]) -> int:
    environment = demo_environment()
    if not environment:
        print("No demo ran in this checkout yet. Start one with: make demo", file=sys.stderr)
        return USAGE
    os.chdir(CHECKOUT)
    os.execve(sys.executable, [sys.executable, "-m", "tests.generated", *arguments], environment)  # noqa: S606


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
