"""The indicators over the API are the numbers of the selectors, of what is in sight."""

from __future__ import annotations

from accounts.models import Organisation
from accounts.platform import grant_platform
from accounts.principal import SYSTEM
from caseflow.domain.roles import Right
from operations.indicators import judging, standing, work
from operations.indicators.scope import PLATFORM, Window, scope_of
from tests.driving import Engine
from tests.factories import make_organisation, make_person

from .conftest import Caller, browser_of, machine_of

METRICS = "/api/v1/metrics/"


def test_each_number_is_what_the_selectors_say_of_the_organisations_in_sight(engine: Engine) -> None:
    engine.proposed().decide("reject", next="by_hand")
    engine.proposed()
    viewer = engine.person("viewer")
    stranger = browser_of(make_person("stranger", make_organisation("globex"), "viewer"))
    keeper = make_person("keeper")
    grant_platform(person=keeper, by=SYSTEM, reason="on duty")
    for caller, scope in ((browser_of(viewer), scope_of(viewer)), (browser_of(keeper), PLATFORM)):
        told = caller.get(METRICS).json()
        assert {(row["process"], row["state"], row["number"]) for row in told["states"]} == {
            (row.process, row.state, row.number) for row in standing.count_states(scope)
        }
        assert [row["number"] for row in told["attention"]] == [row.number for row in standing.count_stopped(scope)]
        assert [row["due"] for row in told["queues"]] == [row.due for row in work.measure_queues(scope)]
        (judged,) = judging.measure_proposals(scope, Window.DAY)
        assert (
            [(row["made"], row["rejected"]) for row in told["proposals"]]
            == [(2, 1)]
            == [(judged.made, judged.rejected)]
        )
    nothing = stranger.get(METRICS).json()
    assert (nothing["states"], nothing["proposals"], nothing["attention"]) == ([], [], [])
    assert stranger.get(METRICS, organisation="acme").json() == nothing
    assert stranger.get(METRICS, organisation="acme").json() == stranger.get(METRICS, organisation="none").json()


def test_a_machine_sees_them_by_its_right_and_a_wrong_window_is_refused(machine: Caller, acme: Organisation) -> None:
    seeing = machine_of(acme, rights=[Right.SEE_CASES], name="seeing")
    assert seeing.get(METRICS, window="7d").json()["window"] == "7d"
    answer = seeing.get(METRICS, window="1y")
    assert (answer.status_code, answer.json()["path"]) == (400, "$query.window")
    assert Caller(type(machine.client)()).get(METRICS).status_code == 401
