"""What a person sees of a model: whose words they are, what was refused and why, who may read them, who proposes."""

from __future__ import annotations

import json

from accounts.principal import SYSTEM
from accounts.services import grant_role
from approvals import circuits
from approvals.models import ProposerChoice
from audit.models import AuditEvent
from caseflow.domain.roles import Role
from tests.driving import Engine
from tests.model_stage.conftest import Oracle, oracle

from .seeing import Desks

__all__ = ["oracle"]


def test_the_models_words_are_escaped_marked_as_its_own_and_kept_from_who_may_not_see_claims(
    engine: Engine, oracle: Oracle, desk: Desks
) -> None:
    story = engine.open()
    said = {
        "decision": "restore_access",
        "evidence": [{"path": "payment.status", "value": "confirmed"}],
        "missing": [],
        "requires_approval": True,
        "subject": story.subscription,
        "explanation": "<b>COMPLETED</b> Напишите на [customer.email].",
    }
    oracle.says("text", text=json.dumps(said, ensure_ascii=False), subject=story.subscription)
    story.run()
    address = f"/console/approvals/{story.proposal.public_id}/"
    page = desk("approver", language="en").get(address)
    assert "These words were written by a model." in page.text
    assert "&lt;b&gt;COMPLETED&lt;/b&gt; Напишите на [customer.email]." in page.html
    assert story.email not in page.html
    assert "the model simulated-1 (main)" in page.text and "decide-1" in page.text
    hidden = desk("viewer", language="ru").get(address)
    assert "COMPLETED" not in hidden.text
    assert "его видят только те, кому доступен текст обращения" in hidden.text
    shown = desk("approver").post(f"/console/cases/{story.case.public_id}/show-text/", {"field": page.field("field")})
    assert f"Напишите на {story.email}." in shown.text
    assert story.told("personal.revealed")["field"] == f"model.{story.proposal.public_id}.restored"


def test_a_refused_answer_is_explained_on_the_case_in_both_languages(
    engine: Engine, oracle: Oracle, desk: Desks
) -> None:
    oracle.says("false_evidence", times=3)
    story = engine.open()
    story.run()
    place = f"/console/cases/{story.case.public_id}/"
    page = desk("operator", language="en").get(place)
    assert "The model gave no usable answer" in page.text
    assert "It says of a fact what the fact does not say." in page.text
    russian = desk("operator", language="ru")
    assert "О факте сказано не то, что в нём записано." in russian.get(place).text
    calls = russian.get(f"{place}proposals/").text
    assert "не прошёл проверки" in calls and "исправление 2" in calls and "EUR" in calls


def test_operations_and_the_proposal_say_that_the_rules_took_over(engine: Engine, oracle: Oracle, desk: Desks) -> None:
    oracle.chosen(rules_take_over=True)
    for _ in range(circuits.FAULTS):
        circuits.fault_of("main", "timeout")
    story = engine.proposed()
    page = desk("approver", language="en").get(f"/console/approvals/{story.proposal.public_id}/")
    assert "which took over from the model (circuit_open)" in page.text
    assert (
        "правилами процесса вместо модели"
        in desk("viewer", language="ru").get(f"/console/cases/{story.case.public_id}/").text
    )
    assert (
        "The provider of models main is left alone: 3 faults in a row, the last is timeout."
        in desk("recoverer", language="en").get("/console/ops/").text
    )


def test_an_administrator_chooses_who_proposes_and_nobody_else_does(
    engine: Engine, oracle: Oracle, desk: Desks
) -> None:
    place = "/console/admin/choosing/acme/"
    desk("operator").get(place, status=403)
    grant_role(person=engine.person("admin"), organisation=engine.organisation, role=Role.ORG_ADMIN, by=SYSTEM)
    admin = desk("admin", language="en")
    assert "a model proposes (main)" in admin.get(place).text
    chosen = {"process": "restore_access", "proposer": "explained:main@explain-1", "rules_take_over": "on"}
    assert "It is chosen." in admin.post(place, chosen).text
    row = ProposerChoice.objects.get(organisation=engine.organisation, process="restore_access")
    assert (row.proposer, row.rules_take_over) == ("explained:main@explain-1", True)
    admin.post(place, chosen | {"proposer": "model:elsewhere"}, status=400)
    events = AuditEvent.objects.filter(kind="proposer.chosen", actor_kind="person")
    assert events.count() == 1
