"""The plans of a case side by side: what differs from one to the next, what the rules said, what people said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from accounts.models import Person
from approvals.models import Decision, Proposal
from approvals.selectors import list_proposals
from approvals.snapshots import ActionSpec, actions_of, opened
from caseflow.domain.process import differences, value_at
from caseflow.domain.recovery import Kind
from cases.models import Case
from cases.observing import newest_observations
from cases.selectors import find_newest_event, masked
from operations.selectors import choices_for

from . import vocabulary, words
from .history import Change
from .model_words import CallShown, calls_of

ASK = (Kind.ASK_AGAIN, Kind.OBSERVE_AGAIN)

VERSIONS = 50  #: the newest


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One thing that code checks of a plan. `holds` is None for what was checked once, when it was prepared."""

    label: str
    detail: str
    holds: bool | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """One plan beside the one before it."""

    proposal: Proposal
    says: str
    request: str
    changes: Sequence[Change] | None  #: None for the first
    rules: Sequence[RuleResult]
    decisions: Sequence[Decision]
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class VersionsPage:
    versions: Sequence[Version]  #: the newest first
    calls: Sequence[CallShown]  #: each request to a model, the newest first
    refused: str  #: the rule that the last answer of the proposer broke, so that it became no proposal
    ask_again: str  #: the kind of the order that asks for a new proposal, "" where there is none now


def gather(case: Case, person: Person) -> VersionsPage:
    """A fixed number of queries, however many plans there are."""
    rows = list(list_proposals(case.pk).defer(None).order_by("-number")[: VERSIONS + 1])
    snapshots = {row.pk: opened(row.snapshot) for row in rows}
    taken_back = {row.repeats_id for row in rows if row.repeats_id}
    facts = {row.name: row.value for row in newest_observations(case.pk)}
    kinds = choices_for(person, case).kinds
    broken = find_newest_event(case.pk, ["case.person_needed", "case.proposal_ready"])
    standing = next((row.pk for row in rows if row.has_effects), None)
    versions = []
    for row, before in zip(rows, [*rows[1:], None], strict=False):  # none before the first
        snapshot = snapshots[row.pk]
        versions.append(
            Version(
                proposal=row,
                says=words.ending_sentence(case.process, case.process_version, row.decision),
                request=request_of(case, row, snapshot),
                changes=changes_between(snapshots[before.pk], snapshot) if before is not None else None,
                rules=rule_results(snapshot, facts if row.pk == standing else None),
                decisions=list(row.decisions.all()),
                withdrawn=row.pk in taken_back,
            )
        )
    return VersionsPage(
        versions=versions[:VERSIONS],
        calls=calls_of(case),
        refused=str(broken.facts.get("problem", "")) if broken is not None else "",
        ask_again=next((kind for kind in ASK if kind in kinds), ""),
    )


def request_of(case: Case, proposal: Proposal, snapshot: Mapping[str, Any]) -> str:
    """The exact effect in one sentence, or nothing for a plan of messages."""
    subject = next((spec.subject for spec in actions_of(snapshot) if spec.kind == "effect"), "")
    return words.request_sentence(case.process, case.process_version, proposal.decision, subject) if subject else ""


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """What one plan says otherwise than the one before; ids and keys of actions are always new ones."""
    found = [
        Change(
            vocabulary.path_label(path),
            vocabulary.value_text(path, masked(before["facts"].get(path))),
            vocabulary.value_text(path, masked(after["facts"].get(path))),
        )
        for path in {**before["facts"], **after["facts"]}
        if before["facts"].get(path) != after["facts"].get(path)
    ]
    pairs = [
        (gettext("Decision"), before["decision"], after["decision"]),
        (gettext("It rests on"), _evidence(before), _evidence(after)),
        (gettext("Approvals needed"), _quorum(before), _quorum(after)),
        (gettext("Data it was made from"), str(before["intake_revision"]), str(after["intake_revision"])),
        (gettext("Actions"), _actions(before), _actions(after)),
        (gettext("What is requested"), _requests(before), _requests(after)),
    ]
    return found + [Change(label, then or "–", now or "–") for label, then, now in pairs if then != now]


def rule_results(snapshot: Mapping[str, Any], facts: Mapping[str, Any] | None) -> list[RuleResult]:
    """What code checked before it became a proposal, and the preconditions of its effects beside the facts of now.

    No plan is stored that breaks one of the first: `approvals.rules` refuses it. Without `facts` nothing is compared.
    """
    approval = snapshot["approval"]
    found = [
        RuleResult(gettext("The decision is one of this process, and the one that its rule makes of these facts"), ""),
        RuleResult(gettext("Every piece of evidence exists"), _evidence(snapshot)),
        RuleResult(gettext("Nothing is done that this case did before"), ""),
    ]
    if approval:
        said = {"number": approval["quorum"]}
        who = gettext("approvals needed: %(number)s") % said
        four = gettext("who took part in the case does not decide") if approval["four_eyes"] else ""
        found.append(RuleResult(gettext("The approval cannot be switched off"), "; ".join(filter(None, [who, four]))))
    for spec in actions_of(snapshot):
        wrong = differences(spec.preconditions, facts) if facts is not None else {}
        for path, wanted in spec.preconditions.items():
            detail = vocabulary.value_text(path, masked(wanted))
            if path in wrong:
                now = vocabulary.value_text(path, masked(value_at(facts or {}, path)))
                detail = gettext("needed: %(wanted)s, now: %(now)s") % {"wanted": detail, "now": now}
            found.append(RuleResult(vocabulary.path_label(path), detail, None if facts is None else path not in wrong))
    return found


def _evidence(snapshot: Mapping[str, Any]) -> str:
    return ", ".join(vocabulary.path_label(path) for path in snapshot["evidence"])


def _quorum(snapshot: Mapping[str, Any]) -> str:
    return str(snapshot["approval"]["quorum"]) if snapshot["approval"] else ""


def _actions(snapshot: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{vocabulary.operation_label(spec.system, spec.operation)} · {_subject(spec)}" for spec in actions_of(snapshot)
    )


def _requests(snapshot: Mapping[str, Any]) -> str:
    """The open values of each effect's request; what a message says is told by its template's name."""
    told = []
    for spec in actions_of(snapshot):
        if spec.kind == "effect":
            shown = {name: vocabulary.value_text(name, masked(value)) for name, value in spec.request.items()}
            told.append(", ".join(f"{vocabulary.part_label(name)}: {text}" for name, text in sorted(shown.items())))
        else:
            told.append(str(spec.request.get("template", "")))
    return "; ".join(told)


def _subject(spec: ActionSpec) -> str:
    return vocabulary.path_label(spec.subject) if spec.kind == "notice" else spec.subject
