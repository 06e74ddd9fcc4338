"""What may stand in an address and in a query. A route whose parameters nobody here can fill fails the run."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.contrib.contenttypes.models import ContentType

from accounts.models import ServiceToken
from actions.models import Action
from approvals.models import Proposal
from caseflow.domain.roles import Role
from cases.models import Case, Pause, WebhookSource
from documents.models import Document
from operations.bulk_models import Bulk
from operations.models import Hook, HookDelivery, Recovery, ReportSchedule

from .canaries import Kind
from .routes import Route
from .world import House

Values = dict[str, Any]

NOWHERE = "nothing-org"  #: an organisation that does not exist
NOBODY = "2147483000"  #: a row that does not exist

#: Who is not signed in gets an answer other than "sign in" here, and only here.
OPEN = frozenset({"console:sign-in", "console:language", "healthz", "readyz", "api-schema", "api-docs", "admin:login"})

#: Where a person with the right to reveal asks for a personal text on purpose, by POST.
REVEALS = frozenset({"console:show-text", "api:case-reveal"})

#: Addresses at which who looks after the platform knows the organisations by name, and may act in each.
OF_THE_PLATFORM = re.compile(r"^(console|api/v1)/pauses/")


@dataclass(frozen=True)
class Source:
    """Parameters of one sort of address: those of an organisation, and those of nothing."""

    of: Callable[[House], list[Values]]
    missing: Values


def _public_ids(model: Any, letter: str) -> Source:
    path = model.organisation_path

    def ids(house: House) -> list[Values]:
        rows = model.objects.filter(**{path: house.organisation}).order_by("pk")
        return [{"public_id": public_id} for public_id in rows.values_list("public_id", flat=True)]

    return Source(ids, {"public_id": f"{letter}-0000000000"})


def _recovery_kinds(house: House) -> list[Values]:
    cases = [house.stories[name].case.public_id for name in ("attention", "refused", "proposed")]
    return [{"public_id": case, "kind": kind} for case in cases for kind in ("close", "observe_again", "correct_input")]


def _roles(house: House) -> list[Values]:
    return [
        {"organisation": house.organisation.slug, "person": person.pk, "role": role.value}
        for role, person in house.people.items()
        if role is not Role.REPORT_READER
    ]


def _machines(house: House) -> list[Values]:
    return [{"organisation": house.organisation.slug, "public_id": one.public_id} for one in house.accounts]


def _tokens(house: House) -> list[Values]:
    prefixes = {one.account_id: one.prefix for one in ServiceToken.objects.order_by("pk")}
    return [values | {"prefix": prefixes[one.pk]} for values, one in zip(_machines(house), house.accounts, strict=True)]


def _doorbells(house: House) -> list[Values]:
    rows = WebhookSource.objects.filter(organisation=house.organisation)
    return [{"organisation": house.organisation.slug, "public_id": one.public_id} for one in rows]


def _hooks(house: House) -> list[Values]:
    rows = Hook.objects.filter(organisation=house.organisation)
    return [{"organisation": house.organisation.slug, "public_id": one.public_id} for one in rows]


def _told(house: House) -> list[Values]:
    rows = HookDelivery.objects.filter(hook__organisation=house.organisation).select_related("hook", "case")
    return [
        {
            "organisation": house.organisation.slug,
            "public_id": one.hook.public_id,
            "case": one.case.public_id,
            "version": one.version,
        }
        for one in rows.order_by("pk")[:2]
    ]


def _bulks(house: House) -> list[Values]:
    """Those of the organisation's cases: a bulk itself belongs to no organisation."""
    rows = Bulk.objects.filter(items__case__organisation=house.organisation).distinct().order_by("pk")
    return [{"public_id": public_id} for public_id in rows.values_list("public_id", flat=True)]


def _of_everybody(name: str, *values: str) -> Source:
    """What exists for all: there is nothing that would be missing for somebody."""
    return Source(lambda house: [{name: value} for value in values], {name: values[0]})


def _organisation(house: House) -> list[Values]:
    return [{"organisation": house.organisation.slug}]


def _reports(house: House) -> list[Values]:
    return [
        {
            "organisation": house.organisation.slug,
            "department": row.department.slug,
            "kind": row.kind,
            "period": row.period,
        }
        for row in house.reports
    ]


def _files(house: House) -> list[Values]:
    documents = Document.objects.filter(organisation=house.organisation).order_by("pk")
    return [{"public_id": one.public_id, "form": file["form"]} for one in documents for file in one.files]


def _schedules(house: House) -> list[Values]:
    rows = ReportSchedule.objects.filter(organisation=house.organisation)
    return [{"organisation": house.organisation.slug, "number": row.pk} for row in rows]


_NOTHING = {"organisation": NOWHERE, "public_id": "M-0000000000"}

