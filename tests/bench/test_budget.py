"""The whole path of one case has a budget of commits and statements, counted by PostgreSQL itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test import Client

from cases.bell import ring_after_commit
from cases.models import Case
from cases.working import work_on
from tests.budget import PostgresCounter
from tests.factories import T4821, make_organisation, make_person, make_token
from tests.integrations.conftest import Outside

MOST_COMMITS = 13
MOST_STATEMENTS = 41


@pytest.fixture
def counter(committing_database: None) -> Iterator[PostgresCounter]:
    name = connection.settings_dict["NAME"]
    with psycopg.connect(os.environ["CASEFLOW_TEST_SUPERUSER_URL"], autocommit=True, dbname=name) as superuser:
        counting = PostgresCounter(superuser)
        counting.quiet()
        yield counting
        counting.loud()


def test_one_case_costs_at_most_13_commits_and_41_statements(
    counter: PostgresCounter, outside: Outside, settings: Any
) -> None:
    settings.SIMULATOR_URL = outside.url
    settings.CASEFLOW_UNDO_SECONDS = 0
    organisation = make_organisation("acme")
    approver = make_person("approver", organisation, "approver")
    token = make_token(organisation)
    body = T4821(outside)
    person = Client()
    person.force_login(approver, backend="django.contrib.auth.backends.ModelBackend")
    machine = Client(headers={"Authorization": f"Bearer {token}"})
    warm_up(machine, person)

    counter.start()
    assert machine.post("/api/v1/cases/", body, content_type="application/json").status_code == 201
    (case_id,) = counter.poll("SELECT id FROM cases_case")
    run_due(counter)
    proposal, digest, version = counter.poll(
        "SELECT p.public_id, p.digest, c.version FROM approvals_proposal p JOIN cases_case c ON c.id = p.case_id"
    )
    decision = {"decision": "approve", "digest": digest, "version": version, "reason": ""}
    answer = person.post(f"/api/v1/proposals/{proposal}/decision/", decision, content_type="application/json")
    assert answer.status_code == 201, answer.content
    run_due(counter)
    counted = counter.stop()

    assert Case.objects.get(pk=case_id).state == "COMPLETED"
    print(counted.summary())
    assert counted.commits <= MOST_COMMITS, counted.summary()
    assert counted.statements <= MOST_STATEMENTS, counted.summary()


def run_due(counter: PostgresCounter) -> None:
    """What dispatcher and workers do, without the dispatcher's polls."""
    while True:
        found = counter.poll(
            "SELECT min(id) FROM cases_task WHERE status = 'due' AND available_at <= clock_timestamp()"
        )
        if found[0] is None:
            return
        work_on(found[0])


def warm_up(machine: Client, person: Client) -> None:
    """What a process does once: content types, adapters, the session's user, the bell's statement."""
    ring_after_commit()
    machine.get("/api/v1/cases/")
    person.get("/api/v1/cases/")
