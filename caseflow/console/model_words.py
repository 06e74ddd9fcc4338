"""What a model had to do with a proposal, in words: its own are marked as its own and never tell a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from approvals.answer_rules import CODES
from approvals.models import Advice, ModelCall, Proposal
from caseflow.domain.errors import Purged
from cases.models import Case
from cases.personal import read_texts

from . import vocabulary

CALLS = 50  #: the newest requests to a model
OUTCOMES: dict[str, Promise] = {
    ModelCall.Outcome.ANSWERED: gettext_lazy("accepted by the checks"),
    ModelCall.Outcome.INVALID: gettext_lazy("refused by the checks"),
    ModelCall.Outcome.MISSING: gettext_lazy("asks for facts to be read again"),
    ModelCall.Outcome.LOST: gettext_lazy("the worker was lost before the answer was kept"),
}


@dataclass(frozen=True, slots=True)
class AdviceShown:
    """`words` are the model's, with placeholders for personal values; `restored` names the text that has those."""

    row: Advice
    call: ModelCall | None
    words: str
    hidden: bool  #: there are words, but this person may not see what may quote a claim
    erased: bool
    restored: str
    took_over: str


@dataclass(frozen=True, slots=True)
class CallShown:
    """One request to a model."""

    row: ModelCall
    outcome: str
    problems: Sequence[str]
    cost: Decimal
    seconds: str


def proposer_text(proposal: Proposal) -> str:
    """Who proposed: the rules, a model, or the rules with a model's explanation. Asks nothing of a loaded advice."""
    kind, _, provider = proposal.proposer.partition(":")
    said = {"model": proposal.model, "provider": provider}
    if kind == "model":
        return gettext("the model %(model)s (%(provider)s)") % said
    if kind == "explained":
        return gettext("the rules of the process; the model %(model)s (%(provider)s) explains") % said
    if kind != "rules":
        return f"{proposal.proposer} {proposal.model}".strip()
    advice = getattr(proposal, "advice", None)
    if advice is not None and advice.took_over:
        return took_over_text(advice)
    return gettext("the rules of the process")


def took_over_text(advice: Advice) -> str:
    if advice.mode == Advice.Mode.EXPLAINS:
        return gettext("the rules of the process, without an explanation of the model (%(code)s)") % {
            "code": advice.took_over
        }
    return gettext("the rules of the process, which took over from the model (%(code)s)") % {"code": advice.took_over}


def advice_of(proposal: Proposal, *, may_reveal: bool) -> AdviceShown | None:
    """None where no model was to be asked. One query where there are words to show."""
    advice: Advice | None = getattr(proposal, "advice", None)
    if advice is None:
        return None
    said, erased = "", False
    if advice.explanation_field and may_reveal:
        try:
            said = read_texts(proposal.case_id, [advice.explanation_field]).get(advice.explanation_field, "")
        except Purged:
            erased = True
    return AdviceShown(
        row=advice,
        call=advice.call,
        words=said,
        hidden=bool(advice.explanation_field) and not may_reveal,
        erased=erased,
        restored=advice.restored_field if said else "",
        took_over=took_over_text(advice) if advice.took_over else "",
    )


def calls_of(case: Case) -> list[CallShown]:
    """One query."""
    rows = ModelCall.objects.filter(case=case).order_by("-id")[:CALLS]
    return [
        CallShown(
            row=row,
            outcome=_outcome(row),
            problems=[problem_text(one) for one in row.problems],
            cost=row.cost if row.cost is not None else row.cost_limit,
            seconds=f"{row.duration_ms / 1000:.1f}" if row.duration_ms is not None else "–",
        )
        for row in rows
    ]


def problem_text(problem: Mapping[str, Any]) -> str:
    """Why an answer was not accepted, and of what; never a word of the answer itself."""
    code, about = str(problem.get("code", "")), str(problem.get("about", ""))
    sentence = gettext(CODES[code]) if code in CODES else code
    if not about:
        return sentence
    return f"{sentence} ({vocabulary.path_label(about) if '.' in about else about})"


def _outcome(row: ModelCall) -> str:
    if row.ended_at is None:
        return gettext("asked, no answer yet")
    if row.outcome == ModelCall.Outcome.FAILED:
        return gettext("not answered: %(code)s") % {"code": row.code}
    return str(OUTCOMES.get(row.outcome, row.outcome))
