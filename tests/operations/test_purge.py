"""Erasing personal texts: shown first, done with an administrator's rights, recorded, and gone from every dump."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from audit.linking import link_all
from audit.models import AuditEvent
from audit.services import facts_of
from audit.streams import read_links
from audit.verifying import verify
from caseflow.domain.errors import Purged
from caseflow.domain.roles import RIGHTS_OF_ROLE, Right, Role
from cases.heads import read_heads
from cases.models import CaseKey, PersonalText
from cases.personal import read_texts
from cases.supplying import supply_data
from operations import trimming_hooks
from operations.models import Hook, HookDelivery, HookReading, Repair
from operations.purging import purge_case
from operations.spreading_hooks import spread_portion
from tests.audit.dumps import dump
from tests.commands.conftest import Run
from tests.driving import Engine, Story, fingerprint

CANARY = "канарейка-7f3a: у меня списали деньги с карты"
REASON = "Срок хранения истёк"
APPLY = ("--apply", "--as", "admin", "--reason", REASON)


@pytest.fixture
def closed(engine: Engine) -> Story:
    """A case that was closed without a change, and whose texts were personal."""
    grant_role(person=engine.person("admin"), organisation=engine.organisation, role=Role.ORG_ADMIN, by=SYSTEM)
    story = engine.open(claim=CANARY, payment={"status": "refunded"})
    story.run()
    story.run_later()
    assert story.state == "CLOSED_NO_CHANGE"
    return story


def age(story: Story, days: int) -> None:
    story.engine.owner.execute(
        "UPDATE cases_case SET closed_at = closed_at - %s * interval '1 day' WHERE id = %s", [days, story.id]
    )


def has_key(story: Story) -> bool:
    return CaseKey.objects.filter(case_id=story.id).exists()


def test_without_apply_it_is_only_shown(closed: Story, run: Run) -> None:
    age(closed, 400)
    before = fingerprint()
    shown = run("purge", "--older-than", "365", "--json")
    assert shown.code == 3
    assert [(one["case"], one["result"]) for one in shown.json()["found"]] == [(closed.case.public_id, "shown")]
    assert fingerprint() == before


def test_a_closed_case_older_than_the_limit_is_erased_and_that_is_on_record(closed: Story, run: Run) -> None:
    age(closed, 400)
    done = run("purge", "--older-than", "365", *APPLY)
    assert done.code == 0, done.failure
    with pytest.raises(Purged):
        read_texts(closed.id, ["intake.claim"])
    repair = Repair.objects.get()
    assert (repair.command, repair.reason, repair.by.username) == ("purge", REASON, "admin")
    count = PersonalText.objects.filter(case_id=closed.id).count()
    assert count >= 1
    assert closed.told("personal.purged") == {"repair": repair.pk, "texts": count}
    link_all()
    assert verify(read_links(), heads=read_heads()).problems == []
    assert run("purge", "--older-than", "365", *APPLY).code == 0
    assert closed.history().count("personal.purged") == 1


def test_a_case_closed_later_is_left_alone(closed: Story, run: Run) -> None:
    age(closed, 364)
    assert run("purge", "--older-than", "365", *APPLY).code == 0
    assert has_key(closed)


def test_after_the_purge_no_dump_holds_the_text_or_what_could_open_it(closed: Story, run: Run) -> None:
    key = bytes(CaseKey.objects.get(case_id=closed.id).wrapped).hex().encode()
    before = dump()
    assert (key in before, CANARY.encode() in before) == (True, False)
    assert run("purge", "--case", closed.case.public_id, *APPLY).code == 0
    after = dump()
    assert key not in after
    assert closed.case.public_id.encode() in after
    for form in (CANARY, CANARY.encode("unicode_escape").decode(), CANARY.encode().hex()):
        assert form.encode() not in after


def test_the_cases_of_one_customer_are_erased_and_nobody_elses(closed: Story, run: Run) -> None:
    other = closed.engine.open(payment={"status": "refunded"})
    other.run()
    other.run_later()
    assert other.state == "CLOSED_NO_CHANGE"
    assert run("purge", "--customer", closed.customer, *APPLY).code == 0
    assert (has_key(closed), has_key(other)) == (False, True)


def test_an_open_case_keeps_its_texts(engine: Engine, closed: Story, run: Run) -> None:
    story = engine.proposed()
    done = run("purge", "--case", story.case.public_id, *APPLY, "--json")
    assert done.code == 3
    assert [(one["problem"], one["repairable"]) for one in done.json()["found"]] == [("open", False)]
    assert has_key(story)


def test_a_case_that_was_found_closed_and_is_open_keeps_its_texts(engine: Engine) -> None:
    story = engine.open()
    repair = Repair.objects.create(command="purge", by=engine.approver, os_account="x", reason="x", at=engine.now())
    with transaction.atomic():
        assert purge_case(story.id, repair, SYSTEM) is False
    assert has_key(story)
    assert story.history() == ["case.opened"]


@pytest.mark.parametrize("role", [role for role in Role if role != Role.ORG_ADMIN])
def test_only_an_administrator_of_the_organisation_erases(role: Role, closed: Story, run: Run) -> None:
    person = closed.engine.person("somebody")
    grant_role(person=person, organisation=closed.engine.organisation, role=role, by=SYSTEM)
    done = run("purge", "--case", closed.case.public_id, "--apply", "--as", "somebody", "--reason", REASON)
    # Shown and left alone where it is in sight, and else not there at all.
    assert done.code == (3 if Right.SEE_CASES in RIGHTS_OF_ROLE[role] else 0)
    assert has_key(closed)


def test_an_administrator_of_another_organisation_erases_nothing(closed: Story, run: Run) -> None:
    globex = create_organisation(slug="globex", name="Globex")
    grant_role(person=closed.engine.person("stranger"), organisation=globex, role=Role.ORG_ADMIN, by=SYSTEM)
    run("purge", "--older-than", "0", "--apply", "--as", "stranger", "--reason", REASON)
    assert has_key(closed)


def test_old_lines_of_what_programs_were_told_are_deleted_and_nothing_is_told_again_or_left_untold(
    engine: Engine, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trimming_hooks, "PORTION", 1)
    grant_role(person=engine.person("admin"), organisation=engine.organisation, role=Role.ORG_ADMIN, by=SYSTEM)
    read, unread = engine.proposed(), engine.open()
    row = partial(tell_long_ago, engine, engine.now() - timedelta(days=100))
    gone = [row("desk", read, 1, "sent"), row("desk", read, 2, "skipped")]
    stay = [row("other", read, 1, "failed"), row("other", read, 2, "waiting"), row("desk", unread, 1, "sent")]
    stay += [row("desk", read, 3, "sent", engine.now())]
    # The readers come upon the other case once more: only its row says that it was told.
    safe = AuditEvent.objects.filter(case_id=read.id).latest("at_us").at_us
    HookReading.objects.create(organisation=engine.organisation, safe_us=safe)

    assert run("purge", "--told-longer-ago", "90", "--json").json()["found"][0]["rows"] == len(gone)
    assert run("purge", "--told-longer-ago", "90", "--apply", "--as", "approver", "--reason", REASON).code == 3
    assert HookDelivery.objects.count() == len(gone + stay)
    assert run("purge", "--told-longer-ago", "90", *APPLY).code == 0
    spread_portion(engine.organisation.pk)
    assert set(HookDelivery.objects.values_list("pk", flat=True)) == set(stay)
    event = AuditEvent.objects.get(kind="hook.log_trimmed")
    assert facts_of(event.body)["facts"] | {"hook": "", "repair": 0} == {"hook": "", "rows": 2, "days": 90, "repair": 0}
    assert run("purge", "--told-longer-ago", "90", *APPLY).code == 0
    assert CaseKey.objects.count() == 2, "and no text of a case with them"


def tell_long_ago(engine: Engine, at: datetime, name: str, story: Story, version: int, status: str, *when: Any) -> int:
    hook, _ = Hook.objects.get_or_create(
        organisation=engine.organisation, name=name, defaults={"channel": "ticket", "kinds": ["changed"], "from_us": 0}
    )
    event = AuditEvent.objects.get(case_id=story.id, version=version)
    return HookDelivery.objects.create(
        hook=hook, case_id=story.id, event=event, version=version, kind="changed", status=status, created_at=at,
        settled_at=None if status == "waiting" else (*when, at)[0],
    ).pk  # fmt: skip


@pytest.mark.parametrize(
    "arguments", [(), ("--older-than", "-1"), ("--case", "C-1", "--apply"), ("--case", "C-1", "--told-longer-ago", "9")]
)
def test_what_it_cannot_understand_is_a_usage_error(arguments: tuple[str, ...], database: None, run: Run) -> None:
    assert run("purge", *arguments).code == 2


def test_data_for_an_erased_case_is_refused_as_erased(closed: Story, run: Run) -> None:
    assert run("purge", "--case", closed.case.public_id, *APPLY).code == 0
    with pytest.raises(Purged):
        supply_data(case_id=closed.id, data={"payment_id": "PAY-2"}, actor=SYSTEM)
    assert connection.in_atomic_block is False
