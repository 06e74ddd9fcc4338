"""The rows of the list of faults, and what is not shown of them."""

from __future__ import annotations

#: What a shown row leaves out, said in the report beside it.
LEFT_OUT = {
    "C06": "mark comes before bell here, so published-before-marked cannot occur; the duplicate message was sent",
    "C31": "what changes and is not checked by the outside system itself is not seen by the read-back",
    "C44": "the day of a clock change is arithmetic, shown by tests/domain/test_periods.py",
    "C46": "a migration during a run comes with the first migration that changes a table in use",
}

ROWS = [f"C{number:02d}" for number in range(1, 47)]
