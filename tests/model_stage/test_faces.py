"""The choice by command, and what the API says of a model."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.principal import SYSTEM
from accounts.services import grant_role
from approvals.models import ProposerChoice
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.roles import Role
from tests.driving import Engine

from .conftest import Oracle


def test_a_command_chooses_with_an_administrators_rights_and_on_record(
    engine: Engine, oracle: Oracle, capsys: pytest.CaptureFixture[str]
) -> None:
    grant_role(person=engine.person("admin"), organisation=engine.organisation, role=Role.ORG_ADMIN, by=SYSTEM)
    said = ["--organisation", "acme", "--process", "restore_access", "--proposer", "explained:main", "--json"]
    with pytest.raises(CommandError, match="not_permitted"):
        call_command("choose_proposer", *said, "--as", engine.person("operator").username)
    for changed in (True, False):
        call_command("choose_proposer", *said, "--rules-take-over", "--as", "admin")
        assert json.loads(capsys.readouterr().out)["changed"] is changed
    row = ProposerChoice.objects.get(organisation=engine.organisation)
    assert (row.proposer, row.rules_take_over) == ("explained:main", True)
    event = facts_of(AuditEvent.objects.filter(kind="proposer.chosen").latest("id").body)
    assert event["facts"]["was"] == "model" and event["facts"]["os_account"]


def test_the_api_asks_again_and_says_who_proposed_without_the_models_words(engine: Engine, oracle: Oracle) -> None:
    story = engine.proposed()
    operator = Client()
    operator.force_login(engine.person("operator"), backend="django.contrib.auth.backends.ModelBackend")
    name = story.proposal.public_id
    advice = operator.get(f"/api/v1/proposals/{name}/").json()["versions"]["advice"]
    assert (advice["mode"], advice["provider"], advice["took_over"]) == ("model", "main", "")
    assert advice["explanation_field"] == f"model.{name}.words"
    order = {"kind": "ask_again", "version": story.case.version, "reason": "Проверьте ещё раз"}
    place = f"/api/v1/cases/{story.case.public_id}/"
    assert operator.post(f"{place}recoveries/", order, content_type="application/json").status_code == 201
    words = operator.post(f"{place}reveal/", {"field": f"model.{name}.words"}, content_type="application/json")
    assert "payment.status = confirmed" in words.json()["text"]
    story.run()
    assert story.proposal.number == 2