#: The first whose expression is found in the pattern of a route fills its parameters.
SOURCES: list[tuple[str, Source]] = [
    (
        r"cases/<str:public_id>/recover/<slug:kind>/",
        Source(_recovery_kinds, {"public_id": "C-0000000000", "kind": "close"}),
    ),
    (r"cases/<str:public_id>/", _public_ids(Case, "C")),
    (
        r"reports/<\w+:organisation>/<\w+:department>/<\w+:kind>/<\w+:period>/",
        Source(
            _reports,
            {"organisation": NOWHERE, "department": "nothing-dep", "kind": "requests", "period": "2024-10-01"},
        ),
    ),
    (r"documents/<str:public_id>/<slug:form>/", Source(_files, {"public_id": "D-0000000000", "form": "xlsx"})),
    (r"documents/<str:public_id>/", _public_ids(Document, "D")),
    (r"(proposals|approvals)/<str:public_id>/", _public_ids(Proposal, "P")),
    (r"actions/<str:public_id>/", _public_ids(Action, "A")),
    (r"recoveries/<str:public_id>/", _public_ids(Recovery, "R")),
    (r"pauses/<str:public_id>/", _public_ids(Pause, "W")),
    (r"bulk/<str:public_id>/", Source(_bulks, {"public_id": "B-0000000000"})),
    (r"processes/<slug:slug>/", _of_everybody("slug", "restore_access")),
    (r"export/<slug:what>/", _of_everybody("what", "cases")),
    (
        r"people/<str:organisation>/<int:person>/revoke/<str:role>/",
        Source(_roles, {"organisation": NOWHERE, "person": NOBODY, "role": "viewer"}),
    ),
    (r"machines/<str:organisation>/<str:public_id>/.*<str:prefix>", Source(_tokens, _NOTHING | {"prefix": "abcdefgh"})),
    (r"machines/<str:organisation>/<str:public_id>/", Source(_machines, _NOTHING)),
    (r"doorbells/<str:organisation>/<str:public_id>/", Source(_doorbells, _NOTHING)),
    (
        r"hooks/<str:organisation>/<str:public_id>/again/<str:case>/<int:version>/",
        Source(_told, {"organisation": NOWHERE, "public_id": "H-0000000000", "case": "C-0000000000", "version": 1}),
    ),
    (
        r"hooks/<str:organisation>/<str:public_id>/",
        Source(_hooks, {"organisation": NOWHERE, "public_id": "H-0000000000"}),
    ),
    (
        r"schedules/<str:organisation>/<int:number>/",
        Source(_schedules, {"organisation": NOWHERE, "number": NOBODY}),
    ),
    (
        r"(people|machines|doorbells|hooks|schedules|choosing|reports/ask)/<str:organisation>/",
        Source(_organisation, {"organisation": NOWHERE}),
    ),
    (
        r"webhooks/<str:source>/",
        Source(
            lambda house: [{"source": values["public_id"]} for values in _doorbells(house)], {"source": "W-0000000000"}
        ),
    ),
]


def source_of(route: Route) -> Source | None:
    """None where nobody knows what to put into this address."""
    if not route.parameters:
        return Source(lambda house: [{}], {})
    if route.pattern.startswith("admin/"):
        return _admin_source(route)
    for expression, source in SOURCES:
        if re.search(expression, route.pattern):
            return source if set(source.missing) == set(route.parameters) else None
    return None


def _admin_source(route: Route) -> Source | None:
    """Admin's own addresses: rows of the registered models, whoever they belong to."""
    if route.parameters == ("app_label",):
        labels = sorted({model._meta.app_label for model in admin.site._registry})
        return Source(lambda house: [{"app_label": label} for label in labels], {"app_label": labels[0]})
    if route.parameters == ("url",):
        return Source(lambda house: [{"url": "nothing/"}], {"url": "nothing/"})
    if route.parameters == ("content_type_id", "object_id"):
        kinds = [ContentType.objects.get_for_model(model) for model in (Case, *admin.site._registry)]
        found = [{"content_type_id": kind.pk, "object_id": 1} for kind in kinds]
        return Source(lambda house: found, {"content_type_id": 0, "object_id": 1})
    if route.parameters in (("object_id",), ("id",)):
        name = route.parameters[0]
        for model in admin.site._registry:
            if route.pattern.startswith(f"admin/{model._meta.app_label}/{model._meta.model_name}/"):
                return Source(_rows_of(model, name), {name: NOBODY})
    return None


def _rows_of(model: Any, name: str) -> Callable[[House], list[Values]]:
    def rows(house: House) -> list[Values]:
        found = model._default_manager.order_by("pk")
        if path := getattr(model, "organisation_path", ""):
            found = found.filter(**{path: house.organisation.pk})
        return [{name: pk} for pk in found.values_list("pk", flat=True)[:3]]

    return rows


#: Pages that list nothing of organisations or count all together, and admin, which shows all to who runs the
#: installation.
UNASKED = ("admin/", "healthz", "metrics", "readyz", "api/schema", "api/docs", "console/me/", "console/sign")


def queries_of(route: Route, house: House) -> list[tuple[Values, Values]]:
    """Queries that name something of `house`, each with one that names nothing in its place."""
    if route.parameters or route.pattern.startswith(UNASKED):
        return []
    case, person = house.stories["proposed"].case, house.people[Role.APPROVER]
    asked: list[tuple[str, str, str]] = [
        ("q", case.external_id, "T-nothing"),
        ("q", case.public_id, "C-0000000000"),
        ("case", case.external_id, "T-nothing"),
        ("external_id", case.external_id, "T-nothing"),
        ("subject", case.subject, "S-nothing"),
        ("organisation", house.organisation.slug, NOWHERE),
        ("after", case.public_id, "C-0000000000"),
        ("source", f"desk-{house.says(Kind.CONTENT)}", "desk-nothing"),
        ("person", person.username, "nobody-at-all"),
    ]
    return [({name: there}, {name: nothing}) for name, there, nothing in asked]
