"""How the indicators look from outside: rows of codes and numbers, as the selectors of the pages give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

from rest_framework import serializers

from .reading import Query


class MetricsQuery(Query):
    """How far back, and of which organisation; none: all in sight."""

    window: Literal["24h", "7d", "30d"] = "24h"
    organisation: str = ""


def _rows(text: str) -> serializers.ListField:
    return serializers.ListField(child=serializers.DictField(), help_text=text)


class MetricsSerializer(serializers.Serializer[Any]):
    """Codes and numbers, no name of a case or a person. Moments are UTC, spans are seconds, costs are text."""

    window = serializers.CharField(help_text="24h, 7d or 30d; what is `now` has none.")
    states = _rows("Now: open cases of a process in a state, and since when the first is (H1).")
    times = _rows("Closed cases of a process, and where their time went: total and five parts that add up (H2, H9).")
    queues = _rows("Now: tasks that are due, at work, or due later (H2).")
    retries = _rows("Tasks of a stage, and how many of them were tried more than once (H3).")
    retry_causes = _rows("Why (H3).")
    attention = _rows("Now: cases that need a person, by reason (H4).")
    given_up = _rows("Tasks whose attempts or deadline were used up (H4).")
    unknown = _rows("Now: actions whose result nobody knows (H5).")
    approvals_refused = serializers.DictField(
        help_text="By the code of the refusal; and given up before the effect (H6)."
    )
    drift = serializers.DictField(help_text="Confirmed effects that the outside no longer shows (H7).")
    proposals = _rows("Proposals of a proposer, and what people said of them (H8).")
    models = _rows("Questions to a model, and what the rules let through (H8).")
    refused_answers = _rows("Answers of models that a check refused (H8).")
    took_over = _rows("Proposals that were made without the model that was chosen (H8).")


def plain(value: Any) -> Any:
    """A dataclass of the indicators as JSON has it."""
    match value:
        case datetime():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return str(value)
        case Enum():
            return value.value
        case Mapping():
            return {plain(key): plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain(inner) for inner in value]
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return value
