"""Every page and question of the console that reads cases, by name, for somebody who sees every organisation.

Some of them a second time for somebody of the smallest organisation: most rows of the tables are not theirs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Organisation, Person
from accounts.platform import grant_platform
from accounts.principal import SYSTEM
from accounts.services import grant_role
from actions.models import Action, ExternalCall
from approvals.models import Proposal
from caseflow.domain.lifecycle import State
from caseflow.domain.roles import Role
from cases.models import Case, Observation

from .path import cpu_of, person, server_pid

SMALLEST = "sever"
NARROW = f"of {SMALLEST}: "  #: begins the names of what is looked at by somebody of that organisation
ROLES = (Role.OPERATOR, Role.APPROVER, Role.RECOVERER, Role.AUDITOR, Role.ORG_ADMIN)
COLLECTOR = "collector"  #: what Prometheus fetches; it has a limit of its own
PLAIN = (
    "approvals", "attention", "cases", "actions", "drift", "reports", "processes", "metrics", "ops", "pauses", "audit",
    "bulk", "me", "help",
)  # fmt: skip
#: What somebody of one organisation looks at, too. Lists that ten thousand cases do not fill a page of are left out: a
#: longer page would be compared with a shorter one.
OF_ONE = (
    "home", "approvals", "approvals of everybody", "attention", "cases", "cases COMPLETED", "cases newest first",
    "cases of one process", "actions", "actions confirmed", "actions unknown", "metrics 30d",
    "search the beginning of a ticket",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """One page: seconds by the clock, processor seconds of this process and its server process, and what it asked."""

    seconds: float
    cpu: float
    server_cpu: float
    status: int
    bytes: int


def look(name: str, times: int) -> dict[str, Any]:
    """The cheapest of some looks at a page: whatever else runs on the machine only makes one dearer."""
    return asdict(min((_look(name) for _ in range(times)), key=lambda one: one.cpu + one.server_cpu))


def count_queries(name: str) -> list[str]:
    """What a page asks that was looked at before. Once a minute a look also notes that the session lives."""
    _look(name)
    found = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as seen:
            _look(name)
        found.append([f"{query['time']} {query['sql']}" for query in seen])
    return min(found, key=len)


def _look(name: str) -> Asked:
    what, pid = addresses()[name], server_pid()
    client = reader(SMALLEST if name.startswith(NARROW) else "")
    begun, own, server = time.perf_counter(), time.process_time(), cpu_of(pid)
    answer = client.post(what[5:], _FILE) if what.startswith("POST ") else client.get(what)
    size = len(answer.getvalue())
    spent = time.perf_counter() - begun, time.process_time() - own, cpu_of(pid) - server
    assert answer.status_code in (200, 302), (name, what, answer.status_code)
    return Asked(*spent, answer.status_code, size)


_FILE = {"form": "csv", "query": "state=NEEDS_ATTENTION&q=G1-1"}


@cache
def reader(slug: str = "") -> Client:
    """Somebody with every role in one organisation, or in all of them and a platform operator."""
    who = person(f"growth-reader-{slug}".rstrip("-"))
    for organisation in Organisation.objects.filter(slug=slug) if slug else Organisation.objects.all():
        for role in ROLES:
            grant_role(person=who, organisation=organisation, role=role, by=SYSTEM)
    if not slug:
        grant_platform(person=who, by=SYSTEM, reason="growth")
    client = Client()
    client.force_login(who, backend="django.contrib.auth.backends.ModelBackend")
    return client


@cache
def addresses() -> Mapping[str, str]:
    """Name → address. What it is about was copied last, so both databases have it."""
    found = {COLLECTOR: "/metrics", "home": "/console/"} | {name: f"/console/{name}/" for name in PLAIN}
    cases = "/console/cases/?"
    for state in State:
        found[f"cases {state}"] = cases + urlencode({"state": state.value})
    done = _case(State.COMPLETED)
    for name, query in {
        "newest first": {"sort": "newest"},
        "of one organisation": {"organisation": "acme"},
        "of one process": {"process": "restore_access"},
        "of one reason": {"reason": "amount_differs"},
        "held by nobody": {"holder": "nobody"},
        "held by me": {"holder": "me"},
        "by a ticket": {"q": done.external_id},
        "by the beginning of a ticket": {"q": "G1-1"},
        "by a subject": {"q": done.subject},
        "closed of one organisation, newest first": {"organisation": "sever", "state": "COMPLETED", "sort": "newest"},
        "stopped for one reason": {"state": "NEEDS_ATTENTION", "reason": "unknown_too_long"},
    }.items():
        found[f"cases {name}"] = cases + urlencode(query)
    found |= _searches(done)
    for state in (State.COMPLETED, State.NEEDS_ATTENTION, State.WAITING_APPROVAL):
        case = _case(state)
        for part in ("", "timeline/", "facts/", "proposals/"):
            found[f"case {state} {part}".strip("/ ")] = f"/console/cases/{case.public_id}/{part}"
    waiting = Proposal.objects.get(case=_case(State.WAITING_APPROVAL), has_effects=True)
    found["proposal"] = f"/console/approvals/{waiting.public_id}/"
    found["approvals of everybody"] = "/console/approvals/?view=all"
    found["actions of one system"] = "/console/actions/?system=mail"
    found["actions of a system that has none"] = "/console/actions/?system=payments"
    found |= _trails(done)
    found["action"] = f"/console/actions/{_effect(done).public_id}/"
    for status in ("unknown", "requested", "planned", "confirmed", "refused", "cancelled"):
        found[f"actions {status}"] = f"/console/actions/?status={status}"
    found["actions unknown effects"] = "/console/actions/?status=unknown&kind=effect"
    found["actions of one organisation"] = "/console/actions/?organisation=sever"
    found["process"] = "/console/processes/restore_access/"
    for window in ("24h", "7d", "30d"):
        found[f"metrics {window}"] = f"/console/metrics/?window={window}"
    found["attention narrowed"] = "/console/attention/?turn=stop"
    found["export of some stopped cases"] = "POST /console/export/cases/"
    return found | {f"{NARROW}{name}": found[name] for name in OF_ONE}


def _searches(done: Case) -> dict[str, str]:
    effect, proposal = _effect(done), Proposal.objects.filter(case=done, has_effects=True).latest("number")
    call, reading = (
        ExternalCall.objects.filter(action=effect).latest("id"),
        Observation.objects.filter(case=done).latest("id"),
    )
    texts = {
        "a ticket": done.external_id,
        "the beginning of a ticket": "G1-1",
        "the letter of every ticket": "G",
        "a case id": done.public_id,
        "a proposal id": proposal.public_id,
        "a digest": proposal.digest,
        "an action id": effect.public_id,
        "a key": effect.key,
        "the service's number": effect.external_id,
        "a request": call.call_id,
        "a reading": reading.call_id,
        "a subject": done.subject,
        "a customer": done.subject.replace("S-", "U-"),
        "nothing": "nothing-of-this-name",
    }
    return {f"search {name}": "/console/search/?" + urlencode({"q": text}) for name, text in texts.items()}


def _trails(case: Case) -> dict[str, str]:
    """The audit page narrowed: by what is rare, too, and by what nobody ever did."""
    who = Person.objects.filter(username=f"{case.organisation.slug}-generated-approver-1").get()
    narrowed = {
        "one case": {"case": case.external_id},
        "one person": {"person": who.username},
        "somebody who did nothing": {"person": "growth-reader"},
        "what happens always": {"kind": "case.opened"},
        "what happens rarely": {"kind": "case.facts_changed"},
        "what organisations decide": {"kind": "role.granted"},
    }
    address = f"/console/audit/?organisation={case.organisation.slug}&"
    return {f"audit of {name}": address + urlencode(query) for name, query in narrowed.items()}


@cache
def _case(state: State) -> Case:
    """The same in both databases: of the newest copy, whose tickets keep the names of the patterns."""
    rows = Case.objects.filter(state=state.value, source="generated", external_id_normal__startswith="G1-")
    if state is State.COMPLETED:
        rows = rows.filter(outcome="done")
    return rows.order_by("-created_at")[3]


def _effect(case: Case) -> Action:
    return Action.objects.filter(case=case, kind="effect").latest("id")
