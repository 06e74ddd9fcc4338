"""How orders for many cases look from outside, and what may be sent to make, confirm and steer one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.urls import reverse
from django.utils.translation import gettext
from drf_spectacular.utils import OpenApiExample, extend_schema_field
from pydantic import Field
from rest_framework import serializers

from caseflow.domain import bulk_words
from caseflow.domain.bulk import MAX_CASES, RATES, USUAL_RATE, BulkKind
from operations.bulk_selectors import counts_of
from operations.models import Bulk, BulkItem

from .bodies import MAX_LIMIT, PageQuery
from .reading import Body, Query
from .shapes import STATES

KINDS = [(kind.value, kind.value) for kind in BulkKind]


class BulkFilter(Body):
    """The filters of the list of cases; they narrow it together."""

    organisation: str = ""
    state: str = Field(default="", examples=["NEEDS_ATTENTION"])
    process: str = ""
    external_id: str = ""
    subject: str = ""


class BulkBody(Body):
    """What to order, and for which cases: named ones, or all that a filter leaves now."""

    kind: str = Field(description="observe_again, reconcile, ask_data or hand_over.", examples=["observe_again"])
    cases: Annotated[list[str], Field(max_length=MAX_CASES)] = Field(
        default_factory=list, description="Ids of cases; left out: those of the filter."
    )
    filter: BulkFilter | None = Field(default=None, description="Left out: the named cases.")
    to: str = Field(default="", max_length=150, description="To hand over: sign-in name of the colleague.")


class ConfirmBulkBody(Body):
    """What was seen in the preview, why, and how fast."""

    count: int = Field(description="How many cases are planned.", examples=[41])
    reason: str = Field(description="Kept with the order and in the history of every case; it names nobody.")
    rate: int = Field(default=USUAL_RATE, description=f"Cases a minute: {', '.join(map(str, RATES))}.")


class BulkStepBody(Body):
    """Nothing: the order stands in the address."""


class BulkListQuery(PageQuery):
    """A page of the orders in sight."""


class BulkItemQuery(Query):
    """A page of the cases of an order: `after` is the place of the last one of the page before."""

    status: Literal["", "planned", "done", "failed", "skipped"] = ""
    after: Annotated[int, Field(ge=0)] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50


class BulkCountsSerializer(serializers.Serializer[Any]):
    """How many cases stand how; together they are all cases of the list."""

    planned = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    skipped = serializers.IntegerField()


class BulkLinksSerializer(serializers.Serializer[Any]):
    """Addresses on this server."""

    self = serializers.CharField()
    items = serializers.CharField()
    confirm = serializers.CharField()
    pause = serializers.CharField()
    resume = serializers.CharField()
    cancel = serializers.CharField()


class BulkSerializer(serializers.Serializer[Bulk]):
    """An order for a list of cases that does not change. `total` = done + failed + skipped once it has ended."""

    id = serializers.CharField(source="public_id")
    kind = serializers.ChoiceField(choices=KINDS)
    kind_text = serializers.SerializerMethodField()
    status = serializers.ChoiceField(choices=Bulk.Status.choices)
    status_text = serializers.SerializerMethodField()
    total = serializers.IntegerField()
    counts = serializers.SerializerMethodField()
    ordered_by = serializers.CharField(source="ordered_by.get_full_name")
    given_to = serializers.CharField(source="given_to.get_full_name", default=None, allow_null=True)
    reason = serializers.CharField()
    rate = serializers.IntegerField(allow_null=True, help_text="Cases a minute.")
    made_at = serializers.DateTimeField()
    ordered_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    links = serializers.SerializerMethodField()

    def get_kind_text(self, row: Bulk) -> str:
        return gettext(bulk_words.KINDS[row.kind].label)

    def get_status_text(self, row: Bulk) -> str:
        return gettext(bulk_words.STATUSES[row.status].label)

    @extend_schema_field(BulkCountsSerializer)
    def get_counts(self, row: Bulk) -> dict[str, int]:
        counts = counts_of(row)
        return {status: getattr(counts, status) for status in BulkItem.Status.values}

    @extend_schema_field(BulkLinksSerializer)
    def get_links(self, row: Bulk) -> dict[str, str]:
        names = {"self": "bulk", "items": "bulk-items"} | {
            step: f"bulk-{step}" for step in ("confirm", "pause", "resume", "cancel")
        }
        return {key: reverse(f"api:{name}", args=[row.public_id]) for key, name in names.items()}


class BulkPageSerializer(serializers.Serializer[Any]):
    """Orders, newest first."""

    results = BulkSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")


class BulkItemSerializer(serializers.Serializer[BulkItem]):
    """One case of an order as it was seen in the preview, and what came of it."""

    position = serializers.IntegerField()
    case = serializers.CharField(source="case.public_id")
    external_id = serializers.CharField(source="case.external_id")
    organisation = serializers.CharField(source="case.organisation.slug")
    case_version = serializers.IntegerField(help_text="The version that was seen.")
    case_state = serializers.ChoiceField(choices=STATES)
    status = serializers.ChoiceField(choices=BulkItem.Status.choices)
    reason = serializers.CharField(help_text="Code of why it was skipped, or failed.")
    reason_text = serializers.SerializerMethodField()
    recovery = serializers.CharField(source="recovery.public_id", default=None, allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)

    def get_reason_text(self, row: BulkItem) -> str:
        return gettext(bulk_words.SKIPS[row.reason]) if row.reason in bulk_words.SKIPS else ""


class BulkItemPageSerializer(serializers.Serializer[Any]):
    """Cases in the order of the list."""

    results = BulkItemSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")


PREVIEW = OpenApiExample(
    "Check again what stopped for its amount",
    value={"kind": "observe_again", "filter": {"organisation": "acme", "state": "NEEDS_ATTENTION"}},
    request_only=True,
)
CONFIRM = OpenApiExample(
    "Confirm 41 cases",
    value={"count": 41, "reason": "The bank has repaired its service.", "rate": 60},
    request_only=True,
)
