"""Programs are told of every change of a case: signed, at least once, in order, never a word that somebody wrote."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction

from accounts.principal import SYSTEM
from accounts.services import create_organisation
from audit.models import AuditEvent
from caseflow.domain.errors import BadInput
from caseflow.domain.lifecycle import Event
from caseflow.domain.webhooks import Delivery, refusal_of
from cases.advancing import advance_case
from cases.models import Installation, Schedule, Task
from operations import spreading_hooks, telling_hooks
from operations.hook_models import Hook, HookDelivery, HookReading
from operations.hooks import Wanted, create_hook, given_up, rotate_secret, secrets_of, send_again, set_active
from operations.spreading_hooks import move_on, spread_portion
from tests.driving import CLAIM, Engine
from tests.integrations.between import Between, between
from tests.operations.hooked import ALL, ids, listen, tell, told
from tests.steps import run_due, somebody_waits_for_us, together


@pytest.fixture
def line(settings: Any) -> Iterator[Between]:
    """A program that listens and says 204 to everything unless it is told otherwise."""
    settings.CASEFLOW_HOOK_HOSTS, settings.CASEFLOW_HOOK_PRIVATE = ["*"], True
    with between() as found:
        for _ in range(40):
            found.answer(204, b"")
        yield found


def events(kind: str) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(kind=kind).order_by("id"))


def test_every_change_of_a_case_is_told_once_in_order_and_signed(engine: Engine, line: Between) -> None:
    hook, secret = listen(engine, line)
    story = engine.approved()
    story.run()
    assert story.state == "COMPLETED"
    tell(engine)
    tell(engine)

    case = story.case
    assert [one["version"] for one in told(line)] == list(range(1, case.version + 1))
    assert [one["state"] for one in told(line)][-1] == "COMPLETED"
    assert ids(line.asked) == [f"{case.public_id}:{version}" for version in range(1, case.version + 1)]
    last = json.loads(line.asked[-1].body)
    assert (last["type"], last["data"]["outcome"], line.asked[-1].path) == ("case.closed", "done", "/hook?tenant=7")
    assert secret.startswith("whsec_")
    for one in line.asked:
        named = [one.headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature")]
        assert refusal_of(Delivery(*named, one.body), secrets_of(hook), datetime.now(UTC)) is None
        for personal in (CLAIM, story.email, story.customer, story.payment):
            assert personal not in one.body.decode()
    assert set(HookDelivery.objects.values_list("status", flat=True)) == {"sent"}


def test_only_what_was_asked_for_is_told_and_only_of_the_own_organisation(engine: Engine, line: Between) -> None:
    listen(engine, line, kinds=("closed",))
    other = create_organisation(slug="globex", name="Globex")
    wanted = Wanted(name="theirs", channel="webhook", kinds=ALL, url=f"{line.url}/theirs")
    create_hook(organisation=other, wanted=wanted, by=SYSTEM)
    story = engine.approved()
    story.run()
    tell(engine)
    spread_portion(other.pk)
    run_due(stage="tell_hook")
    assert [(one.path, json.loads(one.body)["type"]) for one in line.asked] == [("/hook?tenant=7", "case.closed")]


def test_without_a_hook_nothing_is_read_and_nothing_is_written(engine: Engine, line: Between) -> None:
    engine.proposed()
    assert not Schedule.objects.get(name="hooks.spread").is_active
    assert not Task.objects.filter(stage__in=("spread_hooks", "tell_hook")).exists()
    hook, _ = listen(engine, line)
    assert Schedule.objects.get(name="hooks.spread").is_active
    assert spread_portion(engine.organisation.pk) == 0  # of what was before it is told nothing
    set_active(hook=hook, is_active=False, by=SYSTEM)
    assert not Schedule.objects.get(name="hooks.spread").is_active


def test_a_slow_transaction_that_stores_an_earlier_moment_is_not_missed(
    engine: Engine, line: Between, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreading_hooks, "SLACK", timedelta(0))
    listen(engine, line)
    first, slow = engine.open(), engine.open()
    moved, go_on = threading.Event(), threading.Event()

    def move_slowly() -> None:
        """What a check does, by a worker that takes its time before it commits."""
        with transaction.atomic():
            advance_case(slow.row, Event.CHECK_STARTED, actor=SYSTEM)
            moved.set()
            assert go_on.wait(30)

    def read_meanwhile() -> None:
        """The regular reading goes on, past that moment."""
        assert moved.wait(30)
        for _ in range(3):
            first.run()
            spread_portion(engine.organisation.pk)
        go_on.set()

    assert together(move_slowly, read_meanwhile) == [None, None]
    assert list(HookDelivery.objects.filter(case=slow.id).values_list("version", flat=True)) == [1]
    assert spread_portion(engine.organisation.pk) == 1
    assert HookDelivery.objects.filter(case=slow.id, version=2, status="waiting").exists()


def test_the_reading_moves_on_only_past_transactions_that_are_over() -> None:
    reading, second = HookReading(safe_us=0, marks=[]), 1_000_000
    move_on(reading, mark=100, now_us=1000 * second, oldest=90)
    move_on(reading, mark=110, now_us=1005 * second, oldest=90)
    assert (reading.safe_us, len(reading.marks)) == (0, 2)
    move_on(reading, mark=120, now_us=1010 * second, oldest=105)
    assert reading.safe_us == (1000 - 60) * second
    # A database that was restored into another cluster begins anew.
    move_on(reading, mark=7, now_us=2000 * second, oldest=7)
    assert (reading.safe_us, reading.marks) == ((1000 - 60) * second, [[7, 2000 * second]])
    for number in range(300):
        move_on(reading, mark=10 + number, now_us=(2001 + number) * second, oldest=8)
    assert reading.safe_us == (2000 - 60) * second and len(reading.marks) <= 64


def test_what_did_not_arrive_is_sent_again_the_same_and_later_changes_wait_for_it(
    engine: Engine, line: Between
) -> None:
    listen(engine, line)
    line.script.clear()
    for _ in range(2):
        line.answer(503, b"", Retry_After="120")
    for _ in range(20):
        line.answer(200, b"{}")
    story = engine.open()
    story.run()
    spread_portion(engine.organisation.pk)
    run_due(stage="tell_hook")
    assert ids(line.asked) == [f"{story.case.public_id}:1"]
    [task] = Task.objects.filter(stage="tell_hook", last_error="http_503")
    assert task.available_at - datetime.now(UTC) > timedelta(seconds=60)
    assert Task.objects.filter(stage="tell_hook", last_error="in_line").exists()
    tell(engine)
    one = story.case.public_id
    assert ids(line.asked)[:3] == [f"{one}:1"] * 3 and line.asked[0].body == line.asked[2].body
    assert ids(line.asked)[2:] == [f"{one}:{version}" for version in range(1, story.case.version + 1)]


def test_what_is_given_up_is_on_record_and_can_be_sent_again(
    engine: Engine, line: Between, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling_hooks, "POLICY", telling_hooks.RetryPolicy(limit=2))
    hook, _ = listen(engine, line, kinds=("opened",))
    line.script.clear()
    for _ in range(4):
        line.answer(500, b"")
    line.answer(200, b"")
    engine.open(), engine.open()
    tell(engine)
    hook.refresh_from_db()
    failed = list(given_up(HookDelivery.objects.filter(hook=hook)))
    assert [(one.status, one.answer, one.code) for one in failed] == [("failed", 500, "http_500")] * 2
    assert hook.failing_since is not None and len(events("hook.failing")) == 1
    assert send_again(delivery=failed[0], by=SYSTEM) and not send_again(delivery=failed[0], by=SYSTEM)
    tell(engine)
    hook.refresh_from_db()
    assert (hook.failing_since, given_up(HookDelivery.objects.filter(hook=hook)).count()) == (None, 1)
    assert ids(line.asked)[-1] in ids(line.asked)[:-1]


def test_of_two_who_send_again_at_the_same_moment_one_does_and_the_other_is_told(
    engine: Engine, line: Between, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling_hooks, "POLICY", telling_hooks.RetryPolicy(limit=1))
    hook, _ = listen(engine, line, kinds=("opened",))
    line.script.clear()
    line.answer(500, b"")
    engine.open()
    tell(engine)
    (failed,) = given_up(HookDelivery.objects.filter(hook=hook))
    first, came = threading.Event(), threading.Event()

    def one() -> bool:
        with transaction.atomic():
            done = send_again(delivery=failed, by=SYSTEM)
            first.set()
            while not somebody_waits_for_us() and not came.is_set():
                pass
        return done

    def other() -> bool:
        assert first.wait(30)
        try:
            return send_again(delivery=failed, by=SYSTEM)
        finally:
            came.set()

    assert together(one, other) == [True, False]
    assert Task.objects.filter(stage="tell_hook", subject=str(failed.pk), status="due").count() == 1


def test_a_receiver_that_is_gone_is_not_asked_again(engine: Engine, line: Between) -> None:
    hook, _ = listen(engine, line)
    line.script.clear()
    line.answer(410, b"")
    engine.open().run()
    tell(engine)
    hook.refresh_from_db()
    assert (hook.is_active, len(line.asked), len(events("hook.switched_off"))) == (False, 1, 1)
    assert set(HookDelivery.objects.values_list("status", flat=True)) == {"failed", "skipped"}


def test_a_redirect_is_not_followed(engine: Engine, line: Between) -> None:
    listen(engine, line, kinds=("opened",))
    line.script.clear()
    line.answer(307, b"", Location=f"{line.url}/elsewhere")
    engine.open()
    spread_portion(engine.organisation.pk)
    run_due(stage="tell_hook")
    assert [one.path for one in line.asked] == ["/hook?tenant=7"]
    assert HookDelivery.objects.get().code == "http_307"


def test_a_restored_copy_tells_nobody_until_a_person_resumes(engine: Engine, line: Between) -> None:
    listen(engine, line)
    engine.open()
    Installation.objects.update(restored=True)
    tell(engine, rounds=2)
    assert line.asked == []
    assert set(Task.objects.filter(stage="tell_hook").values_list("last_error", flat=True)) == {"installation"}
    Installation.objects.update(restored=False)
    tell(engine)
    assert len(line.asked) == 1


def test_both_secrets_sign_while_one_is_changed_for_the_other(engine: Engine, line: Between) -> None:
    hook, _ = listen(engine, line, kinds=("opened",))
    [old] = secrets_of(hook)
    rotate_secret(hook=hook, overlap=timedelta(days=1), by=SYSTEM)
    engine.open()
    tell(engine)
    [one] = line.asked
    named = [one.headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature")]
    for secret in (old, *secrets_of(hook)):
        assert refusal_of(Delivery(*named, one.body), [secret], datetime.now(UTC)) is None
    rotate_secret(hook=hook, overlap=timedelta(0), by=SYSTEM)
    assert old not in secrets_of(hook) and len(secrets_of(hook)) == 1


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://desk.example.org/hook", "not_https"),
        ("http://127.0.0.1:8000/", "not_https"),
        ("https://127.0.0.1/", "not_public"),
        ("https://localhost/", "not_public"),
        ("https://10.0.0.7/", "not_public"),
        ("https://169.254.169.254/latest/meta-data", "not_public"),
        ("https://[::ffff:10.0.0.7]/", "not_public"),
        ("https://user:secret@desk.example.org/", "bad_address"),
        ("ftp://desk.example.org/", "bad_address"),
        ("https://desk.example.org/#part", "bad_address"),
        ("https://elsewhere.example.org/", "host_not_allowed"),
    ],
)
def test_an_address_that_nothing_may_be_sent_to_is_refused_when_it_is_given(
    engine: Engine, settings: Any, url: str, code: str
) -> None:
    settings.CASEFLOW_HOOK_HOSTS, settings.CASEFLOW_HOOK_PRIVATE = ["desk.example.org"], False
    wanted = Wanted(name="desk", channel="webhook", kinds=ALL, url=url)
    with pytest.raises(BadInput) as refused:
        create_hook(organisation=engine.organisation, wanted=wanted, by=SYSTEM)
    assert (refused.value.code, Hook.objects.count()) == (code, 0)


def test_a_public_name_that_leads_into_a_private_network_is_refused_at_the_connection(
    engine: Engine, line: Between, settings: Any
) -> None:
    listen(engine, line, kinds=("opened",))
    # A name is only judged by what it leads to at that moment: this one leads to this machine.
    Hook.objects.update(url=f"https://localhost.localdomain:{line.url.rpartition(':')[2]}/")
    settings.CASEFLOW_HOOK_PRIVATE = False
    engine.open()
    spread_portion(engine.organisation.pk)
    with pytest.MonkeyPatch.context() as patch:
        found = [(2, 1, 6, "", ("127.0.0.1", 443))]
        patch.setattr("integrations.http.socket.getaddrinfo", lambda *_, **__: found)
        run_due(stage="tell_hook")
    assert (line.asked, HookDelivery.objects.get().code) == ([], "address_not_public")
