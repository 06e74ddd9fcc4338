"""How reports look from outside, and what may be sent to ask for one and to correct it."""

from __future__ import annotations

from typing import Annotated, Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from pydantic import Field
from rest_framework import serializers

from documents.models import Document
from operations.models import Obligation, ObligationEdition
from operations.report_selectors import deliveries_of

from .bodies import MAX_LIMIT
from .reading import Body, Query
from .shapes import STATES


class ReportBody(Body):
    """Which report. It is owed once: asked for again, or by somebody else, it is the same one."""

    organisation: str = Field(description="Short name of the organisation.", examples=["acme"])
    department: str = Field(description="Short name of a department of it.", examples=["sales"])
    kind: str = Field(default="requests", description="What it is about.", examples=["requests"])
    period: str = Field(description="A day, an ISO week or a month that is over.", examples=["2026-10-01", "2026-W40"])
    recipients: list[str] | None = Field(
        default=None, description="Sign-in names; left out: the schedule's, or whoever may open the documents."
    )


class CorrectionBody(Body):
    """Why another edition is needed."""

    reason: str = Field(description="Kept as personal text of the new case.")


class ReportListQuery(Query):
    """Filters of the list of reports; `after` is the last report of the page before."""

    organisation: Annotated[str, Field(max_length=64)] = ""
    department: Annotated[str, Field(max_length=64)] = ""
    after: Annotated[str, Field(max_length=200)] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50


class RecipientSerializer(serializers.Serializer[Any]):
    """One person to be told, and how far that got."""

    person = serializers.CharField(source="person.username")
    status = serializers.CharField(help_text="Of the message: as of an action.")
    code = serializers.CharField(help_text="no_access: held back, for the person may not open the document.")
    may_open = serializers.BooleanField(help_text="Whether the person may open the document now.")


class EditionSerializer(serializers.Serializer[ObligationEdition]):
    """One edition, made by one case."""

    number = serializers.IntegerField()
    case = serializers.CharField(source="case.public_id")
    state = serializers.ChoiceField(source="case.state", choices=STATES)
    reason = serializers.CharField(source="case.reason", help_text="Why its case waits or stopped, as a code.")
    at = serializers.DateTimeField()
    document = serializers.SerializerMethodField()

    @extend_schema_field(serializers.CharField(allow_null=True, help_text="Id of its document, once it is made."))
    def get_document(self, edition: ObligationEdition) -> str | None:
        documents: dict[int, str] = self.context["documents"]
        return documents.get(edition.number)


class ReportLinksSerializer(serializers.Serializer[Any]):
    """Addresses on this server."""

    self = serializers.CharField()
    corrections = serializers.CharField()


class ReportSerializer(serializers.Serializer[Obligation]):
    """A report that is owed."""

    id = serializers.CharField(source="key")
    organisation = serializers.CharField(source="organisation.slug")
    department = serializers.CharField(source="department.slug")
    kind = serializers.CharField()
    period = serializers.CharField()
    due_at = serializers.DateTimeField()
    grace_until = serializers.DateTimeField(help_text="By when its document has to be there.")
    overdue_at = serializers.DateTimeField(allow_null=True, help_text="When it was noticed that it was not.")
    edition = serializers.SerializerMethodField()
    case = serializers.SerializerMethodField()
    state = serializers.SerializerMethodField()
    links = serializers.SerializerMethodField()

    @extend_schema_field(serializers.IntegerField(help_text="The newest."))
    def get_edition(self, report: Obligation) -> int:
        return _newest(report).number

    @extend_schema_field(serializers.CharField(help_text="That makes the newest edition."))
    def get_case(self, report: Obligation) -> str:
        return _newest(report).case.public_id

    @extend_schema_field(serializers.ChoiceField(choices=STATES, help_text="Of that case."))
    def get_state(self, report: Obligation) -> str:
        return _newest(report).case.state

    @extend_schema_field(ReportLinksSerializer)
    def get_links(self, report: Obligation) -> dict[str, str]:
        names = [report.organisation.slug, report.department.slug, report.kind, report.period]
        own = reverse("api:report", args=names)
        return {"self": own, "corrections": f"{own}corrections/"}


class ReportDetailSerializer(ReportSerializer):
    """A report with its editions, oldest first, and the recipients of the newest."""

    editions = serializers.SerializerMethodField()
    recipients = serializers.SerializerMethodField()

    @extend_schema_field(EditionSerializer(many=True))
    def get_editions(self, report: Obligation) -> list[Any]:
        rows = Document.objects.filter(department=report.department_id, kind=report.kind, period=report.period)
        documents = dict(rows.values_list("edition", "public_id"))
        editions: Any = report.editions.all()
        return list(EditionSerializer(editions, many=True, context={"documents": documents}).data)

    @extend_schema_field(RecipientSerializer(many=True))
    def get_recipients(self, report: Obligation) -> list[Any]:
        return list(RecipientSerializer(deliveries_of(_newest(report).case), many=True).data)


class ReportPageSerializer(serializers.Serializer[Any]):
    """Reports, the newest period first."""

    results = ReportSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")


def _newest(report: Obligation) -> ObligationEdition:
    return max(report.editions.all(), key=lambda edition: edition.number)
