"""Every command of ours: those that take `--as` are asked with everybody's rights about what is not theirs."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.core.management.base import BaseCommand

from caseflow.domain.roles import Role

from .asking import Answer, Visitor
from .canaries import Kind
from .sources import NOWHERE
from .walking import Leak, Walk
from .world import House, World, undone

ROOMS = ("accounts", "actions", "approvals", "audit", "cases", "caseflow", "documents", "operations")

#: For who holds the machine and its database: they take no `--as`, since they show no case or only to its owner.
OF_THE_MACHINE = frozenset({
    "bootstrap", "check_processes", "evaluate_proposer", "grant_platform", "mark_restored", "run_dispatcher",
    "run_workers", "seal_audit", "show_metrics", "show_process", "show_roles", "show_settings", "verify_audit",
    "verify_broker", "verify_invariants",
})  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """The arguments of a call that names what is not theirs, those of one that names nothing, and what was typed."""

    theirs: list[str]
    nothing: list[str]
    typed: tuple[str, ...] = ()
    stdin: str = ""


def _explain(house: House) -> Iterator[Asked]:
    case = house.stories["proposed"].case
    for name, absent in ((case.public_id, "C-0000000000"), (case.external_id, "T-nothing")):
        for form in ([], ["--json"]):
            yield Asked([name, *form], [absent, *form], (name, absent))
    there, absent = house.organisation.slug, NOWHERE
    yield Asked([case.external_id, "--organisation", there], ["T-nothing", "--organisation", absent])


def _in_organisation(*before: str, after: tuple[str, ...] = (), stdin: str = "") -> Callable[[House], Iterator[Asked]]:
    def asked(house: House) -> Iterator[Asked]:
        there = house.organisation.slug
        words = ([*before, "--organisation", slug, *after] for slug in (there, NOWHERE))
        yield Asked(*words, (there, NOWHERE), stdin)

    return asked


def _repair(*more: str) -> Callable[[House], Iterator[Asked]]:
    def asked(house: House) -> Iterator[Asked]:
        yield from _in_organisation(*more, after=("--json",))(house)
        yield Asked([*more], [*more])
        yield Asked(
            [*more, "--apply", "--reason", "probe", "--json"], [*more, "--apply", "--reason", "probe", "--json"]
        )

    return asked


def _purge(house: House) -> Iterator[Asked]:
    case = house.stories["completed"].case
    yield Asked(["--case", case.public_id], ["--case", "C-0000000000"], (case.public_id, "C-0000000000"))
    yield from _repair("--told-longer-ago", "0")(house)
    yield Asked(["--case", case.external_id], ["--case", "T-nothing"], (case.external_id, "T-nothing"))
    customer = house.stories["completed"].customer
    yield Asked(["--customer", customer, "--json"], ["--customer", "U-nothing", "--json"], (customer, "U-nothing"))
    yield from _repair("--older-than", "0")(house)


def _grant_role(house: House) -> Iterator[Asked]:
    said = ("--role", "viewer", "--reason", "probe")
    yield from _in_organisation(house.people[Role.VIEWER].username, after=said)(house)


_REPORT = ("--department", "nothing-dep", "--period", "2024-10-02", "--json")
_TICKET = json.dumps({"customer_id": "U-1", "subscription_id": "S-1", "payment_id": "PAY-1", "claim": "-"})
_OPEN = ("--process", "restore_access", "--source", "desk", "--external-id", "T-probe", "--intake", "-")

#: A new command that takes `--as` and stands not here fails the run.
ASKED: dict[str, Callable[[House], Iterator[Asked]]] = {
    "explain_case": _explain,
    "open_case": _in_organisation(after=_OPEN, stdin=_TICKET),
    "import_cases": _in_organisation("-", stdin=json.dumps({"source": "desk", "external_id": "T-1"}) + "\n"),
    "check_drift": _repair(),
    "expire_decisions": _repair(),
    "migrate_cases": _repair("--process", "restore_access", "--to", "1"),
    "reconcile_actions": _repair(),
    "requeue_tasks": _repair(),
    "retell_hooks": _repair(),
    "purge": _purge,
    "grant_role": _grant_role,
    "choose_proposer": _in_organisation(after=("--process", "restore_access", "--proposer", "rules", "--json")),
    "request_report": _in_organisation(after=_REPORT),
    "resume_installation": lambda house: iter([Asked([], [])]),
}


def own_commands() -> dict[str, BaseCommand]:
    rooms = {name: app for name, app in get_commands().items() if str(app).partition(".")[0] in ROOMS}
    return {name: load_command_class(str(app), name) for name, app in sorted(rooms.items())}


def takes_person(name: str, command: BaseCommand) -> bool:
    parser = command.create_parser("manage.py", name)
    return any("--as" in action.option_strings for action in parser._actions)


def ask_commands(world: World, visitor: Visitor) -> Walk:
    done = Walk(visitors={visitor.name})
    for name, ask in ASKED.items():
        for house in world.houses:
            for asked in ask(house):
                _judge(done, name, world, house, asked, visitor)
    return done


def _judge(done: Walk, name: str, world: World, house: House, asked: Asked, visitor: Visitor) -> None:
    theirs = _run(name, [*asked.theirs, "--as", visitor.username], asked.stdin)
    path = f"manage.py {name} {' '.join(asked.theirs)}"
    done.requests += 1
    for owner, kind in sorted(world.found_in(theirs.without(*asked.typed).body) - visitor.sees):
        done.leaks.append(
            Leak(visitor.name, "--as", path, f"{Kind(kind).name.lower()} of {owner}: {theirs.body[:200]}")
        )
    if house.owner is visitor.home:
        return
    nothing = _run(name, [*asked.nothing, "--as", visitor.username], asked.stdin)
    if theirs.without(*asked.typed) != nothing.without(*asked.typed):
        what = f"not the answer of a missing one: {theirs.status} {theirs.body!r}, {nothing.status} {nothing.body!r}"
        done.leaks.append(Leak(visitor.name, "--as", path, what))


def _run(name: str, arguments: list[str], stdin: str) -> Answer:
    """Its exit code in the place of a status; what it printed on both streams."""
    output = io.StringIO()
    with undone(), _reading(stdin), redirect_stdout(output), redirect_stderr(output):
        code = 0
        try:
            call_command(name, *arguments, stdout=output, stderr=output)
        except CommandError as error:
            code = error.returncode
            output.write(str(error))
        except SystemExit as error:
            code = int(error.code or 0)
    return Answer(code, (), output.getvalue())


@contextmanager
def _reading(text: str) -> Iterator[None]:
    before: Any = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
    try:
        yield
    finally:
        sys.stdin = before
