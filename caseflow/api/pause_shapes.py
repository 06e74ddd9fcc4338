"""How pauses look from outside, and what may be sent to set and to end one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from pydantic import Field
from rest_framework import serializers

from caseflow.domain.errors import BadInput
from cases.models import Pause

from .bodies import PageQuery
from .reading import Body


class PauseBody(Body):
    """What to stop, where, why and until when."""

    kind: str = Field(description="process, system, organisation or all.", examples=["process"])
    name: str = Field(default="", description="Of a process or a system.", examples=["restore_access"])
    organisation: str = Field(default="", description="Short name; only there. Left out: everywhere.")
    reason: str = Field(description="Shown to everybody whose cases wait.")
    until: str = Field(default="", description="A moment with its offset; left out: until a person resumes.")


class EndPauseBody(Body):
    """Why it may go on."""

    reason: str = Field(description="Kept in the history.")


class PauseListQuery(PageQuery):
    """All pauses in sight, or only those that hold something up now."""

    live: bool = False


class PauseLinksSerializer(serializers.Serializer[Any]):
    """Addresses on this server."""

    self = serializers.CharField()
    end = serializers.CharField()


class PauseSerializer(serializers.Serializer[Pause]):
    """A recorded stop."""

    id = serializers.CharField(source="public_id")
    kind = serializers.ChoiceField(choices=Pause.Kind.choices)
    name = serializers.CharField(source="key", help_text="Of a process or a system; empty for the other kinds.")
    organisation = serializers.CharField(
        source="organisation.slug", default=None, allow_null=True, help_text="Only there; null: everywhere."
    )
    reason = serializers.CharField(help_text="In words; cap_reached: the platform paused the system by itself.")
    by = serializers.CharField(
        source="by.get_full_name", default=None, allow_null=True, help_text="null: the platform by itself."
    )
    at = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True, help_text="null: until a person resumes.")
    ended_at = serializers.DateTimeField(allow_null=True)
    ended_by = serializers.CharField(source="ended_by.get_full_name", default=None, allow_null=True)
    links = serializers.SerializerMethodField()

    @extend_schema_field(PauseLinksSerializer)
    def get_links(self, pause: Pause) -> dict[str, str]:
        names = {"self": "api:pause", "end": "api:pause-end"}
        return {key: reverse(name, args=[pause.public_id]) for key, name in names.items()}


class PausePageSerializer(serializers.Serializer[Any]):
    """Pauses, newest first."""

    results = PauseSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")


def moment_of(text: str) -> datetime | None:
    """None for an empty text. Raises BadInput unless it is a moment with its offset from UTC."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
        # Without an offset nobody knows which moment is meant; at the ends of the calendar there is no UTC.
        moment = found.astimezone(UTC) if found.tzinfo else None
    except (ValueError, OverflowError):
        moment = None
    if moment is None:
        raise BadInput(code="wrong_format", path="$.until", problem="a moment like 2026-03-02T09:00:00Z is needed")
    return moment
