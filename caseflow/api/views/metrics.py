"""What is watched (H1–H9), of the organisations in sight; what Prometheus reads of the whole platform is `/metrics`."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.principal import Principal
from caseflow.api import schema
from caseflow.api.metrics_shapes import MetricsQuery, MetricsSerializer, plain
from caseflow.api.reading import read_query
from operations.indicators import advising, judging, standing, times, work
from operations.indicators.scope import PLATFORM, Scope, Window, scope_of

from .base import ApiView

_FILTERS = [
    OpenApiParameter("window", str, enum=[window.code for window in Window], description="24h unless told."),
    OpenApiParameter("organisation", str, description="Short name; left out: every organisation in sight."),
]


class MetricsView(ApiView):
    limits: ClassVar = {"GET": "search"}

    @extend_schema(
        operation_id="get_metrics",
        parameters=_FILTERS,
        responses=schema.answers({200: MetricsSerializer}, queries=True),
    )
    def get(self, request: Request) -> Response:
        """The same numbers as on the pages of metrics. An organisation out of sight has none."""
        query = read_query(request, MetricsQuery)
        scope = _scope(self.principal, query.organisation)
        return Response(MetricsSerializer(plain(_measured(scope, Window.of(query.window)))).data)


def _scope(principal: Principal, organisation: str) -> Scope:
    """Who looks after the platform counts everything, as on the page."""
    if not organisation and access.is_platform_operator(principal):
        return PLATFORM
    return scope_of(principal, organisation)


def _measured(scope: Scope, window: Window) -> dict[str, Any]:
    """Fourteen queries, however many rows there are."""
    return {
        "window": window.code,
        "states": standing.count_states(scope),
        "times": times.measure_times(scope, window),
        "queues": work.measure_queues(scope),
        "retries": work.measure_retries(scope, window),
        "retry_causes": work.count_retry_causes(scope, window),
        "attention": standing.count_stopped(scope),
        "given_up": work.count_exhausted(scope, window),
        "unknown": standing.count_unknown(scope),
        "approvals_refused": judging.count_refused_approvals(scope, window),
        "drift": judging.count_drift(scope, window),
        "proposals": judging.measure_proposals(scope, window),
        "models": advising.measure_models(scope, window),
        "refused_answers": advising.count_refused_answers(scope, window),
        "took_over": advising.count_take_overs(scope, window),
    }
