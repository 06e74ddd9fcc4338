"""`make cases N=20000`: cases in every state for the demo of this checkout, or for the database that is named."""

from __future__ import annotations

import argparse
import sys

import django
import psycopg


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.generated", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, help="the same seed tells the same stories")
    options = parser.parse_args()
    django.setup()
    # Django is set up: these may read its settings.
    from django.db import connections

    from tests.generated.making import SeedUsed, make_cases, tell_progress

    with psycopg.connect(**connections["owner"].get_connection_params(), autocommit=True) as connection:
        try:
            made = make_cases(connection, count=options.cases, seed=options.seed, tell=tell_progress)
        except SeedUsed as error:
            print(f"{error} (--seed)", file=sys.stderr)
            return 1
    print(f"\r{made.cases} cases, {made.rows} rows in {made.seconds:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
