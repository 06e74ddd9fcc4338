"""How cases and what is known of them look from outside. Ids are public ids; personal values are masked."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from caseflow.domain import words
from caseflow.domain.lifecycle import Outcome, State
from cases.models import Case, Observation
from cases.selectors import IntakeNow, masked
from cases.wording import ending_text, event_text, reason_text

STATES = [(state.value, state.value) for state in State]
OUTCOMES = [(outcome.value, outcome.value) for outcome in Outcome]


class CaseLinksSerializer(serializers.Serializer[Any]):
    """Addresses on this server."""

    self = serializers.CharField()
    data = serializers.CharField()  # type: ignore[assignment]  # the address of /data/, not DRF's own `data`
    timeline = serializers.CharField()
    facts = serializers.CharField()
    proposals = serializers.CharField()
    actions = serializers.CharField()
    recoveries = serializers.CharField()
    hold = serializers.CharField()
    notes = serializers.CharField()


def case_links(public_id: str) -> dict[str, str]:
    parts = ("data", "timeline", "facts", "proposals", "actions", "recoveries", "hold", "notes")
    names = {"self": "case", **{name: f"case-{name}" for name in parts}}
    return {key: reverse(f"api:{name}", args=[public_id]) for key, name in names.items()}


class OpenedCaseSerializer(serializers.Serializer[Case]):
    """The case of a ticket."""

    id = serializers.CharField(source="public_id")
    external_id = serializers.CharField()
    state = serializers.ChoiceField(choices=STATES)
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    links = serializers.SerializerMethodField()

    @extend_schema_field(CaseLinksSerializer)
    def get_links(self, case: Case) -> dict[str, str]:
        return case_links(case.public_id)


class CaseStandSerializer(serializers.Serializer[Any]):
    """Where a case stands now."""

    id = serializers.CharField(source="public_id")
    external_id = serializers.CharField()
    state = serializers.ChoiceField(choices=STATES)
    version = serializers.IntegerField()


class CaseSerializer(serializers.Serializer[Case]):
    """A case as a row of a list."""

    id = serializers.CharField(source="public_id")
    external_id = serializers.CharField()
    organisation = serializers.CharField(source="organisation.slug")
    department = serializers.CharField(source="department.slug", default=None, allow_null=True)
    process = serializers.CharField()
    process_version = serializers.IntegerField()
    source = serializers.CharField()  # type: ignore[assignment]  # the stubs take the name for an argument
    source_url = serializers.CharField()
    subject = serializers.CharField()
    state = serializers.ChoiceField(choices=STATES)
    state_text = serializers.SerializerMethodField()
    state_since = serializers.DateTimeField()
    version = serializers.IntegerField()
    reason = serializers.CharField(help_text="Why it waits or needs attention; empty where it does neither.")
    reason_text = serializers.SerializerMethodField()
    ending = serializers.CharField(help_text="The process's decision that led here.")
    ending_text = serializers.SerializerMethodField()
    outcome = serializers.ChoiceField(choices=OUTCOMES, allow_blank=True)
    wait_until = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    links = serializers.SerializerMethodField()

    def get_state_text(self, case: Case) -> str:
        return gettext(words.STATES[case.state].label)

    def get_reason_text(self, case: Case) -> str:
        return reason_text(case)

    def get_ending_text(self, case: Case) -> str:
        return ending_text(case.process, case.process_version, case.ending)

    @extend_schema_field(CaseLinksSerializer)
    def get_links(self, case: Case) -> dict[str, str]:
        return case_links(case.public_id)


class CaseDetailSerializer(CaseSerializer):
    """One case with what was told last."""

    plan_begun = serializers.BooleanField(help_text="A call of the current plan's effects began.")
    effects_open = serializers.IntegerField(help_text="Effects requested or unknown.")
    effects_done = serializers.IntegerField(help_text="Effects confirmed.")
    returns = serializers.IntegerField(help_text="Times returned or found changed.")
    intake = serializers.SerializerMethodField(help_text='Personal fields are {"masked": true} or {"erased": true}.')
    intake_revision = serializers.SerializerMethodField()
    erased = serializers.SerializerMethodField(help_text="The case's personal texts were erased for good.")

    def get_intake(self, case: Case) -> dict[str, Any]:
        return dict(self._intake.body)

    def get_intake_revision(self, case: Case) -> int:
        return self._intake.revision

    def get_erased(self, case: Case) -> bool:
        return self._intake.erased

    @property
    def _intake(self) -> IntakeNow:
        intake: IntakeNow = self.context["intake"]
        return intake


class CasePageSerializer(serializers.Serializer[Any]):
    """Cases, newest first."""

    results = CaseSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")


class SuppliedSerializer(serializers.Serializer[Any]):
    """What became of supplied data."""

    revision = serializers.IntegerField(help_text="Number of the new intake revision.")
    moved = serializers.BooleanField(help_text="False: the data is recorded, the case did not wait for it.")
    case = CaseStandSerializer()


class FactSerializer(serializers.Serializer[Observation]):
    """One reading of an outside system."""

    name = serializers.CharField()
    value = serializers.SerializerMethodField(method_name="masked_value", help_text="Personal values are masked.")
    source = serializers.CharField()  # type: ignore[assignment]
    observed_at = serializers.DateTimeField()
    call_id = serializers.CharField()

    def masked_value(self, reading: Observation) -> dict[str, Any]:
        value: dict[str, Any] = masked(reading.value, erased=self.context.get("erased", False))
        return value


class FactListSerializer(serializers.Serializer[Any]):
    """The newest reading of each fact; with `name`, every reading of that one."""

    results = FactSerializer(many=True)


class RevealedSerializer(serializers.Serializer[Any]):
    """A personal text in clear; that it was shown is on record."""

    field = serializers.CharField()
    text = serializers.CharField()


class EventSerializer(serializers.Serializer[Any]):
    """Something that happened to a case."""

    seq = serializers.IntegerField(help_text="Number within the case.")
    kind = serializers.CharField()
    text = serializers.SerializerMethodField()
    actor_kind = serializers.CharField(help_text="person, service or system.")
    actor = serializers.CharField(source="actor_name")
    from_state = serializers.CharField()
    to_state = serializers.CharField()
    version = serializers.IntegerField(allow_null=True, help_text="The case's version after a change of state.")
    facts = serializers.DictField(help_text="Ids and primitives.")

    def get_text(self, event: Any) -> str:
        return event_text(event.kind, event.facts)


class AttemptSerializer(serializers.Serializer[Any]):
    """One try at a task."""

    stage = serializers.CharField(source="task.stage")
    subject = serializers.CharField(source="task.subject")
    number = serializers.IntegerField()
    worker = serializers.CharField()
    ended_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.CharField()
    error = serializers.CharField()
