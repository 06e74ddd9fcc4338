"""How proposals, decisions and actions look from outside. "Requested" is never written as "confirmed"."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from actions.models import Action, ActionKind, ActionStatus, ExternalCall
from approvals.models import Advice, Decision, Proposal
from approvals.selectors import Review
from approvals.snapshots import effects_of, quorum_of
from caseflow.domain import words
from cases.wording import ending_text

from .shapes import AttemptSerializer, CaseStandSerializer, EventSerializer


class DecisionSerializer(serializers.Serializer[Decision]):
    """What one person said. The reason's words are personal text and are not shown here."""

    kind = serializers.ChoiceField(choices=Decision.Kind.choices)
    person = serializers.CharField(source="person.get_full_name")
    digest = serializers.CharField()
    case_version = serializers.IntegerField()
    decisive = serializers.BooleanField(help_text="It moved the case.")
    next = serializers.CharField(help_text="After a rejection: close or by_hand.")
    has_reason = serializers.SerializerMethodField()
    undo_until = serializers.DateTimeField(allow_null=True)
    execute_by = serializers.DateTimeField(allow_null=True)
    at = serializers.DateTimeField()

    def get_has_reason(self, decision: Decision) -> bool:
        return bool(decision.reason_field)


class ProposalSerializer(serializers.Serializer[Proposal]):
    """A plan as a row of a list."""

    id = serializers.CharField(source="public_id")
    number = serializers.IntegerField()
    decision = serializers.CharField(help_text="What the process would do.")
    digest = serializers.CharField()
    has_effects = serializers.BooleanField()
    needs_approval = serializers.BooleanField()
    valid_until = serializers.DateTimeField(allow_null=True)
    repeats = serializers.CharField(
        source="repeats.public_id", default=None, allow_null=True, help_text="The withdrawn plan that this one repeats."
    )
    at = serializers.DateTimeField()


class ProposalRowSerializer(ProposalSerializer):
    """A plan with what was said of it."""

    case_version = serializers.IntegerField(source="case.version", help_text="The case's version now.")
    decisions = DecisionSerializer(many=True)


class ProposalListSerializer(serializers.Serializer[Any]):
    """The plans of a case by number."""

    results = ProposalRowSerializer(many=True)


class NeedsSerializer(serializers.Serializer[Any]):
    """What an approval takes, and how far it is."""

    right = serializers.CharField()
    quorum = serializers.IntegerField()
    approvals = serializers.IntegerField()
    four_eyes = serializers.BooleanField(help_text="Who took part in the case does not decide.")


class FactBesideNowSerializer(serializers.Serializer[Any]):
    """A fact the plan rests on, and the same fact as it was read last."""

    path = serializers.CharField()
    then = serializers.JSONField()
    now = serializers.JSONField()
    changed = serializers.BooleanField()
    source = serializers.CharField()  # type: ignore[assignment]
    observed_then = serializers.DateTimeField(allow_null=True)
    observed_now = serializers.DateTimeField(allow_null=True)


class AdviceSerializer(serializers.Serializer[Advice]):
    """What a model had to do with a plan. Its words are personal text: they are revealed by the name of their field."""

    mode = serializers.ChoiceField(choices=[mode.value for mode in Advice.Mode])
    took_over = serializers.CharField(help_text="Why the rules proposed, or went without words, instead of the model.")
    explanation_field = serializers.CharField()
    restored_field = serializers.CharField(help_text="The same words with the personal values in them.")
    call_id = serializers.CharField(source="call.call_id", default=None, allow_null=True)
    provider = serializers.CharField(source="call.provider", default=None, allow_null=True)
    prompt_digest = serializers.CharField(source="call.prompt_digest", default=None, allow_null=True)
    answer_schema = serializers.CharField(source="call.schema_version", default=None, allow_null=True)


class VersionsSerializer(serializers.Serializer[Proposal]):
    """Who proposed, by which rules."""

    proposer = serializers.CharField()
    rule_version = serializers.CharField()
    schema_version = serializers.CharField()
    prompt_version = serializers.CharField()
    model = serializers.CharField()
    advice = serializers.SerializerMethodField(help_text="Null where no model was to be asked.")

    @extend_schema_field(AdviceSerializer(allow_null=True))
    def get_advice(self, proposal: Proposal) -> Any:
        found = getattr(proposal, "advice", None)
        return AdviceSerializer(found).data if found is not None else None


