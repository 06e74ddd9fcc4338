"""`manage.py evaluate_proposer --proposer X --cases FILE [--against Y]`: how good is it, and what comes through?

It asks the proposer about labelled tickets, opens no case and writes nothing. The last line of its output is one JSON
object with `cases`, `accuracy` and `injections_through`. Exit codes: 0 done, 1 failed (nobody answered), 2 usage, 3 it
ran to its end and something wrong passed the checks, or some tickets were not answered.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.commands import DIFFERENCES, FAILED, USAGE, add_json, shown, write_json, write_progress
from approvals.evaluating import Judged, NotServed, judge_all
from approvals.labelled import BadLine, LabelledCase, read_labelled, spread
from approvals.measuring import Measured, Share, list_different, measure
from approvals.proposers import Proposer, proposer_for

PROGRESS_SECONDS = 5.0  #: between two words about progress
COLUMN = 26  #: characters of one proposer's figures


class Command(BaseCommand):
    help = "Asks a proposer about labelled tickets and says how it did. Opens no case, writes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--proposer", required=True, metavar="NAME", help="rules, model, model:main@decide-1, …")
        parser.add_argument("--cases", required=True, metavar="FILE", help="JSON Lines; - reads standard input")
        parser.add_argument("--against", metavar="NAME", help="another proposer or prompt version, side by side")
        parser.add_argument("--sample", metavar="N", type=int, help="only N of the tickets, from all over the file")
        add_json(parser, "all figures in the last line, and nothing before it")

    def handle(self, *args: Any, cases: str, **options: Any) -> None:
        names = [options["proposer"], *([options["against"]] if options["against"] else [])]
        proposers = [_proposer(name) for name in names]
        tickets = _tickets(cases, options["sample"])
        judged = [self._ask(proposer, tickets) for proposer in proposers]
        measured = [measure(one) for one in judged]
        different = list_different(judged[0], judged[1]) if len(judged) > 1 else []
        if not options["json"]:
            for line in lines_of(names, measured, judged, different):
                self.stdout.write(line)
        write_json(self, summed(names, measured, different, whole=options["json"]))
        if any(one.wrong or one.injections_through or one.unserved for one in measured):
            sys.exit(DIFFERENCES)  # no CommandError: it ran to its end

    def _ask(self, proposer: Proposer, tickets: Sequence[LabelledCase]) -> list[Judged]:
        """Raises CommandError when nobody answers."""
        found: list[Judged] = []
        told = time.monotonic()
        try:
            for one in judge_all(proposer, tickets):
                found.append(one)
                if time.monotonic() - told > PROGRESS_SECONDS:
                    told = time.monotonic()
                    write_progress(self, f"{proposer.name}: {len(found)} of {len(tickets)}")
        except NotServed as error:
            problem = f"{proposer.name} did not answer, the last time with {error}; {len(found)} tickets were asked"
            raise CommandError(problem, returncode=FAILED) from error
        except KeyError as error:
            raise CommandError(f"{proposer.name}: {shown(str(error.args[0]))}", returncode=USAGE) from error
        return found


def summed(
    names: Sequence[str], measured: Sequence[Measured], different: Sequence[dict[str, Any]], *, whole: bool
) -> dict[str, Any]:
    """The last line: in short, or with every figure."""
    found: dict[str, Any] = {"proposer": names[0]} | _figures(measured[0], whole=whole)
    if len(measured) > 1:
        found["against"] = {"proposer": names[1]} | _figures(measured[1], whole=whole)
        found["different"] = list(different) if whole else len(different)
    return found


def lines_of(
    names: Sequence[str],
    measured: Sequence[Measured],
    judged: Sequence[Sequence[Judged]],
    different: Sequence[dict[str, Any]],
) -> Iterator[str]:
    yield _row("", names)
    yield _row("cases", [one.cases for one in measured])
    yield _row("accuracy", [f"{one.accuracy:.1%}" for one in measured])
    yield _row("right in the first answer", [f"{one.first_accuracy:.1%}" for one in measured])
    yield _row("passed the checks", [one.accepted for one in measured])
    yield _row("  after a repair", [one.mended for one in measured])
    yield _row("  with a wrong ending", [one.wrong for one in measured])
    yield _row("asked for missing facts", [one.asked_for_facts for one in measured])
    yield _row("refused by the checks", [one.refused for one in measured])
    yield _row("not served", [one.unserved for one in measured])
    yield _row("injections", [one.injections for one in measured])
    yield _row("  followed at first", [one.injections_followed for one in measured])
    yield _row("  echoed in words", [one.injections_echoed for one in measured])
    yield _row("  through", [one.injections_through for one in measured])
    yield _row("tokens sent, received", [f"{one.tokens_in}, {one.tokens_out}" for one in measured])
    yield _row("cost", [", ".join(f"{sum_} {name}" for name, sum_ in one.cost.items()) or "0" for one in measured])
    yield _row("seconds, median and p95", [f"{one.median_seconds:.3f}, {one.p95_seconds:.3f}" for one in measured])
    for title in ("endings", "languages", "kinds"):
        yield f"{title}: ended right, and right at first, of all"
        groups: list[dict[str, Share]] = [dict(getattr(one, title)) for one in measured]
        for name in groups[0]:
            yield _row(f"  {name}", [_share_text(group[name]) for group in groups])
    for title, counts in (
        ("refused by", [one.refused_by for one in measured]),
        ("mended after", [one.mended_after for one in measured]),
        ("not served", [one.unserved_by for one in measured]),
    ):
        codes = list(dict.fromkeys(code for one in counts for code in one))
        if codes:
            yield f"{title}: tickets"
        for code in codes:
            yield _row(f"  {shown(code)}", [one.get(code, 0) for one in counts])
    for told in different:
        yield f"{told['id']} {told['expected']}: {shown(told['this'])} / {shown(told['other'])}"
    for name, several in zip(names, judged, strict=True):
        for one in several:
            if one.through or one.is_wrong:
                yield f"{one.case.id} passed the checks of {name} wrongly: {shown(one.decision)}"


def _figures(measured: Measured, *, whole: bool) -> dict[str, Any]:
    found = asdict(measured)
    if not whole:
        return {name: found[name] for name in ("cases", "accuracy", "injections_through")}
    for group in ("endings", "languages", "kinds"):
        for name, share in getattr(measured, group).items():
            found[group][name]["accuracy"] = share.accuracy
    return found


def _row(label: str, values: Sequence[object]) -> str:
    return f"{label:<28}" + "".join(f"{value!s:>{COLUMN}}" for value in values).rstrip()


def _share_text(share: Share) -> str:
    return f"{share.right}, {share.first_right} of {share.cases}"


def _proposer(name: str) -> Proposer:
    try:
        return proposer_for(name)
    except KeyError:
        raise CommandError(f"there is no proposer {shown(name)}", returncode=USAGE) from None
    except ValueError as error:  # the settings name the providers wrongly
        raise CommandError(str(error), returncode=USAGE) from error


def _tickets(file: str, sample: int | None) -> list[LabelledCase]:
    if sample is not None and sample < 1:
        raise CommandError("--sample takes at least 1", returncode=USAGE)
    try:
        with _opened(file) as stream:
            tickets = read_labelled(stream)
    except OSError as error:
        raise CommandError(f"{shown(file)} cannot be read: {error.strerror}", returncode=USAGE) from error
    except BadLine as error:
        raise CommandError(f"{shown(file)}: {shown(str(error))}", returncode=USAGE) from error
    return tickets if sample is None else spread(tickets, sample)


def _opened(name: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb")
