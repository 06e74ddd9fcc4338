"""Tickets as JSON Lines: every line gets an answer, and a bad line never stops the rest."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Organisation
from cases.management.commands import import_cases
from cases.management.commands.import_cases import lines_of
from cases.models import Case, IntakeRevision, Task
from tests.commands.conftest import Ran, Run
from tests.data.make_tickets import make_ticket_file

pytestmark = pytest.mark.usefixtures("acme")


def ticket(name: str = "T-1", **changes: Any) -> dict[str, Any]:
    intake = {"customer_id": "U-1", "subscription_id": "S-1", "payment_id": "PAY-1", "claim": "Оплата есть 🙂"}
    return {"process": "restore_access", "source": "helpdesk", "external_id": name, "intake": intake} | changes


def line(name: str = "T-1", **changes: Any) -> bytes:
    return json.dumps(ticket(name, **changes), ensure_ascii=False).encode()


def with_claim(text: bytes) -> bytes:
    return line().replace('"Оплата есть 🙂"'.encode(), text)


@pytest.fixture
def imported(run: Run, a_file: Callable[..., str]) -> Callable[..., Ran]:
    def import_lines(*lines: bytes, person: str = "operator", end: bytes = b"\n", json: bool = True) -> Ran:
        more = ["--json"] if json else []
        return run("import_cases", a_file(*lines, end=end), "--organisation=acme", f"--as={person}", *more)

    return import_lines


def test_good_lines_open_cases_and_the_run_ends_well(imported: Callable[..., Ran]) -> None:
    done = imported(line("T-1"), b"", line("T-2", organisation="acme"), b"   ", line("T-1"))

    *answers, summary = done.lines()
    assert done.code == 0
    assert [(one["line"], one["result"], one["external_id"]) for one in answers] == [
        (1, "accepted", "T-1"),
        (3, "accepted", "T-2"),
        (5, "same", "T-1"),
    ]
    assert summary == {"summary": {"lines": 3, "accepted": 2, "same": 1, "conflict": 0, "refused": 0}}
    assert Task.objects.filter(stage="check", status="due").count() == 2


BROKEN = {
    "not JSON": (line()[:-3], "not_json", "$"),
    "an array": (b"[1]", "wrong_type", "$"),
    "a bare word": (b"hello", "not_json", "$"),
    "not UTF-8": (with_claim(b'"\xff"'), "not_utf8", "$"),
    "NUL": (with_claim(rb'"\u0000"'), "nul", "$.intake.claim"),
    "raw NUL": (with_claim(b'"\x00"'), "not_json", "$"),
    "half a surrogate pair": (with_claim(rb'"\ud83d"'), "lone_surrogate", "$.intake.claim"),
    "NaN": (with_claim(b"NaN"), "not_a_number", "$.intake.claim"),
    "infinity": (with_claim(b"1e999"), "not_a_number", "$.intake.claim"),
    "a duplicate key": (line()[:-1] + b', "source": "crm"}', "duplicate_key", "$.source"),
    "a duplicate key inside": (with_claim(b'"x", "claim": "y"'), "duplicate_key", "$.intake.claim"),
    "an unknown field": (line(priority="high"), "unknown_field", "$.priority"),
    "an unknown field inside": (with_claim(b'"x", "sum": "1"'), "unknown_field", "$.intake.sum"),
    "a field of a wrong type": (line(source=1), "wrong_type", "$.source"),
    "a wrong type inside": (with_claim(b"1"), "wrong_type", "$.intake.claim"),
    "no intake": (line(intake=None), "wrong_type", "$.intake"),
    "a missing field": (b'{"process": "restore_access"}', "missing", "$.source"),
    "an unknown process": (line(process="refund"), "unknown_process", "$.process"),
    "an empty id": (line("\u200b \ufeff"), "empty", "$.external_id"),
    "a text that is too long": (with_claim(b'"' + b"x" * 4001 + b'"'), "too_long", "$.intake.claim"),
    "a line that is too long": (with_claim(b'"' + b"x" * 600_000 + b'"'), "too_large", ""),
    "too deep": (with_claim(b"[" * 20 + b"]" * 20), "too_deep", "$.intake.claim" + "[0]" * 11),
    "far too deep": (with_claim(b"[" * 100_000 + b"]" * 100_000), "too_deep", "$"),
    "a number that is too long": (with_claim(b"9" * 5000), "number_too_long", "$"),
    "another organisation": (line(organisation="globex"), "wrong_organisation", "$.organisation"),
    "an unknown department": (line(department="nowhere"), "unknown_department", "$.department"),
    "a link that is none": (line(source_url="javascript:x"), "wrong_format", "$.source_url"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_is_refused_with_its_number_and_stops_nothing(name: str, imported: Callable[..., Ran]) -> None:
    broken, code, path = BROKEN[name]

    done = imported(line("T-before"), broken, line("T-after"))

    before, refused, after, summary = done.lines()
    assert done.code == 3
    assert (refused["line"], refused["result"], refused["code"], refused["path"]) == (2, "refused", code, path)
    assert refused["reason"]
    assert [before["result"], after["result"]] == ["accepted", "accepted"]
    assert (summary["summary"]["refused"], Case.objects.count(), IntakeRevision.objects.count()) == (1, 2, 2)


def test_the_same_ticket_with_other_content_conflicts_with_the_case_it_opened(imported: Callable[..., Ran]) -> None:
    done = imported(line("T-1"), line("T-1", source_url="https://example.org/"))

    opened, conflict, _summary = done.lines()
    assert done.code == 3
    assert (conflict["result"], conflict["code"], conflict["case"]) == ("conflict", "intake_conflict", opened["case"])
    assert Case.objects.count() == 1


def test_an_answer_never_repeats_the_claim(imported: Callable[..., Ran]) -> None:
    secret = "ОЧЕНЬ-ЛИЧНОЕ"
    lines = [
        with_claim(f'"{secret}", "x": 1'.encode()),
        with_claim(f'["{secret}"]'.encode()),
        with_claim(f'"{secret}'.encode()),
    ]

    for as_json in (True, False):
        done = imported(*lines, json=as_json)
        assert secret not in done.out + done.err + done.failure


def test_text_is_written_for_people_and_cannot_move_their_cursor(imported: Callable[..., Ran]) -> None:
    done = imported(line("T-1"), line(**{"\x1b[2J\u202e": 1}), json=False)

    accepted, refused, summary = done.out.splitlines()
    assert accepted.startswith("1 accepted C-") and accepted.endswith(" T-1")
    assert refused == "2 refused unknown_field $.\\x1b[2J\\u202e there is no such field"
    assert summary == "accepted 1, same 0, conflict 0, refused 1"
    assert (done.code, done.failure) == (3, "")


def test_windows_line_ends_and_a_byte_order_mark_are_no_mistake(imported: Callable[..., Ran]) -> None:
    assert imported(b"\xef\xbb\xbf" + line("T-1"), line("T-2"), end=b"\r\n").code == 0


def test_a_last_line_without_an_end_counts(imported: Callable[..., Ran]) -> None:
    assert imported(line("T-1") + b"\n" + line("T-2"), end=b"").lines()[-1]["summary"]["accepted"] == 2


def test_an_empty_file_is_fine(imported: Callable[..., Ran]) -> None:
    assert imported().lines() == [{"summary": {"lines": 0, "accepted": 0, "same": 0, "conflict": 0, "refused": 0}}]


def test_progress_is_told_on_standard_error(imported: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_cases, "PROGRESS_LINES", 2)

    done = imported(*[line(f"T-{number}") for number in range(5)])

    told = done.err.splitlines()
    assert len(told) == 2
    assert told[0].startswith("line 2: accepted 2, same 0, conflict 0, refused 0")


def test_a_file_is_read_in_pieces_and_an_endless_line_takes_no_memory() -> None:
    class Endless(io.RawIOBase):
        """A line of 2 GiB, of which nobody may ask for more than a piece at a time, and then a good one."""

        left = 2**31
        largest = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            assert size is not None and 0 < size < 2**20
            self.largest = max(self.largest, size)
            if self.left <= 0:
                self.left -= 1
                return b"{}\n" if self.left == -1 else b""
            # The pieces are made up: only their number would grow with the line.
            self.left -= 2**27
            return b"x" * size if self.left > 0 else b"x\n"

    stream = Endless()

    assert list(lines_of(stream)) == [(1, None), (2, b"{}")]  # type: ignore[arg-type]


def test_who_may_not_open_cases_imports_nothing(imported: Callable[..., Ran]) -> None:
    assert imported(line(), person="viewer").code == 1
    assert imported(line(), person="stranger").code == 1
    assert imported(line(), person="nobody").code == 2
    assert not Case.objects.exists()


def test_a_missing_file_is_a_wrong_call(run: Run) -> None:
    assert run("import_cases", "/nowhere/at/all", "--organisation=acme", "--as=operator").code == 2


def test_the_file_of_500_gets_the_answers_it_was_made_for(imported: Callable[..., Ran], acme: Organisation) -> None:
    made = make_ticket_file()

    done = imported(*made.lines)

    *answers, summary = done.lines()
    assert done.code == 3
    assert [(one["result"], one.get("code", "")) for one in answers] == [
        (verdict.result, verdict.code) for verdict in made.verdicts
    ]
    assert [one["line"] for one in answers] == list(range(1, 501))
    assert summary["summary"] == {"lines": 500, **Counter(verdict.result for verdict in made.verdicts)}
    assert set(Case.objects.values_list("external_id", flat=True)) == set(made.expected)
    assert imported(*made.lines).lines()[-1]["summary"]["same"] == 475
