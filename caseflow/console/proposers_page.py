"""How much of what proposers say holds: before the rules, before people, and what a model takes (H8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.formats import number_format
from django.utils.translation import gettext

from approvals.answer_rules import CODES
from approvals.models import Advice
from operations.indicators import advising, judging
from operations.indicators.scope import Scope, Window

from . import words
from .moments import took_text
from .tables import Cell, Section, Table, age, number, share

COST_DIGITS = 4  #: after the point: one question costs a fraction of a cent


def sections(scope: Scope, window: Window, process: str, organisation: str) -> Iterator[Section]:
    """Five queries."""
    records = [row for row in advising.measure_proposers(scope, window) if process in ("", row.process)]
    refused = [row for row in advising.count_refused_answers(scope, window) if process in ("", row.process)]
    broken = [row for row in judging.count_broken_answers(scope, window) if process in ("", row.process)]
    taken = [row for row in advising.count_take_overs(scope, window) if process in ("", row.process)]
    asked = [one for row in records for one in row.asked]
    yield _by_rules(asked)
    yield _checks(refused, broken)
    yield _by_people([row.judged for row in records if row.judged])
    yield _take_overs(taken)
    yield _spent(asked)


def proposer_label(proposer: str, model: str, prompt_version: str) -> str:
    """`rules`, or the model with its provider and prompt, and whether it only explains."""
    kind, _, provider = proposer.partition(":")
    if kind == "rules":
        return gettext("rules")
    said = {"model": model, "provider": provider}
    if kind == "model":
        label = gettext("model %(model)s, %(provider)s") % said
    elif kind == "explained":
        label = gettext("rules, explained by model %(model)s, %(provider)s") % said
    else:
        return " ".join(part for part in (proposer, model, prompt_version) if part)
    return f"{label}, {prompt_version}" if prompt_version else label


def _by_rules(asked: Sequence[advising.ModelAsked]) -> Section:
    return Section(
        name="by-rules",
        title=gettext("What the checks said of models"),
        hint=gettext(
            "One question is one look at one case. An answer that the checks refuse may be mended twice; what is still"
            " refused then goes to a person. The share is of the questions that were answered."
        ),
        empty=gettext("No model was asked in this time."),
        tables=[
            Table(
                [
                    gettext("Proposer"),
                    gettext("Process"),
                    gettext("Questions"),
                    gettext("Accepted"),
                    gettext("After mending"),
                    gettext("Refused by rules"),
                    gettext("Asked for missing facts"),
                    gettext("Provider did not answer"),
                    gettext("Not finished"),
                    gettext("Share refused by rules"),
                ],
                [
                    [
                        Cell(proposer_label(row.proposer, row.model, row.prompt_version)),
                        Cell(words.newest_title(row.process)),
                        *(
                            number(value)
                            for value in (
                                row.questions,
                                row.accepted,
                                row.mended,
                                row.refused,
                                row.missing,
                                row.unserved,
                                row.unfinished,
                            )
                        ),
                        Cell(share(row.refused_share)),
                    ]
                    for row in asked
                ],
            )
        ],
    )


def _checks(refused: Sequence[advising.AnswersRefused], broken: Sequence[judging.BrokenAnswers]) -> Section:
    return Section(
        name="checks",
        title=gettext("Which check refused"),
        hint=gettext("Each answer that a check refused, the ones that were mended afterwards too."),
        empty=gettext("No answer was refused in this time."),
        tables=[
            Table(
                [gettext("Check"), gettext("Proposer"), gettext("Process"), gettext("Answers")],
                [
                    [
                        Cell(gettext(CODES[row.code]) if row.code in CODES else row.code),
                        Cell(proposer_label(row.proposer, row.model, row.prompt_version)),
                        Cell(words.newest_title(row.process)),
                        number(row.answers),
                    ]
                    for row in refused
                ],
            ),
            Table(
                [gettext("Process"), gettext("Answers"), gettext("The newest")],
                [[Cell(words.newest_title(row.process)), number(row.number), age(row.newest)] for row in broken],
                label=gettext("Answers that the rules did not let through"),
            ),
        ],
    )


def _by_people(judged: Sequence[judging.ProposalsJudged]) -> Section:
    return Section(
        name="by-people",
        title=gettext("What people said of proposals"),
        hint=gettext("Of the proposals made in this time. The share is of those that were decided."),
        empty=gettext("No proposal was made in this time."),
        tables=[
            Table(
                [
                    gettext("Proposer"),
                    gettext("Process"),
                    gettext("Made"),
                    gettext("Approved"),
                    gettext("Rejected"),
                    gettext("Returned"),
                    gettext("Data asked for"),
                    gettext("Withdrawn"),
                    gettext("Not decided"),
                    gettext("Share not approved"),
                ],
                [
                    [
                        Cell(proposer_label(row.proposer, row.model, row.prompt_version)),
                        Cell(words.newest_title(row.process)),
                        *(
                            number(value)
                            for value in (
                                row.made,
                                row.approved,
                                row.rejected,
                                row.returned,
                                row.data_asked,
                                row.withdrawn,
                                row.undecided,
                            )
                        ),
                        Cell(share(row.refused_share)),
                    ]
                    for row in judged
                ],
            )
        ],
    )


def _take_overs(taken: Sequence[advising.TookOver]) -> Section:
    return Section(
        name="took-over",
        title=gettext("Where the rules went on without a model"),
        hint=gettext("Proposals that the rules made, or that no model explained, though one was to be asked."),
        empty=gettext("No proposal had to go without its model in this time."),
        tables=[
            Table(
                [gettext("What went without it"), gettext("Process"), gettext("Cause"), gettext("Proposals")],
                [
                    [
                        Cell(gettext("explanation") if row.mode == Advice.Mode.EXPLAINS else gettext("decision")),
                        Cell(words.newest_title(row.process)),
                        Cell(row.code, is_code=True),
                        number(row.proposals),
                    ]
                    for row in taken
                ],
            )
        ],
    )


def _spent(asked: Sequence[advising.ModelAsked]) -> Section:
    return Section(
        name="spent",
        title=gettext("What models took"),
        hint=gettext("A request whose cost nobody counted is charged with the most that it can have cost."),
        empty=gettext("No model was asked in this time."),
        tables=[
            Table(
                [
                    gettext("Proposer"),
                    gettext("Process"),
                    gettext("Requests"),
                    gettext("Tokens sent"),
                    gettext("Tokens received"),
                    gettext("Cost"),
                    gettext("Half of the answers take at most"),
                    gettext("95 of 100 take at most"),
                ],
                [
                    [
                        Cell(proposer_label(row.proposer, row.model, row.prompt_version)),
                        Cell(words.newest_title(row.process)),
                        number(row.requests),
                        number(row.tokens_in),
                        number(row.tokens_out),
                        Cell(f"{number_format(row.cost, COST_DIGITS)} {row.currency}"),
                        Cell("–" if row.median is None else took_text(row.median)),
                        Cell("–" if row.p95 is None else took_text(row.p95)),
                    ]
                    for row in asked
                ],
            )
        ],
    )
