"""A seal lies outside the database, is signed, and follows from the one before."""

from __future__ import annotations

import io
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from accounts.principal import SYSTEM
from audit.seals import new_key
from audit.services import record_organisation_event
from caseflow.invariants.chains import chains_verify
from tests.audit.tampering import tamper
from tests.audit.test_verify_audit import found, seal, seals, verified
from tests.driving import together

__all__ = ["seals"]

pytestmark = pytest.mark.usefixtures("committing_database")


def happened() -> None:
    with transaction.atomic():
        record_organisation_event(7001, "export.made", actor=SYSTEM, facts={})


def refused(command: str, **options: Any) -> int:
    with pytest.raises(CommandError) as error:
        call_command(command, stdout=io.StringIO(), **options)
    return error.value.returncode


def test_a_seal_holds_only_what_grew_and_is_written_once(seals: Path) -> None:
    happened()
    assert seal() == {"seal": 1, "file": str(seals / "000001.seal"), "streams": 1, "linked": 1, "problems": []}
    assert seal()["file"] == ""
    happened()
    assert seal()["seal"] == 2
    first, second = [path.read_text().splitlines() for path in sorted(seals.glob("*.seal"))]
    assert [line.split()[:2] for line in (first[2], second[2])] == [
        ["organisation:7001", "1"],
        ["organisation:7001", "2"],
    ]
    assert json.loads(second[0])["previous"] != ""
    assert verified()[1]["seal"] == 2


def test_two_runs_at_the_same_instant_leave_one_seal(seals: Path) -> None:
    happened()
    results = together(*[lambda: call_command("seal_audit", stdout=io.StringIO())] * 2)
    assert all(result is None or isinstance(result, CommandError) for result in results)
    assert [path.name for path in seals.glob("*.seal")] == ["000001.seal"]
    assert found() == []


def test_a_private_key_is_for_its_owner_only_and_never_written_over(tmp_path: Path, settings: Any) -> None:
    settings.CASEFLOW_SEAL_KEY_FILE = str(tmp_path / "key.pem")
    call_command("seal_audit", new_key=True, stdout=io.StringIO())
    assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600
    before = (tmp_path / "key.pem").read_bytes()
    assert refused("seal_audit", new_key=True) == 1
    assert (tmp_path / "key.pem").read_bytes() == before


def test_a_seal_by_another_key_a_changed_one_and_a_missing_one_are_named(seals: Path, tmp_path: Path) -> None:
    for _ in range(3):
        happened()
        seal()
    path = seals / "000002.seal"
    honest = path.read_bytes()
    path.write_bytes(honest.replace(b"organisation:7001 2 ", b"organisation:7001 1 "))
    assert ("seal 000002", 0, "seal") in found()
    path.write_bytes(honest.replace(b'"number":2', b'"number":9'))
    assert ("seal 000002", 0, "seal") in found()
    path.write_bytes(honest.replace(b'"at":"2', b'"at":"1'))
    assert ("seal 000002", 0, "seal") in found()
    path.write_bytes(b"nothing of the kind")
    assert ("seal 000002", 0, "seal") in found()
    path.unlink()
    assert found() == [("seal 000003", 0, "seal")]
    assert refused("seal_audit") == 3
    path.write_bytes(honest)
    assert found() == []
    other = new_key(tmp_path / "other.pem")
    assert [one[0] for one in found(public_key=[other])] == ["seal 000001", "seal 000002", "seal 000003"]


def test_the_invariant_of_chains_asks_the_seals_too(seals: Path) -> None:
    happened()
    seal()
    assert chains_verify().violations == 0
    tamper("audit_organisationlink", ("DELETE FROM audit_organisationlink", []))
    tamper("audit_auditevent", ("DELETE FROM audit_auditevent", []))
    assert [one.problem for one in chains_verify().shown] == [
        "organisation:7001: every event is gone; seal 1 counted 1"
    ]
    (seals / "000001.seal").write_bytes(b"nothing of the kind")
    assert chains_verify().violations == 1


def test_seals_of_another_installation_are_named(seals: Path, settings: Any) -> None:
    happened()
    seal()
    settings.CASEFLOW_INSTALLATION_ID = "00000000-0000-4000-8000-000000000000"
    assert found() == [("seal 000001", 0, "seal")]


def test_seals_of_a_former_key_still_verify(seals: Path, tmp_path: Path) -> None:
    happened()
    seal()
    (tmp_path / "key.pem").unlink()
    (tmp_path / "key.pem.pub").rename(tmp_path / "former.pub")
    call_command("seal_audit", new_key=True, stdout=io.StringIO())
    happened()
    assert seal()["seal"] == 2
    assert found() == []


def test_without_a_key_or_a_folder_nothing_is_sealed(seals: Path, settings: Any, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("no key")
    assert refused("seal_audit") == 1
    settings.CASEFLOW_SEAL_FOLDER = ""
    assert refused("seal_audit") == 2
    settings.CASEFLOW_SEAL_KEY_FILE = ""
    assert refused("seal_audit") == 2
    assert refused("verify_audit", seals=tmp_path / "nowhere") == 2
