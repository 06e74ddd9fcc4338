"""Proposals with their decisions, and actions with their calls."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from actions.selectors import get_action
from actions.withdrawing import Withdrawn, withdraw
from approvals.deciding import Decided, decide
from approvals.selectors import get_proposal, obstacle, review
from caseflow import traces
from caseflow.api import plan_shapes, schema
from caseflow.api.bodies import DecisionBody, NoQuery, WithdrawalBody
from caseflow.api.reaching import require_person
from caseflow.api.reading import read_body, read_query

from .base import ApiView, in_one_transaction


class ProposalView(ApiView):
    @extend_schema(operation_id="get_proposal", responses=schema.answers({200: plan_shapes.ProposalDetailSerializer}))
    def get(self, request: Request, public_id: str) -> Response:
        """A plan: its snapshot and digest, and the facts it rests on beside those read last."""
        read_query(request, NoQuery)
        principal = self.principal
        seen = review(get_proposal(principal, public_id))
        context = {"obstacle": obstacle(seen, principal)}
        return Response(plan_shapes.ProposalDetailSerializer(seen, context=context).data)


class DecisionView(ApiView):
    @extend_schema(
        operation_id="decide_proposal",
        request=DecisionBody,
        responses=schema.answers({201: plan_shapes.DecidedSerializer, 200: plan_shapes.DecidedSerializer}, writes=True),
        examples=[schema.APPROVE, schema.REJECT, schema.STALE],
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Decide on the digest and the version you saw. Persons only; the same said again answers 200."""
        person = require_person(self.principal, public_id)
        body = read_body(request, DecisionBody)

        def work() -> Decided:
            return decide(
                proposal=get_proposal(person, public_id),
                person=person,
                kind=body.decision,
                seen_digest=body.digest,
                seen_version=body.version,
                reason=body.reason,
                next=body.next,
            )

        decided = in_one_transaction(work)
        traces.bind_ids(decided.case.public_id)
        code = status.HTTP_201_CREATED if decided.created else status.HTTP_200_OK
        return Response(plan_shapes.DecidedSerializer(decided).data, status=code)


class WithdrawalView(ApiView):
    @extend_schema(
        operation_id="withdraw_decision",
        request=WithdrawalBody,
        responses=schema.answers({201: plan_shapes.WithdrawnSerializer}, writes=True),
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Take your approval back before the first request was handed over; the same plan is proposed again."""
        person = require_person(self.principal, public_id)
        read_body(request, WithdrawalBody)

        def work() -> Withdrawn:
            return withdraw(proposal=get_proposal(person, public_id), person=person)

        withdrawn = in_one_transaction(work)
        return Response(plan_shapes.WithdrawnSerializer(withdrawn).data, status=status.HTTP_201_CREATED)


class ActionView(ApiView):
    @extend_schema(operation_id="get_action", responses=schema.answers({200: plan_shapes.ActionSerializer}))
    def get(self, request: Request, public_id: str) -> Response:
        """One effect or notice with its requests: requested is not confirmed."""
        read_query(request, NoQuery)
        return Response(plan_shapes.ActionSerializer(get_action(self.principal, public_id)).data)
