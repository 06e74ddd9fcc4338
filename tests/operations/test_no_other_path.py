"""No path but the named services edits a business row: not a page, not the API, not a command, not the admin.

Walked from outside: every address that the project has, every way to write, every role. Read from inside: the only
modules whose statements write these rows are named here.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as configured
from django.contrib import admin
from django.core.management import call_command, get_commands
from django.core.management.base import CommandError
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import Person
from accounts.principal import SYSTEM
from accounts.services import grant_role
from caseflow.domain.roles import Role
from operations.models import Recovery
from tests.driving import Engine, Story
from tests.factories import make_token
from tests.operations import standings as at
from tests.operations.standings import stand

ROOT = Path(configured.BASE_DIR)
ROOMS = ("accounts", "actions", "approvals", "audit", "caseflow", "cases", "documents", "integrations", "operations")

#: The business rows: what a case is, what is to be done for it, what was proposed, decided, sent, told and ordered.
BUSINESS = (
    "cases_case", "cases_task", "cases_attempt", "cases_intakerevision", "cases_observation", "approvals_proposal",
    "approvals_decision", "actions_action", "actions_externalcall", "operations_recovery",
)  # fmt: skip

#: Modules that write a row of a case or of an action; each is the body of a service, a stage or a repair.
WRITERS = {
    "cases_case": {"cases/advancing.py", "cases/intake.py"},
    "actions_action": {"actions/beginning.py", "actions/planned.py", "actions/storing.py"},
    "operations_recovery": {
        "operations/authorising.py", "operations/ordering.py", "operations/recovery_refusals.py",
    },
}  # fmt: skip
_WRITES = r"(?i)\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(?:ONLY\s+)?{table}\b"
_CHANGING = {"save", "create", "bulk_create", "bulk_update", "update", "delete", "get_or_create", "update_or_create"}
MODELS = {"cases_case": "Case", "actions_action": "Action", "operations_recovery": "Recovery"}


def sources() -> Iterator[tuple[str, str]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if "migrations" not in path.parts:
                yield str(path.relative_to(ROOT)), path.read_text()


def calls_on(model: str, text: str) -> bool:
    """Whether an expression that begins with the model's manager, or an instance just made, is told to write."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
            said = ast.unparse(node.func.value)
            if re.match(rf"(models\.)?{model}(\.objects\b|\()", said):
                return True
    return False


