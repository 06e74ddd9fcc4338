"""A file with everything that really comes in: every ticket ends where it should, whatever dies on the way.

In both runs all of it is shown, the answer to every line, too: a run in which nothing dies would show nothing more.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.data.make_tickets import TicketFile, make_ticket_file
from tests.flows.running import Running, ScriptedApprover

PATIENCE = timedelta(seconds=150)  #: for one run of 500 on a slow machine
MIDDLE = 30  #: confirmed activations, of 200

_ORGANISATION = """
from accounts.models import Person
from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from caseflow.domain.roles import Role
organisation = create_organisation(slug="{slug}", name="{slug}")
for role in (Role.OPERATOR, Role.APPROVER):
    name = "{slug}-" + role.value
    person = Person.objects.create_user(username=name, password="demo-" + name + "-2026")
    grant_role(person=person, organisation=organisation, role=role, by=SYSTEM)
"""


@dataclass(frozen=True, slots=True)
class Office:
    """One run: an organisation of its own, with people of its own, and the file addressed to it."""

    running: Running
    slug: str
    made: TicketFile
    path: Path

    def import_file(self) -> subprocess.CompletedProcess[str]:
        return self.running.system.manage(
            *("import_cases", str(self.path), "--organisation", self.slug, "--as", f"{self.slug}-operator", "--json"),
            check=False,
        )

    def approver(self) -> ScriptedApprover:
        return ScriptedApprover(self.running, self.slug, self.running.sign_in(f"{self.slug}-approver"))

    def endings(self) -> dict[str, tuple[str, str, str]]:
        """external id → (state, ending, outcome)"""
        rows = self.running.ask(
            "SELECT c.external_id, c.state, c.ending, c.outcome FROM cases_case c"
            " JOIN accounts_organisation o ON o.id = c.organisation_id WHERE o.slug = %s",
            self.slug,
        )
        return {row["external_id"]: (row["state"], row["ending"], row["outcome"]) for row in rows}

    def wanted(self) -> dict[str, tuple[str, str, str]]:
        return {name: (end.state, end.ending, end.outcome) for name, end in self.made.expected.items()}

    def is_at_rest(self) -> bool:
        """Every case stands where it should, and nothing that could be done now is left to do."""
        if self.endings() != self.wanted():
            return False
        return not self.running.one(
            "SELECT count(*) FROM cases_task t JOIN cases_case c ON c.id = t.case_id"
            " JOIN accounts_organisation o ON o.id = c.organisation_id WHERE o.slug = %s"
            " AND (t.status = 'leased' OR t.status = 'due' AND t.available_at <= clock_timestamp())",
            self.slug,
        )

    def wait_for_rest(self) -> None:
        try:
            self.running.wait_for(self.is_at_rest, PATIENCE)
        except TimeoutError:
            wanted, found = self.wanted(), self.endings()
            wrong = {name: (found.get(name), end) for name, end in wanted.items() if found.get(name) != end}
            raise AssertionError(f"{len(wrong)} cases are elsewhere (found, wanted): {wrong}") from None

    def confirmed(self) -> int:
        return int(
            self.running.one(
                "SELECT count(*) FROM actions_action a JOIN accounts_organisation o ON o.id = a.organisation_id"
                " WHERE o.slug = %s AND a.kind = 'effect' AND a.status = 'CONFIRMED'",
                self.slug,
            )
        )

    def keys(self) -> dict[str, str]:
        """key → external id, of every action of this run"""
        rows = self.running.ask(
            "SELECT a.key, c.external_id FROM actions_action a JOIN cases_case c ON c.id = a.case_id"
            " JOIN accounts_organisation o ON o.id = c.organisation_id WHERE o.slug = %s",
            self.slug,
        )
        return {row["key"]: row["external_id"] for row in rows}


@pytest.fixture
def an_office(running: Running, tmp_path: Path) -> Callable[[str], Office]:
    def open_office(slug: str) -> Office:
        running.system.manage("shell", "-c", _ORGANISATION.format(slug=slug))
        made = make_ticket_file(organisation=slug)
        running.put(**made.world)  # the same world again: what an earlier run activated is inactive
        path = tmp_path / "tickets.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in made.lines))
        return Office(running, slug, made, path)

    return open_office


@contextmanager
def at_work(office: Office) -> Iterator[ScriptedApprover]:
    """Import the file and let everybody work; at the end of the block each case has come to rest."""
    with office.approver() as approver:
        done = office.import_file()
        assert done.returncode == 3, done.stderr  # done, and some lines remain to be looked at
        yield approver
        office.wait_for_rest()
    assert approver.refusals == []


def check_ledger(office: Office) -> None:
    """What happened outside is what must have happened, once each, and nothing else."""
    everything = [*office.running.effects(), *office.running.effects(system="mail")]
    keys = office.keys()
    assert set(Counter(one["key"] for one in everything).values()) == {1}
    for system, wanted in (
        ("subscriptions", {name: end.activations for name, end in office.made.expected.items()}),
        ("mail", {name: end.messages for name, end in office.made.expected.items()}),
    ):
        done = Counter(keys[one["key"]] for one in everything if one["system"] == system and one["key"] in keys)
        assert {name: done[name] for name in wanted} == wanted
    known = office.running.ask("SELECT key FROM actions_action")
    assert {one["key"] for one in everything} <= {row["key"] for row in known}, "an effect that nobody intended"


@pytest.mark.timeout(300)
def test_a_worker_killed_in_the_middle_loses_nothing_and_doubles_nothing(an_office: Callable[[str], Office]) -> None:
    office = an_office("killed")
    with at_work(office) as approver:
        office.running.wait_for(lambda: office.confirmed() >= MIDDLE, PATIENCE)
        kill_at_work(office, "worker-1")
        office.running.start("worker-1")
        again = office.import_file()

    assert lost_attempts(office) > 0
    assert approver.approved == sum(end.activations for end in office.made.expected.values())
    check_ledger(office)
    check_answers(office, again)
    office.running.check_invariants()


@pytest.mark.timeout(300)
def test_redis_emptied_in_the_middle_loses_nothing_and_doubles_nothing(an_office: Callable[[str], Office]) -> None:
    office = an_office("flushed")
    with at_work(office):
        office.running.wait_for(lambda: office.confirmed() >= MIDDLE, PATIENCE)
        with redis.Redis.from_url(office.running.bell.url) as server:
            server.flushall()

    check_ledger(office)
    office.running.check_invariants()


def check_answers(office: Office, again: subprocess.CompletedProcess[str]) -> None:
    """The second import, beside living workers, found every good line the same and every bad one as bad as before."""
    answers = answers_of(again)
    verdicts = [(verdict.result, verdict.code) for verdict in office.made.verdicts]
    assert [(one["result"], one.get("code", "")) for one in answers] == [
        ("same" if result == "accepted" else result, code) for result, code in verdicts
    ]
    assert [one["line"] for one in answers] == list(range(1, len(office.made.lines) + 1))
    assert all(one["reason"] for one in answers if one["result"] in ("refused", "conflict"))


def answers_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [line for line in lines if "summary" not in line]


def kill_at_work(office: Office, role: str) -> None:
    """kill -9 of a worker that certainly holds a lease of the office's: it is stopped first, then looked at.

    The others stand still meanwhile, or they would take all the work from one that is stopped so often.
    """
    running = office.running
    others = [one for one in ("worker-1", "worker-2") if one != role]

    def holds_a_lease() -> bool:
        running.system.processes.signal(role, signal.SIGSTOP)
        rows = running.ask(
            "SELECT t.leased_by FROM cases_task t JOIN accounts_organisation o ON o.id = t.organisation_key"
            " WHERE o.slug = %s AND t.status = 'leased'",
            office.slug,
        )
        if any(running.role_of(row["leased_by"]) == role for row in rows):
            return True
        running.system.processes.signal(role, signal.SIGCONT)
        return False

    for other in others:
        running.system.processes.signal(other, signal.SIGSTOP)
    try:
        # A lease is held for milliseconds: looked for at leisure, it may not be met before the work is done.
        running.system.wait_for(holds_a_lease, every=0.005)
        running.system.kill(role)
    finally:
        for other in others:
            running.system.processes.signal(other, signal.SIGCONT)


def lost_attempts(office: Office) -> int:
    return int(
        office.running.one(
            "SELECT count(*) FROM cases_attempt a JOIN cases_task t ON t.id = a.task_id"
            " JOIN accounts_organisation o ON o.id = t.organisation_key"
            " WHERE o.slug = %s AND a.outcome = 'worker_lost'",
            office.slug,
        )
    )
