"""One case's logged statements become a script that drives another case each time."""

from __future__ import annotations

from stand.bench.script import Captured, Case, make_script, rewritten
from stand.bench.statements import read_log, with_parameters

LOG = """\
@@caseflow-worker-1@@10@@ LOG:  statement: BEGIN
@@caseflow-dispatcher@@11@@ LOG:  statement: SELECT 'no business of the case'
@@@@12@@ LOG:  checkpoint starting
@@caseflow-worker-1@@10@@ LOG:  statement: SELECT 1
\t, 2
@@caseflow-worker-1@@10@@ LOG:  execute _pg3_0: UPDATE cases_case SET state = $2 WHERE id = $1 AND note = '$1'
@@caseflow-worker-1@@10@@ DETAIL:  Parameters: $1 = '1000000006', $2 = 'it''s, $1 = x'
@@caseflow-worker-1@@10@@ LOG:  statement: COMMIT
""".splitlines()


def test_the_log_tells_the_statements_of_a_case_in_order_with_their_values() -> None:
    assert read_log(LOG, ("caseflow-worker", "caseflow-bench-client")) == [
        "BEGIN",
        "SELECT 1\n, 2",
        "UPDATE cases_case SET state = 'it''s, $1 = x' WHERE id = '1000000006' AND note = '$1'",
        "COMMIT",
    ]


def test_a_missing_value_is_null() -> None:
    assert with_parameters("SELECT $1::int, $12", "Parameters: $1 = NULL, $12 = '2'") == "SELECT NULL::int, '2'"


def test_names_and_row_ids_of_the_case_become_variables_and_nothing_else_does() -> None:
    case = Case({"178": "own_number", "A-85YXDSWCBJ": "own_name_1"}, {1000000006: "row_1_id"})
    statement = (
        "SELECT 1000000006, 'T-178', '1178', '{1000000006,7}'::int8[], 'restore:A-85YXDSWCBJ' WHERE at > '12:30'"
    )

    assert rewritten(statement, case, "prepared") == (
        "SELECT :row_1_id::bigint, :own_joined_0, '1178', ('{' || :row_1_id::text || ',7}')::int8[], :own_joined_1"
        " WHERE at > '12:30'"
    )
    assert case.joined == {"'T-' || own_number": "own_joined_0", "'restore:' || own_name_1": "own_joined_1"}
    assert case.drawing().startswith("SELECT drawn.*, 'T-' || own_number AS own_joined_0, ")
    assert rewritten(statement, case, "simple") == (
        "SELECT :row_1_id, 'T-:own_number', '1178', '{:row_1_id,7}'::int8[], U&'restore\\003a:own_name_1'"
        " WHERE at > '12:30'"
    )


def test_names_within_canonical_bytes_become_variables_too() -> None:
    case = Case.found_in(["SELECT 'A-85YXDSWCBJ'"], "178")
    name = b"A-85YXDSWCBJ".hex()
    statement = rf"INSERT … VALUES ('\x22{name}22')"

    assert rewritten(statement, case, "simple") == r"INSERT … VALUES (('\x22' || ':own_hex_own_name_1' || '22')::bytea)"
    assert rewritten(statement, case, "prepared") == "INSERT … VALUES (:own_joined_0)"
    assert list(case.joined) == [r"'\x22' || own_hex_own_name_1 || '22'"]
    assert "encode(convert_to(own_name_1, 'UTF8'), 'hex') AS own_hex_own_name_1" in case.drawing()


def test_a_colon_in_a_literal_is_never_taken_for_a_variable() -> None:
    statement = r"""SELECT '{"a":true, "b": "\d"}', E'it\'s:so'"""

    assert rewritten(statement, Case(), "prepared") == r"""SELECT U&'{"a"\003atrue, "b": "\\d"}', E'it\'s\x3aso'"""
    assert rewritten(statement, Case(), "simple") == statement


def test_a_row_id_is_known_from_the_statement_that_told_it() -> None:
    statements = ["INSERT … VALUES ('C-85YXDSWCBJ') RETURNING id", "SELECT 1", "UPDATE … WHERE id = 6 AND task = 9"]
    case = Case.found_in(statements, "178")
    captured = {0: Captured({"id": 6}), 1: Captured({}, {"currval('t') - 0": 9})}

    lines = make_script(statements, case, captured, "simple").splitlines()

    assert "FROM (SELECT '1' || lpad(" in lines[0] and lines[0].endswith("\\gset")
    assert lines[1:] == [
        "INSERT … VALUES (':own_name_1') RETURNING id \\gset row_0_",
        "SELECT 1;",
        "SELECT currval('t') - 0 AS asked_0 \\gset row_1_",
        "UPDATE … WHERE id = :row_0_id AND task = :row_1_asked_0;",
    ]
