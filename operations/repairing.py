"""The one way of all repairing commands: show what would be done; with `--apply --as --reason` do it with that
person's rights, and record who, why, and under which account of the machine (design §11).

Every find is repaired in a transaction of its own that looks again first, so that a repair is safe beside live workers
and does nothing the second time.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, transaction

from accounts import access
from accounts.commands import (
    DIFFERENCES,
    FAILED,
    USAGE,
    acting_person,
    add_json,
    os_account,
    permitted_organisation,
    shown,
    storable,
    write_json,
)
from accounts.models import Organisation, Person
from accounts.principal import Actor, actor_of_person
from audit.services import record_organisation_event
from caseflow.domain.roles import Right
from cases.rows import database_now

from .models import Repair

__all__ = ["Found", "RepairCommand", "os_account"]

MAX_REASON = 500  #: characters


@dataclass(slots=True)
class Found:
    """Something to repair, or only to show. `about` are JSON values; `result` is filled in by the command."""

    organisation_id: int | None
    case_id: int | None
    problem: str
    about: dict[str, Any] = field(default_factory=dict)
    repairable: bool = True
    advice: str = ""
    result: str = ""


class RepairCommand(BaseCommand):
    """Subclass it: `find` looks, `repair` does one thing again under its locks."""

    name: str
    right: ClassVar[Right] = Right.RECOVER  #: what `--apply` needs in the organisation
    looks_at_platform: ClassVar[bool] = False  #: also at what belongs to no organisation

    @abstractmethod
    def find(self, organisations: list[int] | None) -> list[Found]:
        """Reads only; None stands for every organisation."""

    @abstractmethod
    def repair(self, found: Found, repair: Repair, actor: Actor) -> bool:
        """Within a transaction; False where somebody was first and nothing is left to do."""

    def remarks(self) -> list[str]:
        """What else a person should know; a remark keeps the exit code at 3."""
        return []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organisation", metavar="SLUG", default="", help="only there; everywhere if left out")
        parser.add_argument("--apply", action="store_true", help="do it; without this it is only shown")
        parser.add_argument("--as", dest="person", metavar="USER", default="", help="act with this person's rights")
        parser.add_argument("--reason", metavar="TEXT", default="", help="why; kept with the record of the repair")
        add_json(parser, "one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        person, reason = _ordered_by(options)
        organisations = self._organisations(options["organisation"], person)
        try:
            found = self._found(organisations, options["organisation"])
            if person is not None and options["apply"]:
                self._apply(found, person, reason)
            remarks = self.remarks()
        except DatabaseError as error:
            raise CommandError(f"stopped: {type(error).__name__}; run it again", returncode=FAILED) from error
        self._tell(found, remarks, options)
        left = [one for one in found if one.result not in ("repaired", "moved_on")]
        if left or remarks:
            sys.exit(DIFFERENCES)  # no CommandError: the run did not fail

    def _organisations(self, slug: str, person: Person | None) -> list[int] | None:
        """Without a person the whole installation; with one what is in their sight, as everywhere else."""
        if person is None:
            return _named(slug) if slug else None
        if slug:
            return [permitted_organisation(slug, person, self.right).pk]
        in_sight = [access.organisations_with(person, right) for right in (self.right, Right.SEE_CASES)]
        return sorted({pk for rows in in_sight for pk in rows.values_list("pk", flat=True)})

    def _found(self, organisations: list[int] | None, slug: str) -> list[Found]:
        if organisations is None or slug or not self.looks_at_platform:
            return self.find(organisations)
        return [one for one in self.find(None) if one.organisation_id in (None, *organisations)]

    def _apply(self, found: list[Found], person: Person, reason: str) -> None:
        actor = actor_of_person(person)
        permitted = set(access.organisations_with(person, self.right).values_list("pk", flat=True))
        repair: Repair | None = None
        done: Counter[int] = Counter()
        for one in found:
            if not one.repairable:
                continue
            # The platform's own work belongs to no organisation: whoever may recover anywhere may set it going again.
            if one.organisation_id not in permitted if one.organisation_id else not permitted:
                one.result = "not_permitted"
                continue
            repair = repair or self._recorded(person, reason)
            with transaction.atomic():
                one.result = "repaired" if self.repair(one, repair, actor) else "moved_on"
            if one.organisation_id and one.result == "repaired":
                done[one.organisation_id] += 1
        for organisation_id, count in done.items():
            facts = {"command": self.name, "repair": repair.pk if repair else None, "repaired": count}
            facts["os_account"] = os_account()
            with transaction.atomic():
                record_organisation_event(organisation_id, "repair.done", actor=actor, facts=facts)

    def _recorded(self, person: Person, reason: str) -> Repair:
        return Repair.objects.create(
            command=self.name, by=person, os_account=os_account(), reason=reason, at=database_now()
        )

    def _tell(self, found: list[Found], remarks: list[str], options: dict[str, Any]) -> None:
        if options["json"]:
            rows = [
                {"problem": one.problem, "result": one.result or "shown", "repairable": one.repairable, **one.about}
                for one in found
            ]
            write_json(self, {"command": self.name, "applied": options["apply"], "found": rows, "remarks": remarks})
            return
        for one in found:
            said = " ".join(f"{name}={value}" for name, value in one.about.items() if value not in ("", None))
            result = one.result or ("would be repaired" if one.repairable else "shown only")
            self.stdout.write(shown(f"{one.problem}: {said} ({result})"))
            if one.advice:
                self.stdout.write(shown(f"  {one.advice}"))
        for remark in remarks:
            self.stdout.write(shown(remark))
        if not found and not remarks:
            self.stdout.write("nothing to repair")


def _ordered_by(options: dict[str, Any]) -> tuple[Person | None, str]:
    reason = storable(options["reason"], "--reason").replace("\x00", "").strip()
    if options["apply"] and not (options["person"] and reason):
        raise CommandError("--apply needs --as USER and --reason TEXT", returncode=USAGE)
    if len(reason) > MAX_REASON:
        raise CommandError(f"--reason is longer than {MAX_REASON} characters", returncode=USAGE)
    return (acting_person(options["person"]) if options["person"] else None), reason


def _named(slug: str) -> list[int]:
    found = Organisation.objects.filter(slug=storable(slug, "--organisation")).values_list("pk", flat=True)
    if not found:
        raise CommandError(f"there is no organisation {shown(slug)}", returncode=USAGE)
    return list(found)
