"""What is recorded outlives the server: after dump and restore the trail verifies, against the seals, too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings as configured

from audit.linking import link_all
from tests.audit.dumps import restored
from tests.audit.tampering import tamper
from tests.audit.test_verify_audit import seal, seals
from tests.driving import Engine

__all__ = ["seals"]


def test_a_restored_database_verifies_and_a_restored_forgery_does_not(
    engine: Engine, seals: Path, tmp_path: Path
) -> None:
    story = engine.approved()
    story.run()
    assert story.state == "COMPLETED"
    link_all()
    seal()
    with restored(tmp_path) as addresses:
        code, said = verified_there(addresses, seals)
        assert (code, said["problems"], said["seal"]) == (0, [], 1)
        assert said["events"] > 10
    tamper(
        "audit_auditevent",
        ("UPDATE audit_auditevent SET at_us = at_us + 1 WHERE case_id = %s AND seq = 2", [story.id]),
    )
    with restored(tmp_path) as addresses:
        code, said = verified_there(addresses, seals)
        assert (code, said["problems"][0]["case"], said["problems"][0]["seq"]) == (3, story.case.public_id, 2)


def verified_there(addresses: dict[str, str], seals: Path) -> tuple[int, dict[str, Any]]:
    """As an operator does it: a process of its own, with the addresses of the copy."""
    key = f"{configured.CASEFLOW_SEAL_KEY_FILE}.pub"
    command = [sys.executable, "manage.py", "verify_audit", "--json", "--seals", str(seals), "--public-key", key]
    done = subprocess.run(
        command,
        cwd=configured.BASE_DIR,
        env=os.environ | addresses,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)
