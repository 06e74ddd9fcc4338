"""A long history out of few cases: each copied many times, with ids, names, keys, moments and a chain of its own.

`python -m tests.growth.copying --cases 1000000` turns the 10 000 cases of a database into a million. The newest copy
has the moments of its pattern; all others end before the first pattern begins, so that the last weeks are the same in
both databases and only the history behind them is longer. Keys ascend with time, as they do where cases are real.

Cases that are still open are in the newest copy only: how many are open follows from how much comes in and not from how
long it has. Otherwise a longer page would be compared with a shorter one, and not a longer history.

What stays as in the pattern: sealed texts, keyed digests, and moments and keys of rows inside bodies and snapshots.
Digests of plans and hashes of chains are computed anew, so `verify_audit` is as clean as it was.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from typing import Any

import django
import psycopg

STEP = timedelta(days=10)  #: from one copy back to the one before

#: Puts marks where every copy has a text of its own. `~i~`, `~c~` and `~s~` are its number, in the alphabet of public
#: ids, in hexadecimal digits and in decimal ones; `~d~` is the digest of the plan an event is about.
_MARKED = r"""
CREATE FUNCTION pg_temp.marked(said text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT regexp_replace(regexp_replace(regexp_replace(regexp_replace(said,
    '(?<![.])\m([ACPR]-[0-9A-HJKMNP-TV-Z]{8})[0-9A-HJKMNP-TV-Z]{2}\M', '\1~i~', 'g'),
    '([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{8})[0-9a-f]{4}', '\1~c~', 'g'),
    '([Gg])1-', '\1~s~-', 'g'),
    '\m(op|m)-([0-9])', '\1-~s~-\2', 'g') $$
"""
_CHAIN = """
CREATE FUNCTION pg_temp.linked(head bytea, at_us bigint, body bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS
  $$ SELECT sha256(head || int8send(at_us) || body) $$;
CREATE AGGREGATE pg_temp.chain(bigint, bytea) (SFUNC = pg_temp.linked, STYPE = bytea, INITCOND = '');
"""
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

#: table → columns in which names stand; `j` marks JSON, `b` the bytes of a text.
NAMES = {
    "cases_case": {"public_id": "", "external_id": "", "external_id_normal": "", "subject": ""},
    "cases_intakerevision": {"body": "j"},
    "cases_task": {"subject": ""},
    "cases_observation": {"value": "j", "call_id": ""},
    "approvals_proposal": {"public_id": "", "snapshot": "b"},
    "actions_action": {"public_id": "", "key": "", "subject": "", "external_id": ""},
    "actions_externalcall": {"call_id": "", "external_id": ""},
    "audit_auditevent": {"body": "b"},
    "operations_recovery": {"public_id": "", "evidence_call": ""},
}
#: Where a row does not name its case itself.
_CASE_OF = {
    "operations_driftrun": "0",
    "cases_case": "id",
    "cases_attempt": "(SELECT case_id FROM cases_task WHERE id = task_id)",
    "approvals_decision": "(SELECT case_id FROM approvals_proposal WHERE id = proposal_id)",
    "actions_externalcall": "(SELECT case_id FROM actions_action WHERE id = action_id)",
    "operations_driftfinding": "(SELECT case_id FROM actions_action WHERE id = action_id)",
}
_READ = {"": "{}", "j": "{}::text", "b": "convert_from({}, 'UTF8')"}
_WRITTEN = {"": "{}", "j": "({})::jsonb", "b": "convert_to({}, 'UTF8')"}


class Copier:
    """Copies the whole of a database's cases. `connection` is the administrator's: triggers are for live rows."""

    def __init__(self, connection: psycopg.Connection[Any], tell: Callable[[str], None] = lambda line: None) -> None:
        from operations.models import DriftRun
        from tests.generated.rows import MODELS

        self._connection, self._tell = connection, tell
        self._models = (DriftRun, *MODELS)
        self._tables = [model._meta.db_table for model in self._models]
        self._spans: dict[str, int] = {}

    def times_for(self, cases: int) -> int:
        """How many copies make at least so many cases."""
        row = self._connection.execute("SELECT count(*), count(closed_at) FROM cases_case").fetchone()
        assert row is not None and row[1] > 0
        made = times = 0
        while made < cases:
            made += row[0] if times == 0 else row[1]
            times += 1
        return times

    def copy(self, times: int) -> None:
        """Every case becomes `times` cases. What hinders is put away meanwhile."""
        if times > len(ALPHABET) ** 2:
            raise ValueError("two characters tell one copy from another")
        self._connection.execute("SET synchronous_commit = off")
        self._connection.execute("SET maintenance_work_mem = '1GB'")
        self._connection.execute("SET work_mem = '256MB'")
        self._connection.execute("SET session_replication_role = replica")
        always = self._always_triggers()
        for table, trigger in always:
            self._connection.execute(f'ALTER TABLE {table} DISABLE TRIGGER "{trigger}"')
        self._keep_patterns()
        indexes = self._drop_indexes()
        for number in reversed(range(times)):
            with self._connection.transaction():
                self._one(number, place=times - 1 - number)
            self._tell(f"\r{times - number} of {times} copies")
        for statement in indexes:
            self._connection.execute(statement)
            self._tell(f"\r{statement[:100]}\n")
        for table in self._spans:
            self._connection.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
            )
        self._count()
        for table, trigger in always:
            self._connection.execute(f'ALTER TABLE {table} ENABLE ALWAYS TRIGGER "{trigger}"')
        self._connection.execute("DROP SCHEMA pattern CASCADE")
        self._connection.execute("RESET session_replication_role")

    def _count(self) -> None:
        """What ended, as the migrations that began the counts counted it: the triggers were away."""
        self._connection.execute("TRUNCATE cases_ended, cases_endedcount")
        for name in ("cases.migrations.0010_ended_counts", "actions.migrations.0005_ended_counts"):
            self._connection.execute(import_module(name).FIRST_COUNT)

    def _always_triggers(self) -> list[tuple[str, str]]:
        return self._connection.execute(
            "SELECT tgrelid::regclass::text, tgname FROM pg_trigger"
            " WHERE tgrelid::regclass::text = ANY(%s) AND tgenabled = 'A'",
            [self._tables],
        ).fetchall()

    def _keep_patterns(self) -> None:
        """The rows that are there become patterns, their names marked once; the tables are emptied."""
        execute = self._connection.execute
        execute(_MARKED)
        execute(_CHAIN)
        execute("DROP SCHEMA IF EXISTS pattern CASCADE")
        execute("CREATE SCHEMA pattern")
        row = execute("SELECT max(state_since) - min(created_at) FROM cases_case").fetchone()
        assert row is not None
        self._all: timedelta = row[0]
        for model in self._models:
            table = model._meta.db_table
            names = NAMES.get(table, {})
            columns = [
                f"pg_temp.marked({_READ[names[field.column]].format(field.column)}) AS {field.column}"
                if field.column in names
                else field.column
                for field in model._meta.concrete_fields
            ]
            where = " WHERE case_id IS NOT NULL" if table in ("audit_auditevent", "cases_task") else ""
            of_open = (
                f"{_CASE_OF.get(table, 'case_id')} IN (SELECT id FROM cases_case WHERE closed_at IS NULL) AS of_open"
            )
            execute(
                f"CREATE UNLOGGED TABLE pattern.{table} AS SELECT {', '.join([*columns, of_open])} FROM {table}{where}"
            )
            if model._meta.pk.column == "id":
                found = execute(f"SELECT max(id) - min(id) + 1, max(id) FROM {table}").fetchone()
                self._spans[table] = int(found[0] or 1) if found else 1
        # Of which plan an event tells: its digest is another in every copy.
        execute("ALTER TABLE pattern.audit_auditevent ADD COLUMN plan bigint")
        execute(
            "UPDATE pattern.audit_auditevent e SET plan = p.id, body = replace(e.body, p.digest, '~d~')"
            " FROM pattern.approvals_proposal p WHERE p.case_id = e.case_id AND strpos(e.body, p.digest) > 0"
        )
        for table in self._tables:
            execute(f"ANALYZE pattern.{table}")
        kept = "SELECT * FROM {} WHERE case_id IS NULL"
        for table in ("audit_auditevent", "cases_task"):
            execute(f"CREATE UNLOGGED TABLE pattern.other_{table} AS {kept.format(table)}")
        names = ", ".join(self._tables)
        others = self._referring()
        for table in others:
            execute(f"CREATE UNLOGGED TABLE pattern.other_{table} AS SELECT * FROM {table}")
        execute(f"TRUNCATE {', '.join([*self._tables, *others])}" if names else "")
        for table in ("audit_auditevent", "cases_task", *others):
            execute(f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM pattern.other_{table}")

    def _referring(self) -> list[str]:
        """Tables whose rows name rows of ours; they are emptied with them and filled again."""
        rows = self._connection.execute(
            "SELECT DISTINCT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f'"
            " AND confrelid::regclass::text = ANY(%(ours)s) AND NOT conrelid::regclass::text = ANY(%(ours)s)",
            {"ours": self._tables},
        ).fetchall()
        return [row[0] for row in rows]

    def _drop_indexes(self) -> list[str]:
        """All but the primary keys; returns what makes them again."""
        rows = self._connection.execute(
            "SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid), c.conname,"
            " pg_get_constraintdef(c.oid) FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid"
            " AND c.contype IN ('u', 'x') WHERE i.indrelid::regclass::text = ANY(%s) AND NOT i.indisprimary",
            [self._tables],
        ).fetchall()
        again = []
        for table, index, definition, constraint, meaning in rows:
            if constraint:
                self._connection.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{constraint}"')
                again.append(f'ALTER TABLE {table} ADD CONSTRAINT "{constraint}" {meaning}')
            else:
                self._connection.execute(f"DROP INDEX {index}")
                again.append(definition)
        return again

    def _one(self, number: int, *, place: int) -> None:
        """Copy `number` back in time, the `place`-th from the oldest."""
        shift = timedelta(0) if number == 0 else -(self._all + STEP * (number - 1))
        low, high = number % len(ALPHABET), number // len(ALPHABET)
        values = {
            "~i~": ALPHABET[high] + ALPHABET[low],
            "~c~": f"{number:04x}",
            "~s~": str(number + 1),
        }
        for model in self._models:
            table = model._meta.db_table
            if table == "audit_auditevent":
                continue
            if table == "cases_case":
                self._events(values, shift, place, _wanted(number))
            columns = {
                field.column: self._value(model, field, values, shift, place) for field in model._meta.concrete_fields
            }
            source = f"pattern.{table} t"
            if table == "cases_case":
                columns["audit_head"] = "last.hash"
                source += " JOIN heads last ON last.case_id = t.id"
            elif table == "approvals_proposal":
                columns["digest"] = "made.digest"
                columns["snapshot"] = "made.snapshot"
                source += " JOIN plans made ON made.id = t.id"
            elif table == "approvals_decision":
                columns["digest"] = "made.digest"
                source += " JOIN plans made ON made.id = t.proposal_id"
            self._connection.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) OVERRIDING SYSTEM VALUE"
                f" SELECT {', '.join(columns.values())} FROM {source} WHERE {_wanted(number)}"
            )

    def _events(self, values: dict[str, str], shift: timedelta, place: int, wanted: str) -> None:
        """The chains of one copy: bodies with its names, hashes over them; the last ones are the cases' heads."""
        execute = self._connection.execute
        snapshot = _WRITTEN["b"].format(_replaced("snapshot", values))
        execute("DROP TABLE IF EXISTS plans, told, heads")
        execute(
            "CREATE TEMP TABLE plans AS SELECT id, snapshot, encode(sha256(snapshot), 'hex') AS digest"
            f" FROM (SELECT id, {snapshot} AS snapshot FROM pattern.approvals_proposal) p"
        )
        execute("ANALYZE plans")
        model = next(one for one in self._models if one._meta.db_table == "audit_auditevent")
        columns = {
            field.column: self._value(model, field, values, shift, place) for field in model._meta.concrete_fields
        }
        body = f"replace({_replaced('t.body', values)}, '~d~', coalesce(p.digest, ''))"
        columns["body"] = _WRITTEN["b"].format(body)
        columns["hash"] = "NULL::bytea"
        chained = ", ".join(
            "pg_temp.chain(at_us, body) OVER (PARTITION BY case_id ORDER BY seq)" if name == "hash" else name
            for name in columns
        )
        named = ", ".join(f"{value} AS {name}" for name, value in columns.items())
        execute(
            f"CREATE TEMP TABLE told AS SELECT {chained.replace('ORDER BY seq)', 'ORDER BY seq) AS hash')} FROM"
            f" (SELECT {named} FROM pattern.audit_auditevent t LEFT JOIN plans p ON p.id = t.plan"
            f" WHERE {wanted}) s"
        )
        execute(
            f"INSERT INTO audit_auditevent ({', '.join(columns)}) OVERRIDING SYSTEM VALUE"
            f" SELECT {', '.join(columns)} FROM told ORDER BY id"
        )
        execute(
            "CREATE TEMP TABLE heads AS SELECT DISTINCT ON (case_id)"
            f" case_id - {place * self._spans['cases_case']} AS case_id, hash FROM told ORDER BY case_id, seq DESC"
        )
        execute("ANALYZE heads")

    def _value(self, model: Any, field: Any, values: dict[str, str], shift: timedelta, place: int) -> str:
        table, column = model._meta.db_table, field.column
        named = NAMES.get(table, {}).get(column)
        if named is not None:
            return _WRITTEN[named].format(_replaced(f"t.{column}", values))
        kind = field.get_internal_type()
        owner = field.related_model._meta.db_table if field.is_relation else ""
        if (table, column) == ("audit_auditevent", "case_id"):
            owner = "cases_case"
        if column == "id":
            owner = table
        if owner in self._spans:
            return f"t.{column} + {place * self._spans[owner]}"
        if column == "observations":
            span = place * self._spans["cases_observation"]
            return f"(SELECT coalesce(array_agg(o + {span}), '{{}}') FROM unnest(t.observations) o)"
        if column == "at_us":
            return f"t.at_us + {round(shift.total_seconds() * 1_000_000)}"
        if kind == "DateTimeField":
            return f"t.{column} + interval '{shift.total_seconds():.6f} seconds'"
        return f"t.{column}"


def _wanted(number: int) -> str:
    """SQL: the row belongs to this copy."""
    return "true" if number == 0 else "NOT t.of_open"


def _replaced(expression: str, values: dict[str, str]) -> str:
    for mark, value in values.items():
        expression = f"replace({expression}, '{mark}', '{value}')"
    return expression


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.growth.copying", description=__doc__)
    parser.add_argument("--cases", type=int, required=True, help="at least so many")
    options = parser.parse_args()
    django.setup()
    begun = time.monotonic()
    with psycopg.connect(os.environ["CASEFLOW_GROWTH_SUPERUSER"], autocommit=True) as connection:
        copier = Copier(connection, lambda line: print(line, end="", file=sys.stderr, flush=True))
        copier.copy(copier.times_for(options.cases))
    print(f"\ncopied in {time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
