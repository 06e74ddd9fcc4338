"""A process as code has it."""

from __future__ import annotations

from caseflow.processes.restore_access import RestoreAccess
from tests.commands.conftest import Run


def test_every_row_of_the_table_and_every_ending_is_shown(run: Run) -> None:
    shown = run("show_process", "restore_access", "--json").json()

    assert set(shown["endings"]) == set(RestoreAccess.endings)
    assert all(ending["says"] for ending in shown["endings"].values())
    assert len(shown["table"]) == len(list(RestoreAccess.table))
    assert shown["approval"]["quorum"] == 1
    assert shown["approval"]["validity"] == 86_400
    assert shown["intake"]["claim"] == {"personal": True, "required": True}


def test_text_and_diagram_are_for_people(run: Run) -> None:
    text = run("show_process", "restore_access").out
    diagram = run("show_process", "restore_access", "--mermaid").out

    assert "RECEIVED         check_started" in text
    assert diagram.startswith("stateDiagram-v2\n    [*] --> RECEIVED\n")
    assert "    COMPLETED --> [*]" in diagram


def test_an_unknown_process_or_version_is_a_wrong_call(run: Run) -> None:
    assert run("show_process", "refund").code == 2
    assert "restore_access" in run("show_process", "refund").failure
    assert run("show_process", "restore_access", "--version=99").code == 2
    assert run("show_process", "restore_access", "--version=1").code == 0