def writes_instance(model: str, text: str) -> bool:
    """Whether a name that is annotated or made as the model is saved."""
    tree = ast.parse(text)
    named = set(re.findall(rf"\b(\w+)(?:: {model}\b| = {model}\()", text))
    named |= {
        node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and re.search(rf"\b{model}\.objects\b", ast.unparse(node.value))
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
            root = node.func.value
            while isinstance(root, ast.Call | ast.Attribute):
                root = root.func if isinstance(root, ast.Call) else root.value
            if isinstance(root, ast.Name) and root.id in named:
                return True
    return False


@pytest.mark.parametrize("table", WRITERS)
def test_only_named_modules_write_these_rows(table: str) -> None:
    found = {
        name
        for name, text in sources()
        if re.search(_WRITES.format(table=table), text)
        or calls_on(MODELS[table], text)
        or writes_instance(MODELS[table], text)
    }
    assert found == WRITERS[table]


#: Modules that name the column of a process's version where a value could be given to it → what they do with it.
OF_THE_VERSION = {
    "cases/advancing.py": "lets it be set",
    "operations/moving.py": "sets it, for migrate_cases",
    "cases/intake.py": "writes the first",
    "cases/rows.py": "reads it",
    "approvals/snapshots.py": "shows it to who decides",
    "caseflow/explaining.py": "shows it",
    "caseflow/invariants/finding.py": "reads tables by it",
    "caseflow/management/commands/show_process.py": "an option of the same name",
}


def test_no_module_but_the_one_of_migrate_cases_moves_a_case_to_another_version_of_its_process() -> None:
    naming, moving = set(), set()
    for name, text in sources():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and node.value == "process_version":
                naming.add(name)
            if isinstance(node, ast.Call) and "process_version" in [keyword.arg for keyword in node.keywords]:
                naming.add(name)
            if isinstance(node, ast.Name) and node.id == "move_case":
                moving.add(name)
    assert naming == OF_THE_VERSION.keys()
    setters = {name for name, text in sources() if name in naming and re.search(r"\bsets\b", text)}
    assert setters == {"cases/advancing.py", "operations/moving.py"}
    assert moving == {"operations/management/commands/migrate_cases.py"}


def test_no_business_table_stands_in_the_admin() -> None:
    business = {model for model in apps.get_models() if model._meta.db_table in BUSINESS}
    assert len(business) == len(BUSINESS)
    # The admin of this project, and the one that Django makes by itself.
    sites = list(admin.sites.all_sites)
    registered = {model for site in sites for model in site._registry}
    assert registered & business == set()
    inlines = {inline.model for site in sites for entry in site._registry.values() for inline in (entry.inlines or ())}
    assert inlines & business == set()


def addresses(resolver: URLResolver | None = None, prefix: str = "/") -> Iterator[str]:
    """Every address of the project as a pattern with `<name>` for its places."""
    for entry in (resolver or get_resolver()).url_patterns:
        part = str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from addresses(entry, prefix + part)
        elif isinstance(entry, URLPattern):
            yield prefix + part


def filled(pattern: str, story: Story, person: Person) -> str:
    """The address with real ids in its places, so that it is about this very case."""
    values = {
        "C": story.case.public_id, "P": story.proposal.public_id, "A": story.effect.public_id,
        "R": Recovery.objects.get().public_id,
    }  # fmt: skip
    places = {"cases/": "C", "approvals/": "P", "proposals/": "P", "actions/": "A", "recoveries/": "R"}
    kind = next((letter for part, letter in places.items() if part in pattern), "C")
    text = re.sub(r"<(?:\w+:)?public_id>", values[kind], pattern)
    text = re.sub(r"<(?:\w+:)?organisation>", story.engine.organisation.slug, text)
    text = re.sub(r"<slug:kind>", "close", text)
    text = re.sub(r"<int:\w+>|<(?:\w+:)?object_id>|<path:object_id>", str(person.pk), text)
    text = re.sub(r"\(\?P<\w+>[^)]*\)", "1", text)
    return re.sub(r"<[^>]+>", "x", text).replace("^", "").replace("$", "").replace("\\Z", "").replace("\\", "")


#: What each form would need to be accepted, but for what makes it a decision of a person: version, digest and reason.
BODY = {
    "state": "COMPLETED", "status": "CONFIRMED", "version": "1", "outcome": "done", "effects_open": "0", "data": "{}",
    "reason_code": "", "confirmed_by": "hand", "decision": "force", "kind": "set_state", "field": "intake.claim",
}  # fmt: skip
JSON = '{"state": "COMPLETED", "status": "CONFIRMED", "outcome": "done", "effects_open": 0, "confirmed_by": "hand"}'


def business_rows() -> dict[str, Any]:
    """Rows of each business table as text; of a case without what its history of refusals moves."""
    found = {}
    with connection.cursor() as cursor:
        for table in BUSINESS:
            row = "to_jsonb(t) - 'audit_head' - 'audit_count'" if table == "cases_case" else "to_jsonb(t)"
            cursor.execute(f"SELECT coalesce(jsonb_agg({row} ORDER BY t.id)::text, '') FROM {table} t")
            found[table] = cursor.fetchone()[0]
    return found


@pytest.fixture
def story(engine: Engine, settings: Any) -> Story:
    """What somebody could want to change: an effect in doubt, and an order that waits for a second person."""
    settings.AXES_ENABLED = False
    settings.CASEFLOW_LIMITS = {}
    found = stand(at.unknown, engine, settings)
    found.order("result_by_hand")
    return found


#: One person with every role at once has whatever right a path could ask for; a viewer has next to none.
WHO = ["nobody", "viewer", "every role", "superuser", "machine"]


def client_of(who: str, engine: Engine) -> tuple[Client, Person]:
    client = Client(raise_request_exception=False)
    person = engine.person(who.replace(" ", "-") if who != "machine" else "viewer")
    if who == "machine":
        signed = {"Authorization": f"Bearer {make_token(engine.organisation)}"}
        return Client(raise_request_exception=False, headers=signed), person
    if who == "every role":
        for role in Role:
            grant_role(person=person, organisation=engine.organisation, role=role, by=SYSTEM)
    if who == "superuser":
        Person.objects.filter(pk=person.pk).update(is_staff=True, is_superuser=True)
        person.refresh_from_db()
    if who != "nobody":
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client, person


@pytest.mark.parametrize("who", WHO)
def test_no_address_changes_a_business_row_without_going_through_its_service(
    who: str, story: Story, engine: Engine
) -> None:
    """A form that names a state or a status instead of an order, for the very case; with every method that writes.

    Taking an order back is a service of its own, and needs no more than its address.
    """
    client, person = client_of(who, engine)
    walked, reached = 0, 0
    before = business_rows()
    for pattern in sorted(set(addresses())):
        if re.search(r"sign-out|logout|take-back|withdrawal/$", pattern):
            continue
        address = filled(pattern, story, person)
        for method in ("post", "put", "patch", "delete"):
            answer = getattr(client, method)(address, data=JSON, content_type="application/json")
            walked += 1
            reached += answer.status_code in (400, 403, 409, 415)
        client.post(address, BODY)
    assert walked > 200
    # Who has not signed in gets as far as no form at all; the others are refused by the form itself.
    assert reached == 0 if who == "nobody" else reached > (20 if who == "every role" else 9)
    assert {table for table, rows in business_rows().items() if rows != before[table]} == set()


OURS = sorted(name for name, app in get_commands().items() if str(app) in ROOMS)
#: Their work is to open cases, to carry them on or never to end; none takes a state, a result or a signature.
OPENING = {"open_case", "import_cases", "run_dispatcher", "run_workers", "bootstrap"}
#: Repairs that set going again what got stuck; each is shown by its own tests to move a case only along its table.
REPAIRS = {"reconcile_actions", "requeue_tasks", "expire_decisions"}


@pytest.mark.parametrize("command", [name for name in OURS if name not in OPENING])
def test_no_command_orders_signs_or_edits_anything(command: str, story: Story, engine: Engine) -> None:
    before = business_rows()
    for arguments in ([], ["--json"], [story.case.public_id], ["--apply", "--as", "operator", "--reason", "r"]):
        if command in REPAIRS and "--apply" in arguments:
            continue
        with suppress(CommandError, SystemExit, ValueError, TypeError):
            call_command(command, *arguments, stdout=io.StringIO(), stderr=io.StringIO())
    assert business_rows() == before


@pytest.mark.parametrize("command", sorted(REPAIRS))
def test_a_repair_settles_no_action_and_signs_no_order(command: str, story: Story, engine: Engine) -> None:
    before = business_rows()
    with suppress(CommandError):
        call_command(
            command, "--apply", "--as", "operator", "--reason", "r", stdout=io.StringIO(), stderr=io.StringIO()
        )
    after = business_rows()
    for table in ("actions_action", "actions_externalcall", "operations_recovery", "approvals_decision"):
        assert after[table] == before[table], table
    assert (story.effect.status, Recovery.objects.get().status) == ("UNKNOWN", "waiting")


def test_no_command_takes_a_result_or_a_signature() -> None:
    words = re.compile(r"--(result|state|status|outcome|sign|authorise|decide|approve|evidence|by-hand)\b")
    for name in OURS:
        text = (ROOT / str(get_commands()[name]) / "management" / "commands" / f"{name}.py").read_text()
        assert not words.search(text), name
        assert "order_recovery" not in text and "authorise_recovery" not in text, name
