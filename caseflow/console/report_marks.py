"""How far a regular report has come, as four separate marks: data, file, access, notice (requirement G2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, ngettext

from actions.models import Action, ActionKind, ActionStatus
from caseflow.domain.lifecycle import State
from cases.models import Case, Observation
from cases.wording import reason_text
from documents.models import Document
from operations.report_models import ObligationEdition

from .words import Shown

NO_ACCESS = "no_access"  #: the code of a message whose recipient may not open the document


@dataclass(frozen=True, slots=True)
class Marks:
    """Each with its word; none speaks for another."""

    data: Shown
    file: Shown
    access: Shown
    notice: Shown


@dataclass(frozen=True, slots=True)
class Standing:
    """An edition with everything its marks are read from."""

    edition: ObligationEdition
    document: Document | None
    data: Mapping[str, Any]  #: the value of the newest reading; empty where none was made
    notices: Sequence[Action]  #: the newest for each recipient

    @property
    def case(self) -> Case:
        case: Case = self.edition.case
        return case

    @property
    def marks(self) -> Marks:
        return Marks(_data(self), _file(self), _access(self), _notice(self))


def standings_of(editions: Iterable[ObligationEdition]) -> dict[int, Standing]:
    """Edition's key → how it stands; three queries for any number of them. Their cases are read along."""
    editions = list(editions)
    cases = [edition.case_id for edition in editions]
    readings = Observation.objects.filter(case__in=cases, name="data_set").order_by("case_id", "-id")
    data = {row.case_id: row.value for row in readings.distinct("case_id")}
    organisations = {edition.case.organisation_id for edition in editions}
    subjects = {edition.case.external_id for edition in editions}
    documents = Document.objects.filter(organisation__in=organisations, subject__in=subjects)
    made = {(document.organisation_id, document.subject): document for document in documents}
    newest: dict[int, dict[str, Action]] = {case: {} for case in cases}
    for action in Action.objects.filter(case__in=cases, kind=ActionKind.NOTICE).order_by("id"):
        newest[action.case_id][action.subject] = action
    return {
        edition.pk: Standing(
            edition,
            made.get((edition.case.organisation_id, edition.case.external_id)),
            data.get(edition.case_id, {}),
            list(newest[edition.case_id].values()),
        )
        for edition in editions
    }


def _data(standing: Standing) -> Shown:
    rows = standing.data.get("rows")
    if standing.data.get("status") == "ready" and isinstance(rows, int):
        said = ngettext("%(number)s row", "%(number)s rows", rows) % {"number": rows}
        return Shown("ready", gettext("Chosen: %(rows)s") % {"rows": said}, "", "check", "done")
    if standing.data.get("status") == "not_closed":
        return Shown("not_closed", gettext("The period is not over"), "", "clock", "wait")
    return _open(standing, gettext("Not chosen"))


def _file(standing: Standing) -> Shown:
    if standing.document is not None:
        return Shown("made", gettext("Made"), standing.document.public_id, "check", "done")
    return _open(standing, gettext("Not made"))


def _access(standing: Standing) -> Shown:
    wanted = len(standing.edition.recipients)
    without = sum(action.code == NO_ACCESS for action in standing.notices)
    if without:
        said = ngettext(
            "%(number)s of %(all)s recipients may not open it",
            "%(number)s of %(all)s recipients may not open it",
            without,
        )
        return Shown(NO_ACCESS, said % {"number": without, "all": wanted}, "", "warning", "alert")
    if len(standing.notices) == wanted and all(action.status != ActionStatus.PLANNED for action in standing.notices):
        return Shown("checked", gettext("Checked"), gettext("Asked again at every opening."), "check", "done")
    return _open(standing, gettext("Not checked"))


def _notice(standing: Standing) -> Shown:
    wanted = len(standing.edition.recipients)
    told = sum(action.status == ActionStatus.CONFIRMED for action in standing.notices)
    if told == wanted:
        help = gettext("Accepted by the mail server; delivery is unknown.")
        return Shown("told", gettext("Sent to all: %(all)s") % {"all": wanted}, help, "mail", "done")
    if not standing.notices:
        return _open(standing, gettext("Not sent"))
    label = gettext("Sent to %(number)s of %(all)s") % {"number": told, "all": wanted}
    stopped = standing.case.state == State.NEEDS_ATTENTION
    return Shown("partly", label, "", "warning" if stopped else "clock", "alert" if stopped else "busy")


def _open(standing: Standing, label: str) -> Shown:
    """Not there: because work has stopped, or because it has not come so far."""
    if standing.case.state == State.NEEDS_ATTENTION:
        return Shown("stopped", label, reason_text(standing.case), "warning", "alert")
    if standing.case.closed_at is not None:
        return Shown("never", label, "", "minus", "calm")
    return Shown("waiting", gettext("Not yet"), "", "clock", "calm")
