#!/usr/bin/env python
"""Django's command line for Caseflow."""

import os
import sys
from collections.abc import Mapping

from environs import EnvValidationError

USAGE = 2  #: exit code


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "caseflow.settings")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except EnvValidationError as error:
        problems = error.error_messages
        for name, sentences in problems.items() if isinstance(problems, Mapping) else [("environment", problems)]:
            print(f"{name}: {' '.join(sentences)}", file=sys.stderr)
        command = " ".join([".venv/bin/python -m stand.manage", *sys.argv[1:]])
        print(f"The environment has to say these; against the demo use: {command}", file=sys.stderr)
        sys.exit(USAGE)


if __name__ == "__main__":
    main()
