"""What is posted. Every route gets an empty form, or empty JSON; those below get words that mean something there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from approvals.models import Proposal
from caseflow.domain.roles import Role
from cases.models import Case

from .routes import Route
from .sources import Values
from .world import House


@dataclass(frozen=True)
class Body:
    """A form, or JSON where `is_json`."""

    data: Mapping[str, Any] = field(default_factory=dict)
    is_json: bool = False


def bodies_of(route: Route, house: House, values: Values) -> Iterator[Body]:
    """What is posted to `route` about the object of `house` that `values` name."""
    yield Body(is_json=route.pattern.startswith("api/"))
    if make := BODIES.get(route.name):
        yield from make(house, values)


def _case(values: Values) -> Case | None:
    return Case.objects.filter(public_id=values["public_id"]).first()


def _ticket(house: House, values: Values) -> list[Body]:
    body = {
        "organisation": house.organisation.slug,
        "process": "restore_access",
        "source": "desk",
        "external_id": "T-probe",
        "intake": {"customer_id": "U-1", "subscription_id": "S-1", "payment_id": "PAY-1", "claim": "-"},
    }
    return [Body(body, True), Body(body | {"department": house.departments[0].slug}, True)]


def _seen(values: Values) -> dict[str, Any]:
    proposal = Proposal.objects.filter(public_id=values["public_id"]).select_related("case").first()
    digest, version = (proposal.digest, proposal.case.version) if proposal else ("0" * 64, 3)
    return {"digest": digest, "version": version, "reason": "probe"}


def _decision(house: House, values: Values) -> list[Body]:
    return [Body(_seen(values) | {"decision": "return"}, True)]


def _pressed(house: House, values: Values) -> list[Body]:
    return [Body({**_seen(values), "next": "close"})]


def _version(values: Values) -> int:
    case = _case(values)
    return case.version if case else 3


def _field(house: House, values: Values) -> list[Body]:
    return [Body({"field": name}) for name in ("intake.claim", "customer.email", "decision.reason", "nothing")]


def _field_json(house: House, values: Values) -> list[Body]:
    return [Body(body.data, True) for body in _field(house, values)]


def _order(house: House, values: Values) -> list[Body]:
    said = {"version": _version(values), "reason": "probe"}
    return [Body(said | {"data_payment_id": "PAY-2"})]


def _order_json(house: House, values: Values) -> list[Body]:
    said = {"version": _version(values), "reason": "probe"}
    return [Body(said | {"kind": kind}, True) for kind in ("close", "observe_again")]


def _export(house: House, values: Values) -> list[Body]:
    return [Body({"organisation": house.organisation.slug, "form": form}) for form in ("jsonl", "csv")]


def _export_json(house: House, values: Values) -> list[Body]:
    return [Body(body.data, True) for body in _export(house, values)]


def _pause_json(house: House, values: Values) -> list[Body]:
    asked = {"kind": "process", "name": "restore_access", "reason": "probe", "organisation": house.organisation.slug}
    return [Body(asked, True), Body(asked | {"kind": "organisation", "name": ""}, True)]


def _pause(house: House, values: Values) -> list[Body]:
    return [Body({"what": "process:restore_access", "where": house.organisation.slug, "reason": "probe"})]


def _grant(house: House, values: Values) -> list[Body]:
    viewer = house.people[Role.VIEWER].username
    return [
        Body({"username": viewer, "role": "approver", "reason": "probe", "confirmed": said}) for said in ("", "yes")
    ]


def _role_json(house: House, values: Values) -> list[Body]:
    return [Body({"username": house.people[Role.VIEWER].username, "role": "approver", "reason": "probe"}, True)]


def _machine(house: House, values: Values) -> list[Body]:
    owner = house.people[Role.VIEWER].pk
    return [Body({"name": "probe", "owner": owner, "rights": ["open_case"], "life": "90"})]


def _report(house: House, values: Values) -> list[Body]:
    asked = {
        "organisation": house.organisation.slug,
        "department": house.departments[0].slug,
        "kind": "requests",
        "period": "2024-10-02",
    }
    return [Body(asked, True), Body(asked | {"recipients": [house.people[Role.VIEWER].username]}, True)]


def _asked_for(house: House, values: Values) -> list[Body]:
    return [Body({"department": house.departments[0].slug, "kind": "requests", "period": "2024-10-03"})]


def _schedule(house: House, values: Values) -> list[Body]:
    said = {"department": house.departments[0].slug, "kind": "requests", "length": "week", "at": "08:00"}
    told = {"zone": "UTC", "grace": "60", "recipients": [house.people[Role.VIEWER].username]}
    return [Body(said | told)]


def _said(**said: Any) -> Callable[[House, Values], list[Body]]:
    return lambda house, values: [Body(said)]


def _said_json(**said: Any) -> Callable[[House, Values], list[Body]]:
    return lambda house, values: [Body(said, True)]


BODIES: dict[str, Callable[[House, Values], list[Body]]] = {
    "api:cases": _ticket,
    "api:case-data": _said_json(data={"payment_id": "PAY-1"}),
    "api:case-reveal": _field_json,
    "api:case-recoveries": _order_json,
    "api:proposal-decision": _decision,
    "api:action-reconcile": _said_json(version=3, reason="probe"),
    "api:recovery-authorisation": _said_json(version=3),
    "api:audit-export": _export_json,
    "api:reports": _report,
    "api:report-corrections": _said_json(reason="probe"),
    "api:pauses": _pause_json,
    "api:people": _role_json,
    "api:people-revocation": _role_json,
    "api:pause-end": _said_json(reason="probe"),
    "console:approve": _pressed,
    "console:report-ask": _asked_for,
    "console:report-correct": _said(reason="probe"),
    "console:schedule": _schedule,
    "console:choose-proposer": _said(process="restore_access", proposer="rules"),
    "console:reject": _pressed,
    "console:return": _pressed,
    "console:ask-data": _pressed,
    "console:withdraw": _pressed,
    "console:supply": _said(payment_id="PAY-1", revision="1"),
    "console:show-text": _field,
    "console:order-recovery": _order,
    "console:recovery": _said(version="3", action_status=""),
    "console:audit-export": _export,
    "console:pauses": _pause,
    "console:pause-end": _said(reason="probe"),
    "console:people-grant": _grant,
    "console:people-revoke": _said(reason="probe"),
    "console:machine-create": _machine,
    "console:machine-rotate": _said(life="90", overlap="0"),
    "console:machine-owner": _machine,
    "console:machine-switch": _said(on="0"),
    "console:hook-create": _said(
        name="probe", channel="webhook", url="https://desk.example.org/", language="en", kinds=["closed"]
    ),
    "console:hook-rotate": _said(overlap="0"),
    "console:hook-switch": _said(on="0"),
    "console:bell-create": _said(name="probe", system="payments"),
    "console:bell-rotate": _said(overlap="0"),
    "console:bell-switch": _said(on="0"),
}


def smuggled(route: Route, theirs: House) -> list[tuple[Body, Body]]:
    """Bodies that name something of `theirs` where one's own is expected, each with one that names nothing."""
    username = theirs.people[Role.VIEWER].username
    grant = {"role": "viewer", "reason": "probe", "confirmed": "yes"}
    machine = {"name": "probe", "rights": ["open_case"], "life": "90"}
    department = theirs.departments[0].slug
    return {
        "console:people-grant": [
            (Body(grant | {"username": username}), Body(grant | {"username": "nobody-at-all"})),
            (
                Body(grant | {"role": "report_reader", "username": username, "department": department}),
                Body(grant | {"role": "report_reader", "username": "nobody-at-all", "department": "nothing-dep"}),
            ),
        ],
        "api:people": [
            (Body(said | {"username": username}, True), Body(said | {"username": "nobody-at-all"}, True))
            for said in ({"role": "viewer", "reason": "probe"},)
        ],
        "console:machine-create": [
            (Body(machine | {"owner": theirs.people[Role.VIEWER].pk}), Body(machine | {"owner": 2147483000})),
        ],
        "console:machine-owner": [
            (Body({"owner": theirs.people[Role.VIEWER].pk}), Body({"owner": 2147483000})),
        ],
    }.get(route.name, [])
