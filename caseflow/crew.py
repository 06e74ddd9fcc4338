"""Dramatiq's own command line as a child of `run_workers`: `python -m caseflow.crew PARENT ARGUMENTS...`.

It dies with its parent, and it leaves Ctrl-C and a closing terminal to it: those reach the whole family at once, and a
worker that is told twice to stop drops its task.
"""

from __future__ import annotations

import os
import signal
import sys

from dramatiq import cli

from caseflow.dying import die_with_parent


def main(arguments: list[str]) -> int:
    parent, *rest = arguments
    die_with_parent(lambda: os.getppid() == int(parent))
    for left_to_parent in (signal.SIGINT, signal.SIGHUP):
        signal.signal(left_to_parent, signal.SIG_IGN)
        cli.HANDLED_SIGNALS.discard(left_to_parent)
    return int(cli.main(cli.make_argument_parser().parse_args(rest)) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
