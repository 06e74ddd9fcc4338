"""Badge = list = metric: whatever a recovery changes, every place that counts says so at the next request."""

from __future__ import annotations

import re
from typing import Any

from accounts.principal import SYSTEM
from accounts.services import grant_role
from caseflow.domain.lifecycle import OPEN
from caseflow.domain.roles import Role
from operations.indicators import standing
from operations.indicators.scope import scope_of
from tests.console.conftest import Desk, Page
from tests.console.seeing import Desks
from tests.console.test_metrics import numbers, section
from tests.console.test_recovering import press
from tests.driving import Engine
from tests.operations import standings as at
from tests.operations.standings import stand

UNKNOWN = "/console/actions/?status=unknown&kind=effect"
PROCESS = "/console/processes/restore_access/"
Counters = dict[str, int]


def first(pattern: str, html: str) -> int:
    """The number that is found, none where the page says nothing of the kind."""
    found = re.search(pattern, html.replace("&amp;", "&"), re.S)
    return int(found[1]) if found else 0


def badge(page: Page, address: str) -> int:
    return first(rf'href="{re.escape(address)}"[^>]*>(?:(?!</a>).)*?class="count">(\d+)<', page.html)


def tabs(page: Page, name: str = "state") -> Counters:
    found = re.findall(rf'\?[^"]*?{name}=(\w+)[^"]*"[^>]*>[^<]*<span class="count">(\d+)', page.html)
    return {state.upper(): int(number) for state, number in found}


def rows(page: Page, of: str) -> int:
    return len(set(re.findall(rf'href="/console/{of}/({"P" if of == "approvals" else "[A-Z]"}-\w+)/"', page.html)))


def said(reader: Desk) -> dict[str, Counters]:
    """Counter → place → what it says there."""
    home, cases, stopped = (reader.get(f"/console/{page}") for page in ("", "cases/", "attention/"))
    unknown, approvals, everything = reader.get(UNKNOWN), reader.get("/console/approvals/"), reader.get(PROCESS)
    metrics = reader.get("/console/metrics/")
    states, scope = tabs(cases), scope_of(reader.person)
    totals = standing.count_totals(scope)
    drawn = {state: first(rf'state={state}[^"]*" aria-label="[^":]*: (\d+)', everything.html) for state in OPEN}
    h1, h4 = (numbers(section(metrics, name), "Cases") for name in ("h1", "h4"))
    return {
        "decisions": {
            "badge": badge(home, "/console/approvals/"),
            "home": first(r'id="decide">[^<]*<span class="count">(\d+)', home.html),
            "list": rows(approvals, "approvals"),
            "tab of the list": first(r'aria-current="true">For me <span class="count">(\d+)', approvals.html),
            "tab of the cases": states["WAITING_APPROVAL"],
            "indicator": totals.decisions,
            "picture": drawn["WAITING_APPROVAL"],
        },
        "attention": {
            "badge": badge(home, "/console/attention/"),
            "home": first(r'id="attention">[^<]*<span class="count">(\d+)', home.html),
            "reasons at home": sum(numbers(home.html, "Cases")),
            "list": first(r'aria-live="polite">(\d+) cases? ha', stopped.html),
            "reasons of the list": sum(map(int, re.findall(r'<a class="count"[^>]*>(\d+)</a>', stopped.html))),
            "tab of the cases": states["NEEDS_ATTENTION"],
            "indicator": totals.attention,
            "reasons of the indicator": sum(one.number for one in standing.count_stopped(scope)),
            "metrics": sum(h4),
            "picture": drawn["NEEDS_ATTENTION"],
        },
        "open": {
            "badge": badge(home, "/console/cases/"),
            "tabs of the cases": sum(states[state] for state in OPEN),
            "indicator": totals.open,
            "states of the indicator": sum(one.number for one in standing.count_states(scope)),
            "metrics": sum(h1),
            "picture": sum(drawn.values()),
        },
        "unknown": {
            "badge": badge(home, UNKNOWN),
            "home": first(r'id="doubt">[^<]*<span class="count">(\d+)', home.html),
            "list": first(r'aria-live="polite">(\d+) action', unknown.html) if rows(unknown, "actions") else 0,
            "tab of the list": tabs(unknown, "status")["UNKNOWN"],
            "indicator": totals.unknown,
            "systems of the indicator": sum(
                one.number for one in standing.count_unknown(scope) if one.kind == "effect"
            ),
            "metrics": sum(numbers(section(metrics, "h5"), "Actions")),
        },
    }


def agreed(reader: Desk) -> tuple[int, ...]:
    """(decisions, attention, open, unknown), once every place says the same."""
    found = said(reader)
    apart = {counter: places for counter, places in found.items() if len(set(places.values())) > 1}
    assert apart == {}
    return tuple(next(iter(places.values())) for places in found.values())


def test_after_a_recovery_every_counter_agrees_at_the_next_request(engine: Engine, settings: Any, desk: Desks) -> None:
    in_doubt = stand(at.unknown, engine, settings)
    differs = engine.open(payment={"amount": "10.00"})
    differs.run()
    engine.proposed(), engine.approved().run()
    # Somebody who sees and decides; the operator's own order would keep the operator from deciding.
    grant_role(person=engine.person("second"), organisation=engine.organisation, role=Role.RECOVERER, by=SYSTEM)
    reader: Desk = desk("second")
    assert agreed(reader) == (1, 2, 3, 1)

    press(desk("operator"), in_doubt, "reconcile")
    assert agreed(reader) == (1, 1, 3, 1)
    in_doubt.run()
    assert agreed(reader) == (1, 1, 2, 0)

    differs.change("payments", amount="990.00")
    press(desk("operator"), differs, "observe_again")
    assert agreed(reader) == (1, 0, 2, 0)
    differs.run()
    assert agreed(reader) == (2, 0, 2, 0)
