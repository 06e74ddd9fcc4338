"""The columns of every list that can be taken out, in words of the reader's language; times in the reader's zone.

Personal values stand in none of them: what a list shows is what its file holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from accounts.principal import Principal
from caseflow.domain import bulk_words, words
from caseflow.domain.advice import STEPS, TURNS, advice_for
from cases.processes import all_processes
from cases.wording import ending_text, reason_text
from operations.exporting import Line, take_out

from .files import sheet_of

FORMS = ("csv", "xlsx")


@dataclass(frozen=True, slots=True)
class Column:
    """A name, the title people read, and what of a row stands there. A moment is named with the reader's zone."""

    name: str
    title: Promise
    value: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A list as a file; `ready` fetches along what its columns need."""

    name: str
    columns: Sequence[Column]
    organisation_of: Callable[[Any], int]
    ready: Callable[[QuerySet[Any]], QuerySet[Any]]
    moments: frozenset[str] = field(default_factory=frozenset)

    def take_out(
        self, principal: Principal, rows: QuerySet[Any], *, form: str, told: Mapping[str, str]
    ) -> StreamingHttpResponse:
        """The file of `rows`, which are those in sight of `principal`. Raises BadInput and NotPermitted."""
        lines = take_out(
            principal,
            self.ready(rows),
            line_of=self._line,
            organisation_of=self.organisation_of,
            what=self.name,
            form=form,
            told=told,
        )
        return sheet_of([(column.name, self._title(column)) for column in self.columns], lines, form, name=self.name)

    def _line(self, row: Any) -> Line:
        return {column.name: _text(column.value(row)) for column in self.columns}

    def _title(self, column: Column) -> str:
        zone = timezone.get_current_timezone_name()
        return f"{column.title} ({zone})" if column.name in self.moments else str(column.title)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return f"{timezone.localtime(value):%Y-%m-%d %H:%M:%S}"
    return str(value)


def _state(code: str) -> str:
    return gettext(words.STATES[code].label)


def _process(row: Any) -> str:
    process = all_processes().get(f"{row.process}:{row.process_version}")
    return gettext(process.title) if process else row.process


_TICKET = gettext_lazy("Ticket")
_CASE = gettext_lazy("Case")
_ORGANISATION = gettext_lazy("Organisation")
_SUBJECT = gettext_lazy("Subject")
_PROCESS = gettext_lazy("Process")

CASES = Sheet(
    "cases",
    (
        Column("ticket", _TICKET, lambda case: case.external_id),
        Column("case", _CASE, lambda case: case.public_id),
        Column("state", gettext_lazy("State"), lambda case: _state(case.state)),
        Column("reason", gettext_lazy("Reason"), lambda case: reason_text(case) if case.reason else ""),
        Column("subject", _SUBJECT, lambda case: case.subject),
        Column("organisation", _ORGANISATION, lambda case: case.organisation.name),
        Column("process", _PROCESS, _process),
        Column("opened", gettext_lazy("Opened"), lambda case: case.created_at),
        Column("since", gettext_lazy("In this state since"), lambda case: case.state_since),
        Column("closed", gettext_lazy("Closed"), lambda case: case.closed_at),
        Column("version", gettext_lazy("Version of the case"), lambda case: case.version),
    ),
    organisation_of=lambda case: case.organisation_id,
    ready=lambda rows: rows.select_related("organisation"),
    moments=frozenset({"opened", "since", "closed"}),
)

ATTENTION = Sheet(
    "attention",
    (
        Column("reason", gettext_lazy("Reason"), reason_text),
        Column("ticket", _TICKET, lambda case: case.external_id),
        Column("case", _CASE, lambda case: case.public_id),
        Column("since", gettext_lazy("Waits since"), lambda case: case.state_since),
        Column(
            "turn", gettext_lazy("Whose turn it is"), lambda case: gettext(TURNS[advice_for(case.reason).turn].label)
        ),
        Column(
            "step",
            gettext_lazy("Recommended step"),
            lambda case: gettext(STEPS[advice_for(case.reason, effects_open=case.effects_open).step]),
        ),
        Column("subject", _SUBJECT, lambda case: case.subject),
        Column("organisation", _ORGANISATION, lambda case: case.organisation.name),
        Column("process", _PROCESS, _process),
    ),
    organisation_of=lambda case: case.organisation_id,
    ready=lambda rows: rows.select_related("organisation"),
    moments=frozenset({"since"}),
)

ACTIONS = Sheet(
    "actions",
    (
        Column("action", gettext_lazy("Action"), lambda action: action.public_id),
        Column("status", gettext_lazy("Status"), lambda action: gettext(words.ACTIONS[action.status].label)),
        Column("system", gettext_lazy("System"), lambda action: action.system),
        Column("operation", gettext_lazy("Operation"), lambda action: action.operation),
        Column("about", gettext_lazy("About"), lambda action: action.subject),
        Column("key", gettext_lazy("Key"), lambda action: action.key),
        Column("ticket", _TICKET, lambda action: action.case.external_id),
        Column("case", _CASE, lambda action: action.case.public_id),
        Column("organisation", _ORGANISATION, lambda action: action.case.organisation.name),
        Column("planned", gettext_lazy("Planned"), lambda action: action.created_at),
        Column("sent", gettext_lazy("First sent"), lambda action: action.first_sent_at),
        Column("settled", gettext_lazy("Settled"), lambda action: action.settled_at),
    ),
    organisation_of=lambda action: action.organisation_id,
    ready=lambda rows: rows.select_related("case__organisation"),
    moments=frozenset({"planned", "sent", "settled"}),
)

APPROVALS = Sheet(
    "approvals",
    (
        Column("proposal", gettext_lazy("Proposal"), lambda proposal: proposal.public_id),
        Column(
            "asked",
            gettext_lazy("What is proposed"),
            lambda proposal: (
                ending_text(proposal.case.process, proposal.case.process_version, proposal.decision)
                or proposal.decision
            ),
        ),
        Column("subject", _SUBJECT, lambda proposal: proposal.case.subject),
        Column("ticket", _TICKET, lambda proposal: proposal.case.external_id),
        Column("case", _CASE, lambda proposal: proposal.case.public_id),
        Column("organisation", _ORGANISATION, lambda proposal: proposal.case.organisation.name),
        Column("process", _PROCESS, lambda proposal: _process(proposal.case)),
        Column("prepared", gettext_lazy("Prepared"), lambda proposal: proposal.at),
        Column("until", gettext_lazy("Can be decided until"), lambda proposal: proposal.valid_until),
        Column("digest", gettext_lazy("Digest"), lambda proposal: proposal.digest),
    ),
    organisation_of=lambda proposal: proposal.case.organisation_id,
    ready=lambda rows: rows.select_related("case__organisation").defer("snapshot"),
    moments=frozenset({"prepared", "until"}),
)

BULK = Sheet(
    "bulk",
    (
        Column("position", gettext_lazy("Number"), lambda item: item.position),
        Column("ticket", _TICKET, lambda item: item.case.external_id),
        Column("case", _CASE, lambda item: item.case.public_id),
        Column("subject", _SUBJECT, lambda item: item.case.subject),
        Column("organisation", _ORGANISATION, lambda item: item.case.organisation.name),
        Column("seen", gettext_lazy("As it was seen"), lambda item: _state(item.case_state)),
        Column("version", gettext_lazy("Version of the case"), lambda item: item.case_version),
        Column("result", gettext_lazy("Result"), lambda item: gettext(bulk_words.ITEMS[item.status])),
        Column(
            "reason",
            gettext_lazy("Reason"),
            lambda item: gettext(bulk_words.SKIPS[item.reason]) if item.reason in bulk_words.SKIPS else item.reason,
        ),
        Column("order", gettext_lazy("Order"), lambda item: item.recovery.public_id if item.recovery else ""),
        Column("ended", gettext_lazy("When"), lambda item: item.ended_at),
    ),
    organisation_of=lambda item: item.case.organisation_id,
    ready=lambda rows: rows,
    moments=frozenset({"ended"}),
)
