"""The cases of which a long history is made: about 97 in a hundred closed, the others in every state.

`python -m tests.growth.patterns --cases 10000` writes them into the database that is named, as the owner.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

import django
import psycopg

CLOSED_SHARE = 0.97
SEED = 1
#: Beyond every measurement: nothing of these cases falls due or expires, so that dispatchers leave them alone.
AWAY = "interval '10 years'"

#: What is due for a closed case would be closed without an attempt some day; it is now.
_LATER = f"""
UPDATE cases_task t SET status = 'obsolete', ended_at = c.closed_at, fence = fence + 1
FROM cases_case c WHERE c.id = t.case_id AND c.closed_at IS NOT NULL AND t.status = 'due';
UPDATE cases_task SET available_at = available_at + {AWAY} WHERE status = 'due';
UPDATE cases_task SET leased_until = leased_until + {AWAY}, lease_limit_at = lease_limit_at + {AWAY}
WHERE status = 'leased';
UPDATE cases_case SET wait_until = wait_until + {AWAY} WHERE wait_until IS NOT NULL;
ALTER TABLE approvals_proposal DISABLE TRIGGER USER;
UPDATE approvals_proposal p SET valid_until = valid_until + {AWAY}
FROM cases_case c WHERE c.id = p.case_id AND c.state = 'WAITING_APPROVAL' AND valid_until IS NOT NULL;
ALTER TABLE approvals_proposal ENABLE TRIGGER USER;
"""


def make_patterns(connection: psycopg.Connection, count: int) -> tuple[int, int]:
    """(cases, rows); `connection` is the owner's and commits by itself."""
    from tests.generated.making import make_cases, tell_progress

    made = make_cases(connection, count=count, seed=SEED, stories=_weighed(), tell=tell_progress)
    _put_away(connection)
    return made.cases, made.rows


def _weighed() -> Sequence:
    """The stories with other weights: those before the first that stays open are the closed ones."""
    from tests.generated.stories import STORIES

    first = next(place for place, story in enumerate(STORIES) if story.name == "received")
    closed, still_open = sum(story.weight for story in STORIES[:first]), sum(story.weight for story in STORIES[first:])
    scale = [CLOSED_SHARE / closed] * first + [(1 - CLOSED_SHARE) / still_open] * (len(STORIES) - first)
    return [replace(story, weight=story.weight * factor) for story, factor in zip(STORIES, scale, strict=True)]


def _put_away(connection: psycopg.Connection) -> None:
    triggers = connection.execute(
        "SELECT tgname FROM pg_trigger WHERE tgrelid = 'approvals_proposal'::regclass AND tgenabled = 'A'"
    ).fetchall()
    with connection.transaction():
        connection.execute(_LATER)
        for (name,) in triggers:
            connection.execute(f'ALTER TABLE approvals_proposal ENABLE ALWAYS TRIGGER "{name}"')


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.growth.patterns", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    options = parser.parse_args()
    django.setup()
    from django.db import connections

    with psycopg.connect(**connections["owner"].get_connection_params(), autocommit=True) as connection:
        cases, rows = make_patterns(connection, options.cases)
    print(f"\r{cases} cases, {rows} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
