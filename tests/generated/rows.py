"""Rows on their way into the tables: keys reserved in blocks, defaults of the models, COPY of a chunk."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import psycopg
from django.db.models import Field, Model
from psycopg import sql

from actions.models import Action, ExternalCall
from approvals.models import Decision, Proposal
from audit.models import AuditEvent
from cases.models import Attempt, Case, CaseKey, IntakeRevision, Observation, PersonalText, Task
from operations.models import DriftFinding, Recovery

#: In the order in which they are written.
MODELS: tuple[type[Model], ...] = (
    Case,
    CaseKey,
    IntakeRevision,
    PersonalText,
    Task,
    Attempt,
    Observation,
    Proposal,
    Decision,
    Action,
    ExternalCall,
    AuditEvent,
    DriftFinding,
    Recovery,
)
#: Rows of others name these by their keys, so that the keys must be known before the rows are written.
NAMED = frozenset({Case, Task, Observation, Proposal, Action})

BLOCK = 2_000  #: keys reserved at once

#: Explains each single change of a case; what is generated is whole at once, and `verify_invariants` judges it.
_EXPLAINED = "caseflow_explained"


class Keys:
    """Keys from the tables' own sequences, so that whoever works beside gets others."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._reserved: dict[type[Model], deque[int]] = {model: deque() for model in NAMED}

    def next(self, model: type[Model]) -> int:
        reserved = self._reserved[model]
        if not reserved:
            statement = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
            rows = self._connection.execute(statement, [model._meta.db_table, BLOCK]).fetchall()
            reserved.extend(row[0] for row in rows)
        return reserved.popleft()


class Shape:
    """The columns of a table and what each holds unless a row says otherwise."""

    def __init__(self, model: type[Model]) -> None:
        self.table = model._meta.db_table
        fields = [field for field in model._meta.concrete_fields if model in NAMED or not _is_serial(field)]
        self.columns = [str(field.column) for field in fields]
        self.defaults = {str(field.column): field.get_default() for field in fields}

    def of(self, row: Mapping[str, Any]) -> list[Any]:
        """Raises KeyError for a column that does not exist."""
        for name in row:
            if name not in self.defaults:
                raise KeyError(f"{self.table} has no column {name}")
        return list((self.defaults | row).values())


class Chunk:
    """Rows of some cases, written in one transaction."""

    def __init__(self, shapes: Mapping[type[Model], Shape]) -> None:
        self._shapes = shapes
        self.rows: dict[type[Model], list[Mapping[str, Any]]] = {model: [] for model in MODELS}

    def add(self, model: type[Model], row: Mapping[str, Any]) -> None:
        self.rows[model].append(row)

    def extend(self, model: type[Model], rows: list[dict[str, Any]]) -> None:
        self.rows[model].extend(rows)

    def write(self, connection: psycopg.Connection[Any]) -> int:
        """How many rows. The chains stay guarded by their trigger."""
        written = 0
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE cases_case DISABLE TRIGGER {_EXPLAINED}")
            for model, rows in self.rows.items():
                shape = self._shapes[model]
                columns = sql.SQL(", ").join(map(sql.Identifier, shape.columns))
                statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(shape.table), columns)
                with cursor.copy(statement) as copy:
                    for row in rows:
                        copy.write_row(shape.of(row))
                written += len(rows)
            # What is still to be checked is checked now: a table with checks to come cannot be altered.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(f"ALTER TABLE cases_case ENABLE ALWAYS TRIGGER {_EXPLAINED}")
        return written


def shapes() -> dict[type[Model], Shape]:
    return {model: Shape(model) for model in MODELS}


def _is_serial(field: Field[Any, Any]) -> bool:
    return field.get_internal_type() == "BigAutoField"
