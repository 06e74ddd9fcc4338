"""A restored or copied database sends nothing until every open result was checked and a person resumes."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from accounts.platform import grant_platform
from accounts.principal import SYSTEM
from audit.models import AuditEvent
from audit.services import PLATFORM
from cases.models import Installation
from tests.commands.conftest import Run
from tests.driving import Engine

APPLY = ("--apply", "--as", "keeper", "--reason", "restored after the fire")


@pytest.fixture(autouse=True)
def keeper(engine: Engine) -> None:
    grant_platform(person=engine.person("keeper"), by=SYSTEM, reason="on duty")


def test_a_restored_database_sends_again_after_its_open_results_were_checked(engine: Engine, run: Run) -> None:
    doubtful, waiting = engine.approved(), engine.approved()
    doubtful.fault("drop_after")
    doubtful.run("execute")
    Installation.objects.update(restored=True)
    waiting.run()
    assert waiting.task("execute").last_error == "installation"
    told = run("resume_installation", *APPLY)
    assert (told.code, "1 results are not checked yet" in told.failure) == (3, True)
    assert Installation.objects.get().restored

    doubtful.run_later("reconcile")
    doubtful.run()
    assert doubtful.effect.status == "CONFIRMED"
    # Its letter waits as well; nothing that was sent is in doubt any more.
    assert run("resume_installation", "--json").json() == {"sends": False, "why": "restored", "unchecked": 0}
    assert run("resume_installation", *APPLY).code == 0
    waiting.run()
    doubtful.run()
    assert (waiting.state, doubtful.state, len(doubtful.writes())) == ("COMPLETED", "COMPLETED", 1)
    assert AuditEvent.objects.filter(organisation_id=PLATFORM, kind="installation.resumed").count() == 1
    assert run("resume_installation", *APPLY).code == 0
    assert AuditEvent.objects.filter(organisation_id=PLATFORM, kind="installation.resumed").count() == 1


def test_a_copy_is_adopted_only_by_saying_so(engine: Engine, run: Run, settings: Any) -> None:
    story = engine.approved()
    home = Installation.objects.get().installation_id
    settings.CASEFLOW_INSTALLATION_ID = uuid.uuid4()
    assert run("resume_installation", *APPLY).code == 3
    assert Installation.objects.get().installation_id == home
    assert run("resume_installation", *APPLY, "--adopt").code == 0
    story.run()
    assert story.state == "COMPLETED"


def test_nobody_but_a_platform_operator_resumes(engine: Engine, run: Run) -> None:
    Installation.objects.update(restored=True)
    engine.person("operator")
    told = run("resume_installation", "--apply", "--as", "operator", "--reason", "please")
    assert (told.code, Installation.objects.get().restored) == (1, True)
    assert AuditEvent.objects.filter(organisation_id=PLATFORM, kind="access.refused").count() == 1
    assert run("resume_installation", "--apply").code == 2


def test_what_was_marked_as_restored_sends_nothing_until_it_is_resumed(engine: Engine, run: Run) -> None:
    story = engine.approved()
    assert run("mark_restored", "--reason", "the disk was lost", "--json").json() == {"restored": True, "changed": True}
    story.run()
    assert (story.task("execute").last_error, story.writes()) == ("installation", [])
    assert run("mark_restored", "--reason", "twice", "--json").json()["changed"] is False
    assert AuditEvent.objects.filter(organisation_id=PLATFORM, kind="installation.restored").count() == 1
    assert run("resume_installation", *APPLY).code == 0
    story.run()
    assert (story.state, len(story.writes())) == ("COMPLETED", 1)
    assert run("mark_restored", "--reason", " ").code == 2
