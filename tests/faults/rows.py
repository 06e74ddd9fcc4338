"""The rows of the list of faults, in its own words, and those whose part is still to come."""

from __future__ import annotations

TO_COME = {
    "C33": "documents: the report's file",
    "C34": "documents: the report's row",
    "C35": "documents: the report's notification",
    "C36": "documents: a recipient's access",
    "C45": "documents: the report's store",
}

#: What a shown row leaves out, said in the report beside it.
LEFT_OUT = {
    "C06": "mark comes before bell here, so published-before-marked cannot occur; the duplicate message was sent",
    "C16": "shown with the rules as proposer; that both calls of a model are costed comes with models",
    "C31": "what changes and is not checked by the outside system itself is not seen by the read-back",
    "C44": "the day of a clock change belongs to reports, which are still to come",
    "C46": "a migration during a run comes with the first migration that changes a table in use",
}

ROWS = [f"C{number:02d}" for number in range(1, 47)]
EACH_ATTEMPT = [f"C{number}" for number in range(21, 30)]  #: first, second, last × same, other
