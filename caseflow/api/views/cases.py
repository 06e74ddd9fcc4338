"""Cases: open, list, show, supply data, and what is known of each."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.models import Person
from accounts.principal import actor_of
from actions.selectors import list_actions, timeline
from approvals.selectors import list_proposals
from caseflow import traces
from caseflow.api import plan_shapes, schema, shapes
from caseflow.api.bodies import MAX_LIMIT, CaseListQuery, FactQuery, NoQuery, OpenCaseBody, RevealBody, SupplyDataBody
from caseflow.api.pages import page_of
from caseflow.api.reaching import get_case_for, get_organisation
from caseflow.api.reading import read_body, read_query
from caseflow.domain.lifecycle import State
from caseflow.domain.roles import Right
from cases.intake import open_case
from cases.models import Case
from cases.observing import newest_observations
from cases.revealing import reveal
from cases.selectors import CaseFilter, get_case, get_intake, is_erased, list_cases, list_readings
from cases.supplying import supply_data

from .base import ApiView

_FILTERS = [
    OpenApiParameter("organisation", str, description="Short name."),
    OpenApiParameter("state", str, enum=[state.value for state in State]),
    OpenApiParameter("process", str),
    OpenApiParameter("external_id", str, description="The ticket's own id, such as T-4821."),
    OpenApiParameter("subject", str, description="What the case is about, such as S-77."),
    OpenApiParameter("after", str, description="Id of the last case of the page before."),
    OpenApiParameter("limit", int, description=f"Rows of a page, 1 to {MAX_LIMIT}; 50 unless told."),
]


class CasesView(ApiView):
    limits: ClassVar = {"POST": "intake", "GET": "search"}

    @extend_schema(
        operation_id="list_cases",
        parameters=_FILTERS,
        responses=schema.answers({200: shapes.CasePageSerializer}, queries=True),
    )
    def get(self, request: Request) -> Response:
        """The cases in sight, newest first."""
        query = read_query(request, CaseListQuery)
        wanted = CaseFilter(
            organisation=query.organisation,
            state=query.state or "",
            process=query.process,
            external_id=query.external_id,
            subject=query.subject,
        )
        rows = list_cases(self.principal, wanted)
        if isinstance(self.principal, Person):
            rows = access.within(rows, list(access.organisations_with(self.principal, Right.SEE_CASES)))
        places = access.visible(Case.objects.all(), self.principal, Right.SEE_CASES)
        page = page_of(rows, places, request, after=query.after, limit=query.limit)
        return Response(shapes.CasePageSerializer(page).data)

    @extend_schema(
        operation_id="open_case",
        request=OpenCaseBody,
        responses=schema.answers({201: shapes.OpenedCaseSerializer, 200: shapes.OpenedCaseSerializer}, writes=True),
        examples=[schema.TICKET, schema.OPENED, schema.CONFLICT],
    )
    def post(self, request: Request) -> Response:
        """Open a case. The same ticket with the same body again answers 200 with the same case."""
        principal = self.principal
        body = read_body(request, OpenCaseBody)
        organisation = get_organisation(principal, body.organisation, Right.OPEN_CASE)
        opened = open_case(
            organisation=organisation,
            process=body.process,
            source=body.source,
            external_id=body.external_id,
            intake=body.intake,
            actor=actor_of(principal),
            source_url=body.source_url,
            department_id=access.get_department_id(organisation, body.department),
        )
        traces.bind_ids(opened.case.public_id)
        code = status.HTTP_201_CREATED if opened.created else status.HTTP_200_OK
        data = shapes.OpenedCaseSerializer(opened.case).data
        return Response(data, status=code, headers={"Location": data["links"]["self"]})


class CaseView(ApiView):
    @extend_schema(operation_id="get_case", responses=schema.answers({200: shapes.CaseDetailSerializer}))
    def get(self, request: Request, public_id: str) -> Response:
        """One case; personal fields are masked."""
        read_query(request, NoQuery)
        case = get_case(self.principal, public_id)
        return Response(shapes.CaseDetailSerializer(case, context={"intake": get_intake(case.pk)}).data)


class CaseDataView(ApiView):
    limits: ClassVar = {"POST": "intake"}

    @extend_schema(
        operation_id="supply_data",
        request=SupplyDataBody,
        responses=schema.answers({201: shapes.SuppliedSerializer}, writes=True) | schema.ERASED,
        examples=[schema.DATA],
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Supply data. A waiting case is checked again; in any other state the data is recorded and moves nothing."""
        principal = self.principal
        body = read_body(request, SupplyDataBody)
        case = get_case_for(principal, public_id, Right.SUPPLY_DATA)
        supplied = supply_data(case_id=case.pk, data=body.data, actor=actor_of(principal))
        return Response(shapes.SuppliedSerializer(supplied).data, status=status.HTTP_201_CREATED)


class CaseRevealView(ApiView):
    @extend_schema(
        operation_id="reveal_text",
        request=RevealBody,
        responses=schema.answers({200: shapes.RevealedSerializer}, writes=True) | schema.ERASED,
    )
    def post(self, request: Request, public_id: str) -> Response:
        """One personal text in clear, for people with the right to reveal; every look is recorded.

        Fields are called `intake.<field>`, `fact.<fact>.<part>`, or as `reason_field` of an event says.
        """
        principal = self.principal
        body = read_body(request, RevealBody)
        text = reveal(case=get_case(principal, public_id), field=body.field, person=principal)
        return Response(shapes.RevealedSerializer({"field": body.field, "text": text}).data)


class CaseTimelineView(ApiView):
    @extend_schema(operation_id="get_timeline", responses=schema.answers({200: plan_shapes.TimelineSerializer}))
    def get(self, request: Request, public_id: str) -> Response:
        """The whole history: events, tries and requests to outside systems, oldest first."""
        read_query(request, NoQuery)
        case = get_case(self.principal, public_id)
        return Response(plan_shapes.TimelineSerializer(timeline(case.pk)).data)


class CaseFactsView(ApiView):
    @extend_schema(
        operation_id="list_facts",
        parameters=[OpenApiParameter("name", str, description="Every reading of this fact, newest first.")],
        responses=schema.answers({200: shapes.FactListSerializer}, queries=True),
    )
    def get(self, request: Request, public_id: str) -> Response:
        """The newest reading of each fact, or every reading of one."""
        query = read_query(request, FactQuery)
        case = get_case(self.principal, public_id)
        rows = list_readings(case.pk, query.name)[:MAX_LIMIT] if query.name else newest_observations(case.pk)
        context = {"erased": is_erased(case.pk)}
        return Response(shapes.FactListSerializer({"results": rows}, context=context).data)


class CaseProposalsView(ApiView):
    @extend_schema(operation_id="list_proposals", responses=schema.answers({200: plan_shapes.ProposalListSerializer}))
    def get(self, request: Request, public_id: str) -> Response:
        """The plans of a case and what was said of them."""
        read_query(request, NoQuery)
        case = get_case(self.principal, public_id)
        return Response(plan_shapes.ProposalListSerializer({"results": list_proposals(case.pk)}).data)


class CaseActionsView(ApiView):
    @extend_schema(operation_id="list_actions", responses=schema.answers({200: plan_shapes.ActionListSerializer}))
    def get(self, request: Request, public_id: str) -> Response:
        """The effects and notices of a case, each with its requests."""
        read_query(request, NoQuery)
        case = get_case(self.principal, public_id)
        return Response(plan_shapes.ActionListSerializer({"results": list_actions(case.pk)}).data)
