"""Each promise goes red when a row breaks it, and is green for everything that really happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg import sql

from actions.withdrawing import withdraw
from caseflow.invariants.outside import ledger_agrees
from caseflow.invariants.running import INVARIANTS, LEDGER, ask_all
from tests.commands.broken_rows import BROKEN, completed, exhausted, in_doubt, repeated, reported, waiting
from tests.commands.conftest import Ran, Run
from tests.driving import Engine


@pytest.fixture
def verify(run: Run) -> Callable[..., Ran]:
    return lambda *more: run("verify_invariants", "--json", *more)


def red(done: Ran) -> dict[str, list[dict[str, str]]]:
    """Invariant → the violations it names."""
    return {one["name"]: one["examples"] for one in done.json()["invariants"] if one["violations"]}


def corrupt(owner: psycopg.Connection[Any], table: str, statement: str, values: Sequence[Any] = ()) -> None:
    """As the owner, with every trigger of the table set aside and put back in its mode."""
    with owner.transaction(), owner.cursor() as cursor:
        cursor.execute("SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal", [table])
        triggers = [sql.Identifier(name) for (name,) in cursor.fetchall()]
        for trigger in triggers:
            cursor.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER {}").format(sql.Identifier(table), trigger))
        cursor.execute(statement, values)  # type: ignore[arg-type]
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with waiting checks cannot be altered
        for trigger in triggers:
            cursor.execute(sql.SQL("ALTER TABLE {} ENABLE ALWAYS TRIGGER {}").format(sql.Identifier(table), trigger))


def test_an_empty_installation_is_clean(verify: Callable[..., Ran], committing_database: None) -> None:
    done = verify()

    assert (done.code, done.json()["clean"]) == (0, True)
    assert [one["name"] for one in done.json()["invariants"]] == [*(one.name for one in INVARIANTS), LEDGER]


def test_everything_that_really_happens_is_clean(engine: Engine, verify: Callable[..., Ran]) -> None:
    completed(engine)
    in_doubt(engine)
    waiting(engine)
    exhausted(engine)
    repeated(engine)
    for payment in ({"status": "pending"}, {"status": "refunded"}, {"amount": "1.00"}):
        engine.open(payment=payment).run()
    engine.open(missing=["customers"]).run()
    changed = engine.approved()
    changed.change("payments", status="refunded")
    changed.run_later()
    returned = engine.proposed()
    returned.decide("return")
    returned.run()
    rejected = engine.proposed()
    rejected.decide("reject", next="close")
    reported(engine)
    engine.open()  # received, and nobody worked on it yet

    done = verify("--ledger", engine.outside.url)

    assert red(done) == {}
    assert (done.code, done.json()["violations"]) == (0, 0)
    checked = {one["name"]: one["checked"] for one in done.json()["invariants"]}
    assert checked["one_case_per_ticket"] == 14
    assert checked["results_are_confirmed"] == 3
    assert all(checked.values())


def test_a_withdrawn_and_approved_plan_is_clean(engine: Engine, verify: Callable[..., Ran], settings: Any) -> None:
    settings.CASEFLOW_UNDO_SECONDS = 60
    story = engine.approved()
    withdraw(proposal=story.proposal, person=engine.approver)
    assert red(verify()) == {}
    story.decide()
    assert red(verify()) == {}
    story.run_later()
    assert story.state == "COMPLETED"
    assert red(verify()) == {}


def test_text_names_the_case_and_the_run_ends_with_3(engine: Engine, run: Run) -> None:
    story = waiting(engine)
    corrupt(engine.owner, "cases_case", "UPDATE cases_case SET effects_done = 7 WHERE id = %s", [story.id])

    done = run("verify_invariants")

    assert (done.code, done.failure, done.out.splitlines()[-1]) == (3, "", "violations: 1")
    assert f"{story.case.public_id:<14} effects_done is 7, the rows say 0" in done.out
    assert "\nledger_agrees" in done.out and "no ledger was named" in done.out


def test_many_violations_are_counted_and_twenty_are_named(engine: Engine, verify: Callable[..., Ran]) -> None:
    for _ in range(22):
        engine.open()
    corrupt(engine.owner, "cases_case", "UPDATE cases_case SET effects_done = 7")

    (guards,) = [one for one in verify().json()["invariants"] if one["violations"]]

    assert (guards["violations"], len(guards["examples"])) == (22, 20)


def test_a_ledger_that_does_not_answer_is_a_failed_run_and_no_verdict(run: Run, committing_database: None) -> None:
    assert run("verify_invariants", "--ledger=http://127.0.0.1:9").code == 1


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_row_turns_its_promise_red_and_names_the_case(
    what: str, engine: Engine, verify: Callable[..., Ran]
) -> None:
    invariant, make, table, statement = BROKEN[what]
    story, bystander = make(engine), completed(engine)
    name, innocent = story.case.public_id, bystander.case.public_id
    assert red(verify()) == {}

    for part in statement.split(";"):
        corrupt(engine.owner, table, part, {"case": story.id})  # type: ignore[arg-type]

    done = verify()
    assert done.code == 3
    named = red(done).get(invariant, [])
    assert name in {one["case"] for one in named}
    if table != "cases_pause":
        assert innocent not in {one["case"] for examples in red(done).values() for one in examples}


def test_each_invariant_has_been_seen_red() -> None:
    assert {invariant for invariant, _, _, _ in BROKEN.values()} == {one.name for one in INVARIANTS}


def test_the_ledger_outside_has_exactly_one_effect_for_each_confirmed_key(engine: Engine) -> None:
    story = completed(engine)
    effects = [
        one for one in engine.outside.ask("GET", "/ledger").json()["effects"] if one["key"].startswith("restore")
    ]
    ours = [one for one in effects if one["key"] in {one["key"] for one in [*story.activations(), *story.letters()]}]
    effect = story.activations()[0]

    assert ledger_agrees(ours).violations == 0
    assert ledger_agrees([*ours, effect]).shown[0].problem == f"{effect['key']} had 2 effects"
    assert ledger_agrees([one for one in ours if one != effect]).shown[0].case == story.case.public_id
    assert ledger_agrees([*ours, {"key": "a stranger's"}]).violations == 0
    assert ledger_agrees([*ours, *[{"key": "a stranger's"}] * 2]).violations == 1


def test_an_effect_outside_of_what_was_refused_is_found(engine: Engine) -> None:
    story = exhausted(engine)

    assert ledger_agrees([]).violations == 0
    assert (
        ledger_agrees([{"key": story.effect.key}]).shown[0].problem
        == f"{story.effect.key} is REFUSED and had an effect"
    )


def test_the_whole_runs_on_one_moment_beside_writers(engine: Engine, verify: Callable[..., Ran]) -> None:
    """What a worker writes while the promises are asked does not tear the picture."""
    story = engine.approved()
    asked = ask_all()
    first, _ = next(asked)
    engine.owner.execute("UPDATE cases_task SET available_at = available_at - %s", [timedelta(seconds=1)])
    corrupt(engine.owner, "cases_case", "UPDATE cases_case SET effects_done = 7 WHERE id = %s", [story.id])

    assert first is INVARIANTS[0]
    assert [finding.violations for _, finding in asked] == [0] * len(INVARIANTS)
    assert verify().code == 3
