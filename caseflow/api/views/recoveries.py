"""Recoveries: ordering one for a case as it was seen, signing as the second person, taking an order back."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Person
from actions.selectors import get_action
from caseflow.api import recovery_schema, recovery_shapes, schema
from caseflow.api.bodies import NoQuery
from caseflow.api.reaching import require_recoverer
from caseflow.api.reading import read_body, read_query
from caseflow.api.recovery_bodies import AuthoriseBody, OrderBody, ReconcileBody, TakeBackBody
from caseflow.domain.recovery import Kind
from cases.selectors import get_case
from operations.authorising import authorise_recovery, take_back_recovery
from operations.ordering import order_recovery
from operations.selectors import choices_for, get_recovery, list_recoveries

from .base import ApiView


class CaseRecoveriesView(ApiView):
    @extend_schema(
        operation_id="list_recoveries", responses=schema.answers({200: recovery_shapes.RecoveryListSerializer})
    )
    def get(self, request: Request, public_id: str) -> Response:
        """What was ordered for a case and what came of it, and what you may order now."""
        read_query(request, NoQuery)
        principal = self.principal
        case = get_case(principal, public_id)
        choices = choices_for(principal, case) if isinstance(principal, Person) else None
        doubt = choices.seen.standing.doubt if choices else None
        shown = {
            "case": case,
            "results": list_recoveries(case.pk),
            "possible": choices.kinds if choices else [],
            "may_authorise": choices.may_authorise if choices else False,
            "in_doubt": doubt.action if doubt else "",
            "in_doubt_status": doubt.status if doubt else "",
        }
        return Response(recovery_shapes.RecoveryListSerializer(shown).data)

    @extend_schema(
        operation_id="order_recovery",
        request=OrderBody,
        responses=schema.answers({201: recovery_shapes.OrderedSerializer}, writes=True),
        examples=[recovery_schema.CHECK_AGAIN, recovery_schema.BY_HAND, recovery_schema.MOVED],
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Order a recovery for the version you saw. Persons only; a version that moved on answers 409 with why."""
        person = require_recoverer(self.principal, public_id)
        body = read_body(request, OrderBody)
        ordered = order_recovery(
            case_id=get_case(person, public_id).pk,
            kind=body.kind,
            person=person,
            seen_version=body.version,
            reason=body.reason,
            action=body.action,
            action_status=body.action_status,
            result=body.result,
            evidence=body.evidence,
            data=body.data,
        )
        return Response(recovery_shapes.OrderedSerializer(ordered).data, status=status.HTTP_201_CREATED)


class ReconcileView(ApiView):
    @extend_schema(
        operation_id="reconcile_action",
        request=ReconcileBody,
        responses=schema.answers({201: recovery_shapes.OrderedSerializer}, writes=True),
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Ask the outside system now what became of an effect in doubt."""
        person = require_recoverer(self.principal, public_id)
        body = read_body(request, ReconcileBody)
        action = get_action(person, public_id)
        ordered = order_recovery(
            case_id=action.case_id,
            kind=Kind.RECONCILE,
            person=person,
            seen_version=body.version,
            reason=body.reason,
            action=action.public_id,
        )
        return Response(recovery_shapes.OrderedSerializer(ordered).data, status=status.HTTP_201_CREATED)


class RecoveryView(ApiView):
    @extend_schema(operation_id="get_recovery", responses=schema.answers({200: recovery_shapes.RecoverySerializer}))
    def get(self, request: Request, public_id: str) -> Response:
        """One order and what came of it."""
        read_query(request, NoQuery)
        return Response(recovery_shapes.RecoverySerializer(get_recovery(self.principal, public_id)).data)


class AuthorisationView(ApiView):
    @extend_schema(
        operation_id="authorise_recovery",
        request=AuthoriseBody,
        responses=schema.answers({201: recovery_shapes.OrderedSerializer}, writes=True),
        examples=[recovery_schema.SIGN],
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Sign as the second person what somebody else ordered; it is carried out at once."""
        person = require_recoverer(self.principal, public_id)
        body = read_body(request, AuthoriseBody)
        signed = authorise_recovery(
            recovery=get_recovery(person, public_id),
            person=person,
            seen_version=body.version,
            action_status=body.action_status,
        )
        return Response(recovery_shapes.OrderedSerializer(signed).data, status=status.HTTP_201_CREATED)


class TakeBackView(ApiView):
    @extend_schema(
        operation_id="take_back_recovery",
        request=TakeBackBody,
        responses=schema.answers({201: recovery_shapes.OrderedSerializer}, writes=True),
    )
    def post(self, request: Request, public_id: str) -> Response:
        """End an order that waits: who gave it withdraws it, who might have signed it says no."""
        person = require_recoverer(self.principal, public_id)
        read_body(request, TakeBackBody)
        ended = take_back_recovery(recovery=get_recovery(person, public_id), person=person)
        return Response(recovery_shapes.OrderedSerializer(ended).data, status=status.HTTP_201_CREATED)
