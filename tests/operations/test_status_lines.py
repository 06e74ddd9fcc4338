"""The state of a case stands in the ticket from which it came: by the adapter `helpdesk`, which is only described."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from accounts.principal import SYSTEM
from accounts.services import grant_role
from caseflow.domain.errors import BadInput
from caseflow.domain.roles import Role
from operations import telling_hooks
from operations.hook_models import Hook, HookDelivery
from operations.hooks import Wanted, create_hook
from tests.commands.conftest import Run
from tests.console.conftest import Desk
from tests.driving import CLAIM, Engine
from tests.integrations.between import Between, between
from tests.operations.hooked import tell

DESK: dict[str, Any] = {
    "owner": {"team": "Helpdesk", "contact": "helpdesk@example.org"},
    "keys": {"life": 3600},
    "perform": {
        "write_status": {
            "path": "/tickets/{subject}/lines",
            "body": {"line": "{request.text}", "link": "{request.link}", "state": "{request.state}"},
            "external_id": "id",
        }
    },
}


@pytest.fixture
def desk_system(settings: Any) -> Iterator[Between]:
    with between() as found:
        settings.ADAPTERS = {**settings.ADAPTERS, "helpdesk": "integrations.rest.RestSystem"}
        settings.ADAPTER_OPTIONS = {"helpdesk": {"name": "helpdesk", "table": DESK | {"base_url": found.url}}}
        settings.CASEFLOW_OUTGOING_HOSTS = [found.url.removeprefix("http://")]
        settings.CASEFLOW_BASE_URL = "https://caseflow.example.org"
        yield found


def lines(engine: Engine, **changes: Any) -> Hook:
    fields: dict[str, Any] = {"source": "helpdesk", "kinds": ["changed", "closed"], "language": "ru"}
    wanted = Wanted(name="lines", channel="ticket", **fields | changes)
    return create_hook(organisation=engine.organisation, wanted=wanted, by=SYSTEM)[0]


def test_the_ticket_hears_of_the_state_once_a_change_and_the_case_shows_it(
    engine: Engine, desk_system: Between
) -> None:
    lines(engine)
    story = engine.approved()
    for number in range(12):
        desk_system.answer(201, {"id": f"line-{number}"})
    story.run()
    tell(engine)
    written = [json.loads(one.body) for one in desk_system.asked]
    assert (written[-1]["state"], written[-1]["line"]) == ("COMPLETED", "Всё выполнено и подтверждено.")
    assert written[0]["line"].startswith("Проверяется. ")
    case = story.case
    assert all(one["link"] == f"https://caseflow.example.org/console/cases/{case.public_id}/" for one in written)
    assert {one.path for one in desk_system.asked} == {f"/tickets/{case.external_id}/lines"}
    keys = [one.headers["idempotency-key"] for one in desk_system.asked]
    assert len(set(keys)) == len(keys) == case.version - 1
    assert all(text not in one.body.decode() for one in desk_system.asked for text in (CLAIM, story.email))
    page = Desk(engine.person("viewer"), "en").get(f"/console/cases/{case.public_id}/").text
    assert "Told outside lines" in page and "arrived" in page


def test_a_lost_answer_is_repeated_under_the_same_key_and_another_source_is_left_alone(
    engine: Engine, desk_system: Between
) -> None:
    lines(engine, kinds=["opened"])
    desk_system.fail("drop_after")
    desk_system.answer(503, {})
    desk_system.answer(201, {"id": "line-1"})
    engine.open()
    tell(engine)
    assert len({one.headers["idempotency-key"] for one in desk_system.asked}) == 1
    assert (len(desk_system.asked), HookDelivery.objects.get().status) == (3, "sent")
    Hook.objects.update(source="crm")
    engine.open()
    tell(engine)
    assert (len(desk_system.asked), HookDelivery.objects.latest("pk").status) == (3, "skipped")


def test_what_was_given_up_is_sent_again_by_command_and_only_by_an_administrator(
    engine: Engine, desk_system: Between, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling_hooks, "POLICY", telling_hooks.RetryPolicy(limit=1))
    lines(engine, kinds=["opened"])
    desk_system.answer(422, {"code": "ticket_locked"})
    desk_system.answer(201, {"id": "line-1"})
    engine.open()
    tell(engine)
    assert HookDelivery.objects.get().code == "ticket_locked"
    assert run("retell_hooks").code == 3
    apply = ("--apply", "--reason", "the ticket is open again", "--as")
    assert run("retell_hooks", *apply, "operator").code != 0
    grant_role(person=engine.person("admin"), organisation=engine.organisation, role=Role.ORG_ADMIN, by=SYSTEM)
    assert run("retell_hooks", *apply, "admin").code == 0
    tell(engine)
    assert HookDelivery.objects.get().status == "sent"
    assert run("retell_hooks").code == 0


def test_a_line_needs_an_adapter_and_the_source_of_its_tickets(
    engine: Engine, desk_system: Between, settings: Any
) -> None:
    with pytest.raises(BadInput, match="source"):
        lines(engine, source="")
    settings.ADAPTERS = {name: path for name, path in settings.ADAPTERS.items() if name != "helpdesk"}
    with pytest.raises(BadInput, match="helpdesk"):
        lines(engine)
