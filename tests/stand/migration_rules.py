"""What a migration may not do to a table of millions of rows, or to the workers of the release before.

Read before it runs: every operation of every migration that came after `ALLOWED`, on the tables of `BIG`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently, RemoveIndexConcurrently
from django.db import connections, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.operations.fields import FieldOperation
from django.db.migrations.operations.models import IndexOperation, ModelOperation
from django.db.migrations.state import ProjectState

#: Tables that grow with every case.
BIG = frozenset(
    {
        *(("cases", name) for name in ("case", "task", "attempt", "intakerevision", "observation", "personaltext")),
        *(("cases", name) for name in ("casekey", "note", "hold")),
        *(("approvals", name) for name in ("proposal", "decision")),
        *(("actions", name) for name in ("action", "externalcall")),
        ("audit", "auditevent"),
    }
)

#: The last migration of each room that was written before this rule: tables were small then, and nobody worked.
ALLOWED = {
    "accounts": "0005_density_and_shortcuts",
    "actions": "0004_search_by_outside_number",
    "approvals": "0004_by_time",
    "audit": "0004_milestones",
    "cases": "0009_list_by_age",
    "documents": "0002_sweep",
    "operations": "0009_open_reports",
}


def dangers_of_all() -> list[str]:
    """Of every migration of ours that came after the rule, in words; empty where all are safe."""
    loader = MigrationLoader(None)
    found: list[str] = []
    for app, name in sorted(loader.disk_migrations):
        if app in ALLOWED and name > ALLOWED[app]:
            state = loader.project_state((app, name), at_end=False)
            found += dangers(loader.disk_migrations[app, name], state)
    return found


def dangers(migration: migrations.Migration, state: ProjectState) -> list[str]:
    """What is wrong with one migration; `state` is how the models were before it, and is moved on."""
    found = []
    app = migration.app_label
    for operation in migration.operations:
        found += [f"{app} {migration.name}: {problem}" for problem in _problems(operation, app, migration, state)]
        operation.state_forwards(app, state)
    return found


def _problems(operation: Operation, app: str, migration: migrations.Migration, state: ProjectState) -> Iterator[str]:
    match operation:
        case migrations.RunSQL() | migrations.RunPython() | migrations.SeparateDatabaseAndState():
            if not getattr(migration, "safe_because", ""):
                yield "runs code: say in `safe_because` how long it locks what, and that it works in portions"
        case migrations.CreateModel():
            pass  # nobody works with it yet
        case IndexOperation() if _is_big(app, operation.model_name):
            yield from _index_problems(operation, migration)
        case FieldOperation() if _is_big(app, operation.model_name):
            yield from _field_problems(operation, app, state)
        case migrations.DeleteModel() | migrations.RenameModel() | migrations.AlterModelTable():
            name = operation.old_name if isinstance(operation, migrations.RenameModel) else operation.name
            if _is_big(app, name):
                yield f"takes the table of {name} from workers of the release before"
        case ModelOperation():
            pass  # options and managers; triggers take a short lock


def _index_problems(operation: IndexOperation, migration: migrations.Migration) -> Iterator[str]:
    table = operation.model_name
    match operation:
        case AddIndexConcurrently() | RemoveIndexConcurrently():
            if migration.atomic:
                yield f"builds an index of {table} concurrently, which needs atomic = False"
        case migrations.AddIndex():
            yield f"builds an index of {table} while nobody may write: AddIndexConcurrently"
        case migrations.RemoveIndex():
            yield f"removes an index of {table} behind a lock that waits: RemoveIndexConcurrently"
        case AddConstraintNotValid():
            pass
        case migrations.AddConstraint():
            yield f"checks every row of {table} behind a lock: AddConstraintNotValid, later ValidateConstraint"


def _field_problems(operation: FieldOperation, app: str, state: ProjectState) -> Iterator[str]:
    name = f"{operation.model_name}.{operation.name}"
    match operation:
        case migrations.AddField():
            field: Any = operation.field
            if not field.null and field.db_default is models.NOT_PROVIDED:
                yield f"{name} has no value where workers of the release before insert: null or db_default"
            if field.unique or field.db_index:
                yield f"{name} comes with an index built while nobody may write"
        case migrations.AlterField():
            before = state.models[app, operation.model_name_lower].get_field(operation.name)
            yield from _alter_problems(name, before, operation.field)
        case migrations.RemoveField() | migrations.RenameField():
            old = operation.old_name if isinstance(operation, migrations.RenameField) else operation.name
            yield f"{operation.model_name}.{old} is taken from workers of the release before: one release later"


def _alter_problems(name: str, before: Any, after: Any) -> Iterator[str]:
    connection = connections["default"]
    types = before.db_type(connection), after.db_type(connection)
    longer = all(isinstance(field, models.CharField) for field in (before, after)) and (
        (after.max_length or 0) >= (before.max_length or 0)
    )
    if types[0] != types[1] and not longer:
        yield f"{name} becomes {types[1]}, which writes every row again"
    if before.null and not after.null:
        yield f"{name} becomes NOT NULL, which reads every row behind a lock"
    if (after.unique or after.db_index) and not (before.unique or before.db_index):
        yield f"{name} gets an index built while nobody may write"


def _is_big(app: str, model: str) -> bool:
    return (app, model.lower()) in BIG
