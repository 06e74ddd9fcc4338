"""How recoveries look from outside. What a person wrote is personal text and is not shown here."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from caseflow.domain import recovery_words
from caseflow.domain.recovery import Kind
from operations.models import Recovery

from .shapes import STATES, CaseStandSerializer

KINDS = [(kind.value, kind.value) for kind in Kind]


class RecoverySerializer(serializers.Serializer[Recovery]):
    """One order by a person: who asked, who signed, on what, and what came of it."""

    id = serializers.CharField(source="public_id")
    case = serializers.CharField(source="case.public_id")
    kind = serializers.ChoiceField(choices=KINDS)
    kind_text = serializers.SerializerMethodField()
    status = serializers.ChoiceField(choices=Recovery.Status.choices)
    status_text = serializers.SerializerMethodField()
    action = serializers.CharField(source="action.public_id", default=None, allow_null=True)
    action_status = serializers.CharField(help_text="What the person saw of the action.")
    result = serializers.CharField(help_text="Of a result by hand: done or not_done.")
    asked_by = serializers.CharField(source="asked_by.get_full_name")
    asked_at = serializers.DateTimeField()
    authorised_by = serializers.CharField(source="authorised_by.get_full_name", default=None, allow_null=True)
    authorised_at = serializers.DateTimeField(allow_null=True)
    has_evidence = serializers.SerializerMethodField(help_text="Written evidence is kept as personal text.")
    evidence_call = serializers.CharField(help_text="The look-up that is the evidence; its X-Request-Id.")
    case_version = serializers.IntegerField(help_text="The version the person saw.")
    case_state = serializers.ChoiceField(choices=STATES)
    stage = serializers.CharField(help_text="The stage it started.")
    outcome = serializers.CharField(help_text="The state it led to, or why it ended.")
    version_after = serializers.IntegerField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)

    def get_kind_text(self, row: Recovery) -> str:
        return gettext(recovery_words.KINDS[row.kind])

    def get_status_text(self, row: Recovery) -> str:
        return gettext(recovery_words.STATUSES[row.status])

    def get_has_evidence(self, row: Recovery) -> bool:
        return bool(row.evidence_field)


class RecoveryListSerializer(serializers.Serializer[Any]):
    """The recoveries of a case, oldest first, and what you may order now."""

    case = CaseStandSerializer()
    results = RecoverySerializer(many=True)
    possible = serializers.ListField(
        child=serializers.ChoiceField(choices=KINDS), help_text="What you may order now for this version of the case."
    )
    may_authorise = serializers.BooleanField(help_text="You may sign what somebody else ordered.")
    in_doubt = serializers.CharField(help_text="The effect whose result nobody knows; empty where there is none.")
    in_doubt_status = serializers.CharField()


class OrderedSerializer(serializers.Serializer[Any]):
    """A stored order and where the case stands after it."""

    recovery = RecoverySerializer()
    case = CaseStandSerializer()
