"""The journal of a case: each request to a model is kept before it leaves and after it was answered, with its costs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from caseflow.domain.errors import LeaseLost
from caseflow.domain.failpoints import failpoint
from cases.claiming import Lease
from cases.models import Task
from cases.models.task import TaskStatus
from cases.personal import store_texts
from cases.rows import CaseRow, database_now

from .answers import Asking, Call
from .circuits import answer_of
from .model_models import ModelCall


@dataclass(frozen=True, slots=True)
class CaseJournal:
    """As `answers.Journal`, for one attempt at asking. Each entry is committed by itself: no transaction is open while
    a model is asked."""

    lease: Lease
    case: CaseRow

    def begin(self, asking: Asking) -> None:
        """Raises LeaseLost where another worker holds the task: nothing is asked, and nothing paid."""
        with transaction.atomic():
            holds = Task.objects.filter(pk=self.lease.task_id, fence=self.lease.fence, status=TaskStatus.LEASED)
            if not holds.exists():
                raise LeaseLost(task=self.lease.task_id)
            now = database_now()
            end_lost(self.lease.task_id, at=now)
            ModelCall.objects.create(
                call_id=asking.call_id,
                case_id=self.case.id,
                case_version=self.lease.generation,
                task_id=self.lease.task_id,
                worker=self.lease.worker,
                provider=asking.provider,
                model=asking.model,
                prompt_version=asking.prompt_version,
                prompt_digest=asking.prompt_digest,
                schema_version=asking.schema_version,
                parameters=dict(asking.parameters),
                repair=asking.repair,
                cost_limit=asking.cost_limit,
                currency=asking.currency,
                begun_at=now,
            )
        failpoint("ask_model.begun", *self.lease.about)

    def end(self, call: Call) -> None:
        """Once. What is kept of an answer in the open are codes and numbers; its words are personal text."""
        failpoint("ask_model.answered", *self.lease.about)
        field = f"model.{call.asking.call_id}" if call.raw else ""
        with transaction.atomic():
            now = database_now()
            ended = ModelCall.objects.filter(call_id=call.asking.call_id, ended_at=None).update(
                ended_at=now,
                outcome=call.outcome,
                code=call.code[:64],
                status=call.status,
                finish_reason=call.finish_reason,
                tokens_in=call.tokens_in,
                tokens_out=call.tokens_out,
                cost=call.cost,
                duration_ms=round(call.duration.total_seconds() * 1000),
                problems=[{"code": problem.code, "about": problem.about} for problem in call.problems],
                raw_field=field,
            )
            if ended and field:
                store_texts(self.case.id, {field: call.raw}, at=now)
        if call.outcome != ModelCall.Outcome.FAILED:
            answer_of(call.asking.provider)
        failpoint("ask_model.kept", *self.lease.about)


def end_lost(task_id: int, *, at: datetime) -> None:
    """Whoever had the task before is gone, and its answer with it: that request costs the most that it can."""
    ModelCall.objects.filter(task_id=task_id, ended_at=None).update(
        ended_at=at, outcome=ModelCall.Outcome.LOST, cost=F("cost_limit")
    )


def made_so_far(lease: Lease) -> dict[str, Any]:
    """What earlier attempts asked: {"invalid": by this task, "missing": for this version of the case}."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FILTER (WHERE task_id = %s AND outcome = 'invalid'),"
            " count(*) FILTER (WHERE outcome = 'missing')"
            " FROM approvals_modelcall WHERE case_id = %s AND case_version = %s",
            [lease.task_id, lease.case.id if lease.case else None, lease.generation],
        )
        invalid, missing = cursor.fetchone()
    return {"invalid": invalid, "missing": missing}
