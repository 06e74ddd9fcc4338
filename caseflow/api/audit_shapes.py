"""How events of the audit trail look from outside."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from cases.wording import event_text


class TrailEntrySerializer(serializers.Serializer[Any]):
    """One event: who did what, when, on which facts."""

    at = serializers.DateTimeField()
    case = serializers.CharField(help_text="Empty for an event of the organisation itself.")
    external_id = serializers.CharField()
    number = serializers.IntegerField(
        allow_null=True, help_text="Within the case or the organisation; null for minutes after it happened."
    )
    kind = serializers.CharField()
    text = serializers.SerializerMethodField()
    actor_kind = serializers.CharField(help_text="person, service or system.")
    actor = serializers.CharField()
    from_state = serializers.CharField()
    to_state = serializers.CharField()
    version = serializers.IntegerField(allow_null=True)
    facts = serializers.DictField(help_text="Ids and primitives.")
    hash = serializers.CharField(help_text="Of the chain at this event, hexadecimal.")

    def get_text(self, entry: Any) -> str:
        return event_text(entry.kind, entry.facts)


class TrailPageSerializer(serializers.Serializer[Any]):
    """Events, newest first."""

    results = TrailEntrySerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")
