"""Pausing and resuming: who may, what is refused, what is on record, and that what waited goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection

from accounts.models import Organisation, Person
from accounts.platform import grant_platform
from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role, revoke_role
from audit.models import AuditEvent
from audit.services import PLATFORM, facts_of
from caseflow.domain.errors import BadInput, NotFound, NotPermitted
from caseflow.domain.roles import Role
from cases.bell import CHANNEL
from cases.dispatching import sweep
from cases.models import Pause
from cases.models.task import QUICK
from operations.pauses import get_pause, list_pauses, list_standing, pauses_of_case
from operations.pausing import get_organisation, pause, resume
from tests.cases.test_dispatching import add as add_tasks
from tests.driving import Engine, Story
from tests.pauses import pause_work

WHY = "The payment service shows wrong amounts."


@pytest.fixture
def keeper(engine: Engine) -> Person:
    """A platform operator."""
    person = engine.person("keeper")
    grant_platform(person=person, by=SYSTEM, reason="on duty")
    return person


@pytest.fixture
def globex(engine: Engine) -> Organisation:
    other = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.approver, organisation=other, role=Role.APPROVER, by=SYSTEM)
    return other


def told(organisation_id: int) -> list[tuple[str, dict[str, Any]]]:
    """(kind, facts) of what is on record of pauses and refusals, oldest first."""
    rows = AuditEvent.objects.filter(organisation_id=organisation_id, case_id=None).order_by("id")
    found = [(row.kind, facts_of(row.body)["facts"]) for row in rows]
    return [one for one in found if one[0].startswith(("pause.", "access."))]


def kinds(organisation_id: int) -> list[str]:
    return [kind for kind, _ in told(organisation_id)]


def test_an_operator_pauses_a_process_within_the_organisation_and_resumes_it(engine: Engine) -> None:
    operator, acme = engine.person("operator"), engine.organisation
    story = engine.open()
    paused = pause(kind="process", name="restore_access", organisation=acme, by=operator, reason=WHY)
    assert (paused.created, paused.pause.by, paused.pause.until) == (True, operator, None)
    story.run()
    assert story.state == "RECEIVED"
    assert resume(pause=paused.pause, by=operator, reason="Amounts are right again.")
    story.run()
    assert story.state == "WAITING_APPROVAL"
    assert kinds(acme.pk) == ["pause.set", "pause.ended"]
    assert told(acme.pk)[0][1] == {
        "pause": paused.pause.public_id,
        "of": "process",
        "name": "restore_access",
        "reason": WHY,
        "until": None,
    }
    assert kinds(PLATFORM) == []


def test_a_pause_of_one_organisation_holds_up_nobody_else(engine: Engine, globex: Organisation) -> None:
    ours, theirs = engine.open(), engine.open(organisation=globex)
    pause(
        kind="process",
        name="restore_access",
        organisation=engine.organisation,
        by=engine.person("operator"),
        reason=WHY,
    )
    ours.run()
    theirs.run()
    assert (ours.state, theirs.state) == ("RECEIVED", "WAITING_APPROVAL")


@pytest.mark.parametrize("kind", ["process", "system", "organisation", "all"])
def test_a_platform_operator_pauses_everything_there_is(kind: str, engine: Engine, keeper: Person) -> None:
    names = {"process": "restore_access", "system": "subscriptions"}
    place = engine.organisation if kind == "organisation" else None
    paused = pause(kind=kind, name=names.get(kind, ""), organisation=place, by=keeper, reason=WHY)
    assert kinds(place.pk if place else PLATFORM) == ["pause.set"]
    assert resume(pause=paused.pause, by=keeper, reason="over")


@pytest.mark.parametrize("who", ["viewer", "approver", "operator", "recoverer", "auditor", "org_admin"])
@pytest.mark.parametrize("kind", ["process here", "process", "system", "system here", "organisation", "all"])
def test_who_may_not_pause_is_refused_and_on_record(who: str, kind: str, engine: Engine, keeper: Person) -> None:
    acme, person = engine.organisation, engine.person(f"the-{who}")
    grant_role(person=person, organisation=acme, role=Role(who), by=SYSTEM)
    word, _, here = kind.partition(" ")
    names = {"process": "restore_access", "system": "subscriptions"}
    asked = {
        "kind": word,
        "name": names.get(word, ""),
        "organisation": acme if here or word == "organisation" else None,
    }
    if kind == "process here" and who in ("operator", "recoverer"):
        assert pause(**asked, by=person, reason=WHY).created
        return
    with pytest.raises(NotPermitted):
        pause(**asked, by=person, reason=WHY)
    assert not Pause.objects.exists()
    assert kinds(acme.pk if asked["organisation"] else PLATFORM) == ["access.refused"]

    standing = pause(**asked, by=keeper, reason=WHY).pause
    with pytest.raises(NotPermitted):
        resume(pause=standing, by=person, reason="over")
    assert Pause.objects.get().ended_at is None


def test_who_lost_the_role_pauses_nothing_any_more(engine: Engine) -> None:
    operator, acme = engine.person("operator"), engine.organisation
    standing = pause(kind="process", name="restore_access", organisation=acme, by=operator, reason=WHY).pause
    revoke_role(person=operator, organisation=acme, role=Role.OPERATOR, by=SYSTEM)
    with pytest.raises(NotPermitted):
        resume(pause=standing, by=operator, reason="over")


def test_an_organisation_out_of_sight_is_the_same_as_none(engine: Engine, keeper: Person, globex: Organisation) -> None:
    operator = engine.person("operator")
    for slug in ("globex", "nobody", "a\x00b", "ü"):
        with pytest.raises(NotFound):
            get_organisation(operator, slug)
    assert get_organisation(keeper, "globex") == globex


@pytest.mark.parametrize(
    ("asked", "path", "code"),
    [
        ({"kind": "planet"}, "$.kind", "unknown_kind"),
        ({"kind": "process", "name": "restore"}, "$.name", "unknown_process"),
        ({"kind": "process"}, "$.name", "unknown_process"),
        ({"kind": "system", "name": "restore_access"}, "$.name", "unknown_system"),
        ({"kind": "all", "name": "mail"}, "$.name", "not_used"),
        ({"kind": "organisation"}, "$.organisation", "empty"),
        ({"kind": "all", "reason": " "}, "$.reason", "empty"),
        ({"kind": "all", "reason": "cap_reached"}, "$.reason", "empty"),
        ({"kind": "all", "reason": "x" * 501}, "$.reason", "too_long"),
        ({"kind": "all", "reason": "a\x00b"}, "$.reason", "nul"),
        ({"kind": "all", "until": datetime(2001, 1, 1, tzinfo=UTC)}, "$.until", "past"),
        ({"kind": "all", "until": datetime(9999, 12, 31, tzinfo=UTC)}, "$.until", "too_far"),
    ],
)
def test_nonsense_is_refused_with_its_place(asked: dict[str, Any], path: str, code: str, keeper: Person) -> None:
    with pytest.raises(BadInput) as refused:
        pause(**({"reason": WHY} | asked), by=keeper)
    assert (refused.value.params["path"], refused.value.code) == (path, code)
    assert not Pause.objects.exists()


def test_everything_is_paused_for_everybody_or_not_at_all(engine: Engine, keeper: Person) -> None:
    with pytest.raises(BadInput):
        pause(kind="all", organisation=engine.organisation, by=keeper, reason=WHY)
    with pytest.raises(BadInput):
        resume(pause=pause(kind="all", by=keeper, reason=WHY).pause, by=keeper, reason="")


def test_the_same_again_is_the_same_pause_and_a_later_end_prolongs_it(engine: Engine, keeper: Person) -> None:
    soon, later = engine.now() + timedelta(hours=1), engine.now() + timedelta(hours=2)
    first = pause(kind="system", name="mail", by=keeper, reason=WHY, until=soon)
    again = pause(kind="system", name="mail", by=keeper, reason=WHY, until=soon)
    assert (again.created, again.prolonged, again.pause) == (False, False, first.pause)
    longer = pause(kind="system", name="mail", by=keeper, reason=WHY, until=later)
    assert (longer.created, longer.prolonged, longer.pause.until) == (False, True, later)
    assert pause(kind="system", name="mail", by=keeper, reason=WHY, until=soon).pause.until == later
    assert pause(kind="system", name="mail", by=keeper, reason=WHY).pause.until is None
    assert pause(kind="system", name="mail", by=keeper, reason=WHY, until=later).pause.until is None
    assert Pause.objects.count() == 1
    assert kinds(PLATFORM) == ["pause.set", "pause.prolonged", "pause.prolonged"]
    assert resume(pause=first.pause, by=keeper, reason="over")
    assert not resume(pause=first.pause, by=keeper, reason="over")
    assert kinds(PLATFORM)[3:] == ["pause.ended"]


def test_a_pause_ends_by_the_clock_of_the_database(engine: Engine, keeper: Person) -> None:
    story = engine.approved()
    standing = pause(
        kind="system", name="subscriptions", by=keeper, reason=WHY, until=engine.now() + timedelta(minutes=1)
    ).pause
    story.run()
    task = story.task("execute")
    assert (task.last_error, story.writes()) == ("paused", [])
    assert standing.until is not None
    # It sleeps no longer than the pause, in case nobody rings.
    assert task.available_at <= standing.until + timedelta(seconds=1)
    engine.owner.execute("UPDATE cases_pause SET until = clock_timestamp() - interval '1 millisecond'")
    story.run_later()
    assert story.state == "COMPLETED"
    assert list(list_pauses(keeper, live=True)) == []
    assert [one.pk for one in list_pauses(keeper, live=False)] == [standing.pk]
    # What lapsed does not stand in the way of the next, and is not resumed a second time.
    assert not resume(pause=standing, by=keeper, reason="over")
    assert pause(kind="system", name="subscriptions", by=keeper, reason=WHY).created


def test_whoever_resumes_rings_and_what_was_held_at_the_last_moment_is_due_at_once(
    engine: Engine, keeper: Person, as_owner: psycopg.Connection[Any]
) -> None:
    story = engine.approved()
    standing = pause(kind="system", name="subscriptions", by=keeper, reason=WHY).pause
    story.run()
    assert story.task("execute").available_at > engine.now() + timedelta(seconds=10)
    as_owner.execute(f"LISTEN {CHANNEL}")
    resume(pause=standing, by=keeper, reason="over")
    assert [note.channel for note in as_owner.notifies(timeout=5, stop_after=1)] == [CHANNEL]
    assert story.task("execute").available_at <= engine.now()
    story.run()
    assert story.state == "COMPLETED"


def test_a_person_who_resumes_while_a_send_is_being_put_to_sleep_finds_it_awake(engine: Engine, keeper: Person) -> None:
    """The refusal and its storing are two transactions: the second one looks again, behind the gate."""
    story = engine.approved()
    standing = pause(kind="system", name="subscriptions", by=keeper, reason=WHY).pause
    before = hold_between(story, lambda: resume(pause=standing, by=keeper, reason="over"))
    assert before == "refused"
    assert story.task("execute").available_at <= engine.now()


def hold_between(story: Story, act: Any) -> str:
    """Run `act` after the call was refused and before the task is stored as held."""
    import actions.giving_up as giving_up

    said, kept = [], giving_up.wait_for_resuming

    def late(*given: Any) -> Any:
        said.append("refused")
        act()
        return kept(*given)

    giving_up.wait_for_resuming = late
    try:
        story.run("execute")
    finally:
        giving_up.wait_for_resuming = kept
    return said[0]


def test_a_long_pause_of_a_process_uses_up_no_time_of_what_was_tried_before(engine: Engine, keeper: Person) -> None:
    """A task's patience is for work: a weekend's pause must not send every case to a person."""
    story = engine.open()
    engine.outside.script("error_before", method="GET", path=f"/payments/{story.payment}")
    story.run()
    task = story.task("observe")
    assert (task.status, task.attempt) == ("due", 1)
    standing = pause_work("process", engine.organisation)
    engine.owner.execute(
        "UPDATE cases_task SET available_at = available_at - interval '3 days', deadline_at = deadline_at"
        " - interval '3 days' WHERE id = %s",
        [task.pk],
    )
    engine.owner.execute("UPDATE cases_pause SET at = at - interval '3 days'")
    story.run()
    assert story.state == "CHECKING"
    resume(pause=standing, by=keeper, reason="over")
    story.run()
    assert story.state == "WAITING_APPROVAL"


def test_time_that_was_not_paused_still_runs_out(engine: Engine, keeper: Person, globex: Organisation) -> None:
    story = engine.open()
    engine.outside.script("error_before", method="GET", path=f"/payments/{story.payment}")
    story.run()
    pause(kind="process", name="restore_access", organisation=globex, by=keeper, reason=WHY)
    engine.owner.execute("UPDATE cases_pause SET at = at - interval '9 days'")
    engine.owner.execute(
        "UPDATE cases_task SET available_at = available_at - interval '3 days', deadline_at = deadline_at"
        " - interval '3 days' WHERE case_id = %s AND status = 'due'",
        [story.id],
    )
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "deadline_passed")


def test_a_paused_flood_takes_no_room_from_others(engine: Engine, globex: Organisation) -> None:
    for n in range(3):
        add_tasks(
            engine.owner, 100, organisation=engine.organisation.pk, process="restore_access:1", name=f"flood-{n}-"
        )
    pause(
        kind="process",
        name="restore_access",
        organisation=engine.organisation,
        by=engine.person("operator"),
        reason=WHY,
    )
    free = [engine.open(organisation=globex).task("check").pk for _ in range(3)]
    rung: list[int] = []
    sweep([QUICK], lambda _queue, task: rung.append(task), window=4)
    assert rung == free


def test_everybody_sees_the_pauses_that_concern_them_and_no_other(
    engine: Engine, keeper: Person, globex: Organisation
) -> None:
    viewer, outsider, nobody = engine.person("viewer"), engine.person("outsider"), engine.person("nobody")
    grant_role(person=outsider, organisation=globex, role=Role.VIEWER, by=SYSTEM)
    acme = engine.organisation
    ours = pause(
        kind="process", name="restore_access", organisation=acme, by=engine.person("operator"), reason=WHY
    ).pause
    general = pause(kind="system", name="mail", by=keeper, reason=WHY).pause
    seen = {who.username: {one.pk for one in list_pauses(who, live=True)} for who in (viewer, outsider, nobody, keeper)}
    assert seen == {
        "viewer": {ours.pk, general.pk},
        "outsider": {general.pk},
        "nobody": set(),
        "keeper": {ours.pk, general.pk},
    }
    assert [one.public_id for one in list_standing(viewer)] == [general.public_id, ours.public_id]
    assert [one.public_id for one in list_standing(outsider)] == [general.public_id]
    assert list_standing(nobody) == []
    with pytest.raises(NotFound):
        get_pause(outsider, ours.public_id)
    assert get_pause(viewer, ours.public_id) == ours


def test_a_case_is_told_which_pauses_it_waits_for(engine: Engine, keeper: Person, globex: Organisation) -> None:
    story = engine.proposed()
    system = pause(kind="system", name="subscriptions", by=keeper, reason=WHY).pause
    process = pause_work("process", engine.organisation)
    pause(kind="system", name="payments", by=keeper, reason=WHY)
    pause(kind="organisation", organisation=globex, by=keeper, reason=WHY)
    assert pauses_of_case(story.case, {"subscriptions", "mail"}) == [system, process]


def test_a_pause_cannot_be_removed_or_rewritten_by_the_product(engine: Engine, keeper: Person) -> None:
    from django.db import ProgrammingError, transaction

    pause(kind="all", by=keeper, reason=WHY)
    for statement in (
        "DELETE FROM cases_pause",
        "UPDATE cases_pause SET reason = ''",
        "UPDATE cases_pause SET at = now()",
    ):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            connection.cursor().execute(statement)
