"""One log line at the end of each stage: of which case and task, how long, what came of it, which outside calls."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING

from caseflow import traces

if TYPE_CHECKING:
    from .claiming import Lease

log = logging.getLogger("caseflow.stage")

Run = Callable[["Lease"], "Lease | None"]


def told(run: Run) -> Run:
    """`run`, telling of itself. The ids stay bound when it fails: who catches that writes the next line."""

    @wraps(run)
    def run_and_tell(lease: Lease) -> Lease | None:
        traces.bind(task_id=lease.task_id)
        if lease.case is not None:
            traces.bind(case_id=lease.case.public_id)
        traces.bind_ids(lease.subject)
        if not log.isEnabledFor(logging.INFO):
            return run(lease)
        outcome, following = "settled", None
        with traces.piece_of_work() as piece:
            try:
                following = run(lease)
            except BaseException as error:
                outcome = traces.code_of(getattr(error, "code", "") or type(error).__name__)
                raise
            finally:
                _tell(lease, piece, outcome, following)
        return following

    return run_and_tell


def _tell(lease: Lease, piece: traces.Piece, outcome: str, following: Lease | None) -> None:
    said = {"stage": lease.stage, "attempt": lease.number, "outcome": outcome, "ms": piece.ms}
    if piece.calls:
        said["calls"] = piece.told()
    if following is not None:
        said["next"] = following.task_id
    log.info("stage", extra=said)
