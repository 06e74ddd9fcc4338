"""`manage.py check_drift`: confirmed effects beside what their systems say now. Nothing is repaired.

With --apply a difference that is not on record yet is recorded. Exit codes: 0 no difference, 1 failed, 2 usage,
3 differences, or systems that could not be read.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from accounts.principal import Actor
from cases.rows import database_now
from operations.drift import SAMPLE, Compared, compare_all, find_confirmed, is_news, store_finding
from operations.models import DriftRun, Repair
from operations.repairing import Found, RepairCommand


class Command(RepairCommand):
    name = "check_drift"
    help = "Compares confirmed effects with what the outside systems say now."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--sample", type=int, metavar="N", nargs="?", const=SAMPLE, help="some of all, not the day's"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self._sample: int | None = options["sample"]
        self._compared: dict[int, Compared] = {}
        self._unreadable = 0
        super().handle(*args, **options)

    def find(self, organisations: list[int] | None) -> list[Found]:
        found = []
        for one in compare_all(self._ids(organisations)):
            self._compared[one.action.pk] = one
            self._unreadable += bool(one.unreadable)
            if one.differs:
                found.append(_found(one))
        return found

    def repair(self, found: Found, repair: Repair, actor: Actor) -> bool:
        one = self._compared[found.about["id"]]
        run, _ = DriftRun.objects.get_or_create(
            repair=repair, defaults={"scope": self._scope, "began_at": repair.at, "ended_at": database_now()}
        )
        stored = store_finding(run, one, actor=actor)
        run.checked = len(self._compared) - self._unreadable
        run.unreadable = self._unreadable
        run.differing += stored
        run.save(update_fields=["checked", "unreadable", "differing"])
        return stored

    def remarks(self) -> list[str]:
        differing = sum(one.differs for one in self._compared.values())
        remarks = (
            [f"{differing} of {len(self._compared)} effects differ; ask the owner of the system"] if differing else []
        )
        if self._unreadable:
            remarks.append(f"{self._unreadable} effects could not be compared: their systems were not readable")
        return remarks

    @property
    def _scope(self) -> DriftRun.Scope:
        return DriftRun.Scope.DAY if self._sample is None else DriftRun.Scope.SAMPLE

    def _ids(self, organisations: list[int] | None) -> list[int]:
        if self._sample is not None:
            return find_confirmed(self._scope, organisations=organisations, limit=max(1, self._sample))
        ids: list[int] = []
        while portion := find_confirmed(self._scope, organisations=organisations, after=ids[-1] if ids else 0):
            ids += portion
        return ids


def _found(one: Compared) -> Found:
    action = one.action
    changes = [f"{path}: {pair['confirmed']} -> {pair['now']}" for path, pair in one.differences.items()]
    news = is_news(one)
    about = {"id": action.pk, "action": action.public_id, "case": action.case.public_id, "system": action.system}
    problem = "differs from what was confirmed" if news else "still differs, as recorded before"
    return Found(action.organisation_id, action.case_id, problem, about | {"changes": changes}, repairable=news)
