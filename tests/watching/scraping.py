"""What Prometheus would read, as a mapping."""

from __future__ import annotations

from typing import Any

from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from caseflow.metrics.catalogue import METRICS

LABELS = {metric.name: metric.labels for metric in METRICS}
TOKEN = "a-token-of-this-test-of-32-characters-and-more"
Read = dict[str, dict[tuple[str, ...], float]]  #: metric → values of its labels, in their order → number


def ask(settings: Any, token: str = TOKEN) -> Any:
    settings.CASEFLOW_METRICS_TOKENS = [TOKEN]
    return Client().get("/metrics", headers={"Authorization": f"Bearer {token}"})


def scrape(settings: Any) -> Read:
    """Every metric that is told, also those without a sample."""
    answer = ask(settings)
    assert answer.status_code == 200, answer.content
    found: Read = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        assert family.type == "gauge"
        labels = LABELS[family.name]
        found[family.name] = {tuple(map(sample.labels.__getitem__, labels)): sample.value for sample in family.samples}
    return found
