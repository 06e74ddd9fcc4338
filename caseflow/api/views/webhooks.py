"""The doorbell of outside systems (Standard Webhooks)."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.addresses import client_address
from accounts.limits import spend
from caseflow.api import schema
from caseflow.domain.errors import TooLarge
from caseflow.domain.webhooks import Delivery
from cases.webhooks import MAX_BYTES, receive

from .base import ApiView

_HEADERS = [
    OpenApiParameter("webhook-id", str, OpenApiParameter.HEADER, description="The event's id; it counts once."),
    OpenApiParameter("webhook-timestamp", str, OpenApiParameter.HEADER, description="Seconds since 1970."),
    OpenApiParameter("webhook-signature", str, OpenApiParameter.HEADER, description="`v1,…`, several by spaces."),
]


class ReceivedSerializer(serializers.Serializer[Any]):
    """What the ring did: nothing, if every event of it came before."""

    events = serializers.IntegerField(help_text="Events that are new.")
    cases = serializers.IntegerField(help_text="Cases that are looked at because of them.")


class WebhookView(ApiView):
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="ring",
        auth=[],
        parameters=_HEADERS,
        request={"application/json": {"type": "object"}},
        responses=schema.answers({202: ReceivedSerializer, 200: ReceivedSerializer}, rings=True),
    )
    def post(self, request: Request, source: str) -> Response:
        """Something changed outside: `{"type": …, "data": {"id": …}}`. The named object is read again; nothing else
        of the body is believed. The same event id again answers 200 and does nothing."""
        spend("webhook", f"address-{client_address(request)}")
        delivery = Delivery(
            id=request.headers.get("webhook-id", ""),
            timestamp=request.headers.get("webhook-timestamp", ""),
            signatures=request.headers.get("webhook-signature", ""),
            body=_body_of(request),
        )
        received = receive(source_id=source, delivery=delivery, now=timezone.now())
        code = status.HTTP_202_ACCEPTED if received.events else status.HTTP_200_OK
        return Response(ReceivedSerializer(received).data, status=code)


def _body_of(request: Request) -> bytes:
    """The bytes that were signed: not parsed before they are believed, and not read when they are too many."""
    said = request.headers.get("content-length", "0")
    if said.isdigit() and int(said) > MAX_BYTES:
        raise TooLarge(limit=MAX_BYTES)
    body: bytes = request.body
    if len(body) > MAX_BYTES:
        raise TooLarge(limit=MAX_BYTES)
    return body