class ProposalDetailSerializer(serializers.Serializer[Review]):
    """A plan with everything a person needs to decide on it."""

    id = serializers.CharField(source="proposal.public_id")
    number = serializers.IntegerField(source="proposal.number")
    case = CaseStandSerializer()
    case_version = serializers.IntegerField(source="case.version", help_text="What a decision has to name.")
    decision = serializers.CharField(source="proposal.decision")
    decision_text = serializers.SerializerMethodField()
    request_text = serializers.SerializerMethodField(help_text="The exact effect in one sentence.")
    digest = serializers.CharField(source="proposal.digest")
    snapshot = serializers.DictField(
        help_text="In RFC 8785 form its SHA-256 is `digest`. It holds references to personal texts, not the texts."
    )
    valid_until = serializers.DateTimeField(source="proposal.valid_until", allow_null=True)
    at = serializers.DateTimeField(source="proposal.at")
    repeats = serializers.CharField(source="proposal.repeats.public_id", default=None, allow_null=True)
    newest = serializers.CharField(help_text="The case's newest plan with effects; another id means this one is past.")
    needs = serializers.SerializerMethodField(help_text="Null where no person has to approve it.")
    obstacle = serializers.SerializerMethodField(help_text="Why you may not decide now, as a code; empty: you may.")
    decisions = DecisionSerializer(many=True)
    facts = FactBesideNowSerializer(many=True)
    changed = serializers.BooleanField(source="is_changed", help_text="A fact the plan rests on is another one now.")
    versions = VersionsSerializer(source="proposal")

    def get_decision_text(self, seen: Review) -> str:
        return ending_text(seen.case.process, seen.case.process_version, seen.proposal.decision)

    def get_request_text(self, seen: Review) -> str:
        ending, effects = seen.process.endings.get(seen.proposal.decision), effects_of(seen.snapshot)
        if ending is None or not ending.request or not effects:
            return ""
        return gettext(ending.request).format(subject=effects[0].subject)

    @extend_schema_field(NeedsSerializer(allow_null=True))
    def get_needs(self, seen: Review) -> dict[str, Any] | None:
        if seen.policy is None:
            return None
        return {
            "right": seen.policy.right.value,
            "quorum": quorum_of(seen.snapshot),
            "approvals": seen.approvals,
            "four_eyes": seen.policy.four_eyes,
        }

    def get_obstacle(self, seen: Review) -> str:
        found: str = self.context["obstacle"]
        return found


class DecidedSerializer(serializers.Serializer[Any]):
    """A stored decision and where the case stands after it."""

    decision = DecisionSerializer()
    case = CaseStandSerializer()


class WithdrawnSerializer(serializers.Serializer[Any]):
    """The same plan, proposed again."""

    proposal = ProposalSerializer()
    case = CaseStandSerializer()


class CallSerializer(serializers.Serializer[ExternalCall]):
    """One request to an outside system."""

    kind = serializers.ChoiceField(choices=ExternalCall.Kind.choices)
    call_id = serializers.CharField(help_text="Sent along as X-Request-Id.")
    worker = serializers.CharField()
    begun_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.CharField(help_text="confirmed, refused, not_applied or unknown; empty while it runs.")
    code = serializers.CharField()
    external_id = serializers.CharField()


class ActionSerializer(serializers.Serializer[Action]):
    """One effect or notice, and what is known of it."""

    id = serializers.CharField(source="public_id")
    case = serializers.CharField(source="case.public_id")
    proposal = serializers.CharField(source="proposal.public_id")
    position = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=ActionKind.choices)
    system = serializers.CharField()
    operation = serializers.CharField()
    subject = serializers.CharField()
    key = serializers.CharField(help_text="The idempotency key; it never changes.")
    status = serializers.ChoiceField(choices=ActionStatus.choices)
    status_text = serializers.SerializerMethodField()
    code = serializers.CharField(help_text="The system's own word, or why it is blocked.")
    external_id = serializers.CharField()
    confirmed_by = serializers.CharField(help_text="read, receipt, lookup or hand; empty while not confirmed.")
    undoes = serializers.CharField(source="undoes.public_id", default=None, allow_null=True)
    created_at = serializers.DateTimeField()
    first_sent_at = serializers.DateTimeField(allow_null=True)
    settled_at = serializers.DateTimeField(allow_null=True)
    calls = CallSerializer(many=True)

    def get_status_text(self, action: Action) -> str:
        return gettext(words.ACTIONS[action.status].label)


class ActionListSerializer(serializers.Serializer[Any]):
    """The actions of a case, oldest plan first."""

    results = ActionSerializer(many=True)


class CallOfActionSerializer(CallSerializer):
    """One request, with the action it was made for."""

    action = serializers.CharField(source="action.public_id")


class EntrySerializer(serializers.Serializer[Any]):
    """One line of a history: `type` says which of the three it is."""

    type = serializers.ChoiceField(choices=["event", "attempt", "call"])
    kind = serializers.CharField(help_text="Of an event its kind, else attempt.<stage> or call.<kind>.")
    at = serializers.DateTimeField()
    event = EventSerializer(allow_null=True)
    attempt = AttemptSerializer(allow_null=True)
    call = CallOfActionSerializer(allow_null=True)


class TimelineSerializer(serializers.Serializer[Any]):
    """The history of a case, oldest first."""

    results = EntrySerializer(source="entries", many=True)
    complete = serializers.BooleanField(help_text="False: the oldest entries of a very long history are left out.")
