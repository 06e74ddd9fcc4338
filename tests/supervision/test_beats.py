"""What operators read about who works."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from cases.beats import BEAT_SILENCE, DISPATCHER, KEEP_BEATS, WORKER, Beat, forget_old_beats, store_beat
from cases.models import WorkerBeat
from cases.selectors import list_beats
from tests.supervision.supervised import Supervised

State = WorkerBeat.State


def age(by: timedelta) -> None:
    """Make every heartbeat older, as time would."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE cases_workerbeat SET beat_at = beat_at - %s", [by])


def beat(**changes: Any) -> Beat:
    now = time.monotonic()
    return Beat(**{"kind": WORKER, "booted_at": now - 60, "fetched_at": now - 1, "live_since": now - 50, **changes})


def test_a_process_has_one_row_that_says_how_it_is_now(database: None) -> None:
    store_beat(beat())
    (row,) = list_beats()
    assert (row.state, row.pid, row.name) == (State.LIVE, os.getpid(), settings.CASEFLOW_ROLE)
    assert timedelta(seconds=59) < row.beat_at - row.booted_at < timedelta(seconds=62)
    assert "restore_access:1" in row.versions["processes"]

    store_beat(beat(live_since=None, reason="a worker thread is dead"))
    (row,) = list_beats()
    assert (row.state, row.live_since, row.reason) == (State.RED, None, "a worker thread is dead")

    store_beat(beat(stopped=True))
    age(BEAT_SILENCE * 2)
    assert [row.state for row in list_beats()] == [State.STOPPED]


def test_who_falls_silent_is_not_called_live(database: None) -> None:
    store_beat(beat(kind=DISPATCHER))
    age(BEAT_SILENCE + timedelta(seconds=1))

    assert [row.state for row in list_beats()] == [State.SILENT]


def test_rows_are_forgotten_after_a_day(database: None) -> None:
    store_beat(beat())
    assert forget_old_beats() == 0

    age(KEEP_BEATS)

    assert forget_old_beats() == 1
    assert not list_beats()


def test_all_who_work_and_ring_tell_of_themselves(supervised: Supervised) -> None:
    def living() -> set[tuple[str, str]]:
        rows = supervised.ask(
            "SELECT kind, name FROM cases_workerbeat WHERE is_live AND stopped_at IS NULL AND last_fetch_at IS NOT NULL"
            " AND beat_at > clock_timestamp() - interval '10 seconds'"
        )
        return {(row["kind"], row["name"]) for row in rows}

    everybody = {("worker", "worker-1"), ("worker", "worker-2"), ("dispatcher", "dispatcher")}
    supervised.wait_for(lambda: living() >= everybody)


@pytest.mark.django_db
def test_the_runtime_role_may_write_heartbeats(as_owner: psycopg.Connection[Any]) -> None:
    rights = as_owner.execute(
        "SELECT privilege_type FROM information_schema.role_table_grants"
        " WHERE table_name = 'cases_workerbeat' AND grantee = %s",
        [settings.CASEFLOW_RUNTIME_ROLE],
    ).fetchall()
    assert {right for (right,) in rights} >= {"SELECT", "INSERT", "UPDATE", "DELETE"}
