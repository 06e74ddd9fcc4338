"""/metrics says what the rows say, at a cost that does not follow the history, and nothing of anybody."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import Organisation, PlatformOperator, StaffNotice
from accounts.principal import SYSTEM
from accounts.services import create_departments
from approvals import circuits
from approvals.choosing import choose_proposer
from audit.models import AuditEvent
from audit.services import record_organisation_event
from caseflow.metrics import catalogue, collecting
from caseflow.metrics.catalogue import METRICS, PREFIX
from caseflow.metrics.parts import Sample
from cases.models import Task, WorkerBeat
from operations.models import Hook, HookDelivery, HookReading, Obligation, ObligationEdition
from operations.ordering import order_recovery
from operations.pausing import pause
from stand.environment import CHECKOUT
from tests.console.seeing import completed, in_doubt
from tests.console.test_ops import QUEUES, beats, waiting
from tests.driving import Engine, claimed
from tests.factories import make_organisation, make_person
from tests.generated.making import make_cases
from tests.operations.bulks import stopped
from tests.operations.test_drift import regular
from tests.watching.scraping import TOKEN, ask, scrape
from tests.watching.truth import TRUTH, Numbers

#: Of the scrape itself: no row says them.
OF_THE_SCRAPE = {"collect_failed", "collect_seconds"}


@pytest.fixture
def world(engine: Engine, as_owner: psycopg.Connection[Any], seals: Path, settings: Any) -> Iterator[Engine]:
    """Something of everything that is watched."""
    settings.CASEFLOW_UNDO_SECONDS = 15
    make_cases(as_owner, count=240, seed=1)
    settings.CASEFLOW_UNDO_SECONDS = 0
    done = completed(engine)
    done.change("subscriptions", status="inactive")
    in_doubt(engine)
    (halted,) = stopped(engine)
    order_recovery(
        case_id=halted.id, kind="finish_by_hand", person=engine.person("operator"), seen_version=halted.case.version,
        reason="-", evidence="-",
    )  # fmt: skip
    regular("day")
    processes_of_every_state()
    # One due for long in each lot: rung, unrung, and paused by its organisation.
    waiting(engine), waiting(engine)
    claimed(Task.objects.get(case_id=waiting(engine).id, status="due"))
    globex = Organisation.objects.get(slug="globex")
    PlatformOperator.objects.create(person=engine.person("platform"))
    pause(kind="organisation", name="", organisation=globex, by=engine.person("platform"), reason="-")
    report_that_is_late(engine, halted.id)
    listeners(engine, halted.id)
    models(engine, settings)
    for number, outcome in enumerate(("", "failed", "failed", "sent")):
        StaffNotice.objects.create(
            person=engine.person("operator"), organisation=engine.organisation, kind="decision",
            subject=f"P-{number:010d}", at=timezone.now() - timedelta(hours=20 * number), outcome=outcome,
        )  # fmt: skip
    as_owner.execute(
        "UPDATE actions_action SET settled_at = now() - interval '1 hour'"
        " WHERE kind = 'notice' AND status IN ('REFUSED', 'UNKNOWN') AND settled_at IS NOT NULL"
    )
    call_command("seal_audit", stdout=io.StringIO())
    record_organisation_event(engine.organisation.pk, "export.made", actor=SYSTEM, facts={})
    as_owner.execute("ANALYZE")
    yield engine


def processes_of_every_state() -> None:
    now = timezone.now()
    beats("worker", pid=1, queues=[QUEUES[0]])
    beats("worker", pid=2, queues=QUEUES, is_live=False, live_since=None)
    beats("worker", pid=3, queues=QUEUES, beat_at=now - timedelta(hours=1), last_fetch_at=now - timedelta(hours=1))
    beats("dispatcher", pid=4, beat_at=now - timedelta(seconds=90), last_fetch_at=now - timedelta(seconds=95))
    beats("dispatcher", pid=5, beat_at=now - timedelta(hours=2), last_fetch_at=None, stopped_at=now)


def report_that_is_late(engine: Engine, case: int) -> None:
    (department,) = create_departments(organisation=engine.organisation, names=[("sales", "Sales")])
    now = timezone.now()
    owed = Obligation.objects.create(
        organisation=engine.organisation, department=department, kind="requests", period="2026-10",
        period_end=now - timedelta(days=3), due_at=now - timedelta(days=2), grace_until=now - timedelta(days=1),
        overdue_at=now, created_at=now,
    )  # fmt: skip
    ObligationEdition.objects.create(obligation=owed, number=1, case_id=case, recipients=[], at=now)


def listeners(engine: Engine, case: int) -> None:
    """One that fails, one that is switched off, and what they were not told."""
    now = timezone.now()
    for number, status in enumerate(("failed", "waiting", "sent", "skipped")):
        hook = Hook.objects.create(
            organisation=engine.organisation, name=f"listener {number}", channel="ticket", kinds=["closed"],
            is_active=number < 2, failing_since=now - timedelta(hours=number + 1) if number != 1 else None, from_us=0,
        )  # fmt: skip
        HookDelivery.objects.create(
            hook=hook, case_id=case, event=AuditEvent.objects.filter(case_id=case).latest("seq"), version=1,
            kind="closed", status=status, created_at=now,
        )  # fmt: skip
    HookReading.objects.create(
        organisation=engine.organisation, safe_us=int((now - timedelta(seconds=40)).timestamp() * 1_000_000)
    )


def models(engine: Engine, settings: Any) -> None:
    """One answers, its answers are accepted and refused; one is left alone, and one that the settings name no more."""
    url = f"{engine.outside.url}/v1"
    settings.CASEFLOW_MODELS = {name: {"url": url, "model": "simulated"} for name in ("main", "away")}
    how: dict[str, Any] = {"process": "restore_access", "rules_take_over": False, "by": SYSTEM}
    choose_proposer(organisation=engine.organisation, proposer="model:main", **how)
    engine.outside.ask("DELETE", "/model/answers")
    engine.proposed()
    engine.outside.ask("POST", "/model/answers", {"kind": "invalid_json", "times": 3}).raise_for_status()
    engine.open().run()
    for provider in ("away", "gone"):
        for _ in range(circuits.FAULTS):
            circuits.fault_of(provider, "timeout")
    choose_proposer(organisation=engine.organisation, proposer="rules", **how)


def test_every_metric_says_what_the_rows_say_and_has_something_to_say(world: Engine, settings: Any) -> None:
    read = scrape(settings)
    assert {PREFIX + name for name in TRUTH.keys() | OF_THE_SCRAPE} == read.keys() == {one.name for one in METRICS}
    wrong = dict.fromkeys(TRUTH, (Numbers(), Numbers()))
    # Tasks fall due and moments leave their window meanwhile: what is said was true before or is true after.
    before = {name: truth() for name, truth in TRUTH.items()}
    for _ in range(3):
        read = scrape(settings)
        after = {name: TRUTH[name]() for name in wrong}
        found = {name: read[PREFIX + name] for name in wrong}
        wrong = {name: (found[name], after[name]) for name in wrong if not _fits(name, found, before, after)}
        before = after
        if not wrong:
            break
    assert wrong == {}
    for name in TRUTH:
        assert read[PREFIX + name], f"{name} says nothing here, so nothing is known of it"
    assert set(read[f"{PREFIX}collect_failed"].values()) == {0.0}
    assert read[f"{PREFIX}collect_failed"].keys() == read[f"{PREFIX}collect_seconds"].keys()
    labels_are_codes(read, world)
    whole_scrape_finds_its_rows_by_indexes()


def _fits(name: str, found: Mapping[str, Numbers], *truths: Mapping[str, Numbers]) -> bool:
    """Ages grow while they are compared."""
    off = 5 if name.endswith("seconds") else 1e-6
    return any(
        found[name].keys() == truth[name].keys() and found[name] == pytest.approx(truth[name], abs=off)
        for truth in truths
    )


def labels_are_codes(read: dict[str, dict[tuple[str, ...], float]], world: Engine) -> None:
    """No organisation, person, ticket or outside object: nothing that stands in the rows beside codes."""
    words = {value for samples in read.values() for labels in samples for value in labels}
    assert "quick" in words and "NEEDS_ATTENTION" in words
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT slug FROM accounts_organisation UNION SELECT name FROM accounts_organisation"
            " UNION SELECT username FROM accounts_person UNION SELECT external_id FROM cases_case"
            " UNION SELECT subject FROM cases_case UNION SELECT public_id FROM cases_case"
            " UNION SELECT subject FROM actions_action UNION SELECT public_id FROM actions_action"
            " UNION SELECT host FROM cases_workerbeat UNION SELECT slug FROM accounts_department"
        )
        assert words & {word for (word,) in cursor.fetchall()} - {""} == set()


#: Tables with a row or more for each case there ever was (reports and differences are rare), and the indexes that hold
#: only what is open or rare.
GROWING = {
    "cases_case", "cases_task", "cases_attempt", "actions_action", "actions_externalcall", "approvals_proposal",
    "approvals_decision", "approvals_modelcall", "audit_auditevent", "accounts_staffnotice", "operations_hookdelivery",
}  # fmt: skip
SMALL = {
    "case_open", "task_one_live", "task_due_unrung", "task_next_due", "task_rung", "task_leased", "action_in_doubt",
    "staff_notice_unsent", "hookdelivery_not_sent", "obligation_overdue", "recovery_one_open_of_a_kind",
    "pause_one_live",
}  # fmt: skip

WAYS_OF_SMALL_TABLES = [f"enable_{way}" for way in ("seqscan", "indexscan", "indexonlyscan", "hashjoin", "mergejoin")]


def whole_scrape_finds_its_rows_by_indexes() -> None:
    """EXPLAIN of each statement: what reads a growing table does it by a small index, or between bounds of a large one.

    What a planner does with small tables is off. A bitmap is left, which needs bounds or an index of just those rows.
    """
    statements: list[tuple[str, Any]] = []
    found: list[tuple[str, str]] = []

    def keep(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.lstrip().startswith(("SELECT", "WITH")) and "set_config" not in sql:
            statements.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        list(collecting.measure())
    assert len(statements) >= len(collecting.PARTS)
    with connection.cursor() as cursor:
        for way in WAYS_OF_SMALL_TABLES:
            cursor.execute(f"SET {way} = off")
        try:
            for sql, params in statements:
                cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
                found += [(_reads_all_of(node), sql) for node in _nodes(cursor.fetchone()[0][0]["Plan"])]
        finally:
            cursor.execute("RESET ALL")
    assert [(whole, sql) for whole, sql in found if whole] == []


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)


def _reads_all_of(node: dict[str, Any]) -> str:
    """What a node of a plan reads from one end to the other, '' for nothing."""
    kind, table, index = node["Node Type"], node.get("Relation Name", ""), node.get("Index Name", "")
    if kind == "Seq Scan" and table in GROWING:
        return table
    is_bounded = "Index Cond" in node or index in SMALL
    # A bitmap names its index in one node and its table in another.
    return index if index and not is_bounded and (table in GROWING or kind == "Bitmap Index Scan") else ""


def test_a_scrape_is_for_a_token_or_who_looks_after_the_platform(db: None, settings: Any) -> None:
    acme = make_organisation()
    assert ask(settings).status_code == 200
    wrong = ask(settings, token="x" * len(TOKEN))
    assert (wrong.status_code, wrong["WWW-Authenticate"]) == (401, "Bearer")
    assert Client().get("/metrics").status_code == 404
    assert Client().post("/metrics").status_code == 405
    people = {name: make_person(name, acme, "operator", "org_admin", "auditor") for name in ("platform", "operator")}
    PlatformOperator.objects.create(person=people["platform"])
    for name, status in (("platform", 200), ("operator", 404)):
        client = Client()
        client.force_login(people[name], backend="django.contrib.auth.backends.ModelBackend")
        assert client.get("/metrics").status_code == status
        # Who may look is led there.
        assert ('href="/metrics"' in client.get("/console/metrics/").content.decode()) is (status == 200)
    settings.CASEFLOW_METRICS_TOKENS = []
    assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 401


def test_a_part_that_takes_too_long_is_named_and_the_others_are_told(
    db: None, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(now: Any) -> Iterator[Sample]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(10)")
        yield from ()

    monkeypatch.setattr(collecting, "PART_LIMIT", 0.05)
    monkeypatch.setitem(collecting.PARTS, "states", slow)
    WorkerBeat.objects.all().delete()
    read = scrape(settings)
    failed = {part for (part,), value in read[f"{PREFIX}collect_failed"].items() if value}
    assert failed == {"states"}
    assert read[f"{PREFIX}cases_open"] == {} and read[f"{PREFIX}tasks_overdue"] == {("quick",): 0.0, ("slow",): 0.0}


def test_codes_of_others_are_bounded() -> None:
    told = [Sample(catalogue.ATTENTION, ("restore_access", f"code_{number}"), 100 - number) for number in range(60)]
    told += [Sample(catalogue.ATTENTION, ("restore_access", odd), 1) for odd in ("Call +7 900", "я", "a" * 65, "1")]
    found = collecting.bounded(told)
    assert len(found) == collecting.MOST_VALUES + 1
    assert sum(found.values()) == sum(one.value for one in told)
    assert found["restore_access", "other"] == 4 + sum(100 - n for n in range(collecting.MOST_VALUES, 60))


def test_the_page_names_every_metric_as_it_is() -> None:
    assert catalogue.table() in (CHECKOUT / "docs" / "watching.md").read_text()
