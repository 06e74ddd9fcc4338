"""`manage.py verify_audit`: is the audit trail whole, and does it extend what was sealed?

From the tables, of one consistent moment, beside live workers; or from a file that `--save` wrote, without a database.
Exit codes: 0 it verifies, 1 it could not be read, 2 usage, 3 something does not verify.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from accounts.commands import DIFFERENCES, FAILED, USAGE, add_json, shown, write_json
from audit.exported import NotStreams, save_links
from audit.offline import described, verify_file
from audit.seals import NoKey, Seals
from audit.streams import Unlinked, read_links, read_unlinked
from audit.verifying import ORGANISATION, Head, Problem, Verified, verify
from caseflow.invariants.running import one_moment
from caseflow.sealing import folder_of_seals, known_seals, public_key_files
from cases.heads import read_heads


class Command(BaseCommand):
    help = (
        "Verifies every chain of the audit trail, and that it extends the seals; names the first wrong event of each."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--file", type=Path, metavar="FILE", help="verify streams that --save wrote; no database")
        parser.add_argument("--save", type=Path, metavar="FILE", help="also write all streams there")
        parser.add_argument("--seals", type=Path, metavar="FOLDER", help="other than CASEFLOW_SEAL_FOLDER")
        parser.add_argument(
            "--public-key",
            type=Path,
            metavar="FILE",
            action="append",
            help="of the seals, other than those beside CASEFLOW_SEAL_KEY_FILE; several may be given",
        )
        add_json(parser, "one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["file"] and options["save"]:
            raise CommandError("--file and --save are two ways round", returncode=USAGE)
        folder = options["seals"] or folder_of_seals()
        keys = options["public_key"] or public_key_files()
        if folder is not None and not folder.is_dir():
            raise CommandError(f"there is no folder {folder}", returncode=USAGE)
        try:
            if options["file"]:
                found, seals = verify_file(options["file"], folder, keys)
                waiting = 0
            else:
                seals = known_seals(folder, keys) if folder else Seals()
                found, waiting = verify_tables(seals, options["save"])
                found.problems = [*seals.problems, *found.problems]
        except (NotStreams, NoKey, OSError, UnicodeDecodeError, DatabaseError) as error:
            raise CommandError(f"could not be read: {error}", returncode=FAILED) from error
        self._tell(found, seals, waiting, options["json"])
        if found.problems:
            sys.exit(DIFFERENCES)  # no CommandError: the run did not fail

    def _tell(self, found: Verified, seals: Seals, waiting: int, as_json: bool) -> None:
        if as_json:
            write_json(self, described(found, seals) | {"waiting": waiting})
            return
        for one in found.problems:
            self.stdout.write(shown(f"{one.case or one.stream}: {one.text}"))
        sealed = f"seal {seals.number} of {seals.at}" if seals.number else "no seal"
        verdict = f"{len(found.problems)} problems" if found.problems else "verified"
        self.stdout.write(
            f"{verdict}: {found.streams} streams, {found.events} events, {sealed}; {waiting} events wait for a number"
        )


def verify_tables(seals: Seals, save: Path | None = None) -> tuple[Verified, int]:
    """What is found in the tables, without what is wrong with the seals themselves; and how many events wait."""
    with one_moment():
        heads = read_heads()
        found = _verified(heads, seals, save)
        unlinked = read_unlinked()
    found.problems += _lost(unlinked)
    return found, unlinked.waiting


def _verified(heads: Mapping[str, Head], seals: Seals, save: Path | None) -> Verified:
    links = read_links()
    if save is None:
        return verify(links, heads=heads, sealed=seals.saw)
    with save.open("x", encoding="utf-8") as file:
        saved = save_links(links, heads, file, installation=str(settings.CASEFLOW_INSTALLATION_ID))
        return verify(saved, heads=heads, sealed=seals.saw)


def _lost(unlinked: Unlinked) -> list[Problem]:
    return [
        Problem(ORGANISATION, 0, "unlinked", f"row {key} stands in no chain and does not wait for a number")
        for key in unlinked.lost
    ]
