"""What was done to the trail is named: the stream, the event, and what happened to it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from accounts.principal import SYSTEM
from audit.linking import link_all
from audit.models import AuditEvent, OrganisationLink
from audit.offline import main
from audit.services import record_organisation_event
from cases.advancing import record_event
from tests.audit.tampering import tamper
from tests.driving import Engine, Story

EVENTS = "audit_auditevent"
LINKS = "audit_organisationlink"


@pytest.fixture
def seals(tmp_path: Path, settings: Any) -> Path:
    """A folder for seals and a key pair outside the database."""
    folder = tmp_path / "seals"
    folder.mkdir()
    settings.CASEFLOW_SEAL_FOLDER = str(folder)
    settings.CASEFLOW_SEAL_KEY_FILE = str(tmp_path / "key.pem")
    call_command("seal_audit", new_key=True, stdout=io.StringIO())
    return folder


@pytest.fixture
def story(engine: Engine) -> Story:
    """A case with six events."""
    story = engine.open()
    for number in range(5):
        with transaction.atomic():
            record_event(story.row, "case.note", actor=SYSTEM, facts={"number": number})
    return story


def verified(**options: Any) -> tuple[int, dict[str, Any]]:
    """Exit code and what the command said."""
    out = io.StringIO()
    try:
        call_command("verify_audit", json=True, stdout=out, **options)
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = json.loads(out.getvalue())
    assert said["verified"] == (code == 0)
    return code, said


def found(**options: Any) -> list[tuple[str, int, str]]:
    """(case or stream, event, what) of each problem."""
    _, said = verified(**options)
    return [(one["case"] or one["stream"], one["seq"], one["kind"]) for one in said["problems"]]


def seal() -> dict[str, Any]:
    out = io.StringIO()
    call_command("seal_audit", json=True, stdout=out)
    said: dict[str, Any] = json.loads(out.getvalue())
    return said


def renumber(case: int, first: int, by: int) -> tuple[str, list[int]]:
    """Move the numbers of all events from `first` on, without meeting each other."""
    statement = (
        f"UPDATE {EVENTS} SET seq = -(seq + %s) WHERE case_id = %s AND seq >= %s; "
        f"UPDATE {EVENTS} SET seq = -seq WHERE case_id = %s AND seq < 0"
    )
    with_values = statement % (by, case, first, case)
    return with_values, []


def test_an_untouched_trail_verifies_with_and_without_a_seal(story: Story, seals: Path) -> None:
    assert verified()[0] == 0
    seal()
    code, said = verified()
    assert (code, said["problems"], said["seal"]) == (0, [], 1)
    assert said["events"] == 6 + OrganisationLink.objects.count()


def test_a_flipped_byte_is_named(story: Story) -> None:
    change = (
        "UPDATE audit_auditevent SET body = set_byte(body, 20, get_byte(body, 20) # 1) WHERE case_id = %s AND seq = 3"
    )
    tamper(EVENTS, (change, [story.id]))
    assert found() == [(story.case.public_id, 3, "changed")]


def test_a_deleted_event_is_named(story: Story) -> None:
    tamper(EVENTS, ("DELETE FROM audit_auditevent WHERE case_id = %s AND seq = 3", [story.id]))
    assert found() == [(story.case.public_id, 3, "missing")]


def test_a_deleted_event_is_named_also_when_the_later_ones_were_moved_up(story: Story) -> None:
    tamper(
        EVENTS,
        ("DELETE FROM audit_auditevent WHERE case_id = %s AND seq = 3", [story.id]),
        renumber(story.id, 4, -1),
    )
    name = story.case.public_id
    assert found() == [(name, 3, "changed"), (name, 6, "cut")]


def test_an_inserted_event_is_named_although_its_own_hash_is_right(story: Story) -> None:
    tamper(
        EVENTS,
        renumber(story.id, 3, 1),
        (
            "INSERT INTO audit_auditevent (organisation_id, case_id, seq, kind, actor_kind, actor_id, from_state,"
            " to_state, at, at_us, body, hash) SELECT organisation_id, case_id, 3, kind, actor_kind, actor_id,"
            " from_state, to_state, at, at_us, body, sha256(hash || int8send(at_us) || body)"
            " FROM audit_auditevent WHERE case_id = %s AND seq = 2",
            [story.id],
        ),
    )
    name = story.case.public_id
    assert found() == [(name, 3, "inserted"), (name, 7, "cut")]


def test_two_events_that_changed_places_are_named(story: Story) -> None:
    swap = (
        "UPDATE audit_auditevent SET seq = -seq WHERE case_id = %s AND seq IN (3, 4);"
        "UPDATE audit_auditevent SET seq = 7 + seq WHERE case_id = %s AND seq < 0"
    )
    tamper(EVENTS, (swap % (story.id, story.id), []))
    assert found() == [(story.case.public_id, 3, "swapped")]


@pytest.mark.parametrize(
    "column", ["kind = 'case.other'", "actor_id = 99", "from_state = 'CHECKING'", "at = at + interval '1 hour'"]
)
def test_a_column_that_says_something_else_than_the_hashed_body_is_named(column: str, story: Story) -> None:
    tamper(EVENTS, (f"UPDATE audit_auditevent SET {column} WHERE case_id = %s AND seq = 4", [story.id]))
    assert found() == [(story.case.public_id, 4, "columns")]


def test_a_tail_cut_off_with_the_head_set_back_shows_against_the_seal_only(story: Story, seals: Path) -> None:
    assert seal()["seal"] == 1
    tamper(EVENTS, ("DELETE FROM audit_auditevent WHERE case_id = %s AND seq > 4", [story.id]))
    back = (
        "UPDATE cases_case SET audit_count = 4, audit_head = e.hash FROM audit_auditevent e"
        " WHERE cases_case.id = %s AND e.case_id = cases_case.id AND e.seq = 4"
    )
    tamper("cases_case", (back, [story.id]))
    assert found(seals=seals) == [(story.case.public_id, 5, "cut")]
    (seals / "000001.seal").rename(seals / "kept-aside")
    assert found(seals=seals) == []


def test_a_stream_written_anew_with_right_hashes_shows_against_the_seal_only(story: Story, seals: Path) -> None:
    seal()
    anew = """
    WITH RECURSIVE anew AS (
      SELECT id, seq, at_us, hash,
             convert_to(replace(convert_from(body, 'UTF8'), '"number":3', '"number":4'), 'UTF8') AS body
      FROM audit_auditevent WHERE case_id = %s),
    chained AS (
      SELECT id, seq, body, sha256(''::bytea || int8send(at_us) || body) AS hash FROM anew WHERE seq = 1
      UNION ALL
      SELECT anew.id, anew.seq, anew.body, sha256(chained.hash || int8send(anew.at_us) || anew.body)
      FROM anew JOIN chained ON anew.seq = chained.seq + 1)
    UPDATE audit_auditevent e SET body = chained.body, hash = chained.hash FROM chained WHERE chained.id = e.id
    """
    tamper(EVENTS, (anew, [story.id]))
    head = (
        "UPDATE cases_case SET audit_head = e.hash FROM audit_auditevent e"
        " WHERE cases_case.id = %s AND e.case_id = cases_case.id AND e.seq = 6"
    )
    tamper("cases_case", (head, [story.id]))
    assert found(seals=seals) == [(story.case.public_id, 6, "rewritten")]
    with transaction.atomic():
        record_organisation_event(story.case.organisation_id, "export.made", actor=SYSTEM, facts={})
    with pytest.raises(CommandError) as refused:
        call_command("seal_audit", stdout=io.StringIO())
    assert refused.value.returncode == 3
    assert [path.name for path in seals.glob("*.seal")] == ["000001.seal"]


def test_an_organisations_stream_is_as_safe(engine: Engine, seals: Path) -> None:
    for number in range(4):
        with transaction.atomic():
            record_organisation_event(engine.organisation.pk, "export.made", actor=SYSTEM, facts={"number": number})
    link_all()
    seal()
    stream = f"organisation:{engine.organisation.pk}"
    flip = "UPDATE audit_auditevent SET body = set_byte(body, 20, get_byte(body, 20) # 1) WHERE id = %s"
    event = OrganisationLink.objects.get(organisation_id=engine.organisation.pk, seq=2).event_id
    tamper(EVENTS, (flip, [event]))
    assert found() == [(stream, 2, "changed")]
    tamper(EVENTS, (flip, [event]))
    assert found() == []
    tamper(
        LINKS, ("DELETE FROM audit_organisationlink WHERE organisation_id = %s AND seq > 3", [engine.organisation.pk])
    )
    assert (stream, 4, "cut") in found()
    tamper(LINKS, ("DELETE FROM audit_organisationlink WHERE organisation_id = %s", [engine.organisation.pk]))
    assert (stream, 1, "missing") in found()


def test_an_event_put_in_past_the_queue_is_named(engine: Engine) -> None:
    link_all()
    tamper(
        EVENTS,
        (
            "INSERT INTO audit_auditevent (organisation_id, kind, actor_kind, from_state, to_state, at, at_us, body,"
            " hash) SELECT organisation_id, kind, actor_kind, '', '', at, at_us, body, '' FROM audit_auditevent"
            " WHERE case_id IS NULL LIMIT 1",
            [],
        ),
    )
    _, said = verified()
    assert [one["kind"] for one in said["problems"]] == ["unlinked"]
    assert str(AuditEvent.objects.latest("id").pk) in said["problems"][0]["problem"]


def test_a_case_whose_events_are_all_gone_is_named(story: Story) -> None:
    tamper(EVENTS, ("DELETE FROM audit_auditevent WHERE case_id = %s", [story.id]))
    assert found() == [(story.case.public_id, 1, "missing")]


def test_a_saved_file_verifies_without_a_database_and_a_changed_one_does_not(
    story: Story, seals: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seal()
    file = tmp_path / "streams.jsonl"
    assert verified(save=file)[0] == 0
    arguments = ["--file", str(file), "--seals", str(seals), "--public-key", str(tmp_path / "key.pem.pub")]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["seal"] == 1
    assert verified(file=file)[0] == 0
    text = file.read_text()
    file.write_text(text.replace('\\"number\\":3', '\\"number\\":7'))
    assert main(arguments) == 3
    assert json.loads(capsys.readouterr().out)["problems"][0]["case"] == story.case.public_id
    assert found(file=file) == [(story.case.public_id, 5, "changed")]
    file.write_text("".join(text.splitlines(keepends=True)[:-1]))
    assert main(arguments) == 1
    with pytest.raises(CommandError) as unreadable:
        call_command("verify_audit", file=file, stdout=io.StringIO())
    assert unreadable.value.returncode == 1
