"""`manage.py seal_audit`: put down, signed and outside the database, where every stream of events stands now.

What does not extend the seals before is not sealed. Run twice it writes nothing new. Exit codes: 0 sealed, or nothing
grew; 1 failed; 2 usage; 3 a stream does not extend what was sealed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from accounts.commands import DIFFERENCES, FAILED, USAGE, add_json, shown, write_json
from audit.linking import link_all
from audit.seals import (
    KeyExists,
    NoKey,
    Seals,
    SealTaken,
    load_private,
    new_key,
    write_seal,
)
from audit.streams import read_ends, read_hashes
from audit.verifying import Head, Problem
from caseflow.invariants.running import one_moment
from caseflow.sealing import folder_of_seals, known_seals, private_key_file, public_key_files


class Command(BaseCommand):
    help = "Writes a signed checkpoint of the audit trail into the folder CASEFLOW_SEAL_FOLDER."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--new-key", action="store_true", help="only make the key pair that CASEFLOW_SEAL_KEY_FILE names"
        )
        add_json(parser, "one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        key_file, folder = private_key_file(), folder_of_seals()
        if key_file is None:
            raise CommandError("CASEFLOW_SEAL_KEY_FILE names no file", returncode=USAGE)
        if options["new_key"]:
            self._make_key(key_file, options["json"])
            return
        if folder is None:
            raise CommandError("CASEFLOW_SEAL_FOLDER names no folder", returncode=USAGE)
        try:
            self._seal(folder, key_file, options["json"])
        except SealTaken:
            raise CommandError("another run wrote this seal just now; run it again", returncode=FAILED) from None
        except (NoKey, OSError, DatabaseError) as error:
            raise CommandError(f"nothing was sealed: {error}", returncode=FAILED) from error

    def _make_key(self, path: Path, as_json: bool) -> None:
        try:
            public = new_key(path)
        except KeyExists:
            raise CommandError(
                f"there is a key in {path} already: move it away, and leave its public key where it is"
                " under another name ending in .pub",
                returncode=FAILED,
            ) from None
        except OSError as error:
            raise CommandError(f"no key was made: {error}", returncode=FAILED) from error
        if as_json:
            write_json(self, {"private_key": str(path), "public_key": str(public)})
        else:
            self.stdout.write(f"private key: {path}\npublic key:  {public} (give it to whoever verifies)")

    def _seal(self, folder: Path, key_file: Path, as_json: bool) -> None:
        key = load_private(key_file)
        linked = link_all()
        before = known_seals(folder, public_key_files())
        with one_moment():
            ends = read_ends()
            problems = [*before.problems, *_not_extended(before, ends)]
        grown = {stream: end for stream, end in ends.items() if _sealed(before, stream) != end.count}
        path: Path | None = None
        if grown and not problems:
            path = write_seal(folder, before, grown, installation=str(settings.CASEFLOW_INSTALLATION_ID), key=key)
        self._tell(before, path, grown, linked, problems, as_json)
        if problems:
            raise CommandError("nothing was sealed: run verify_audit", returncode=DIFFERENCES)

    def _tell(
        self,
        before: Seals,
        path: Path | None,
        grown: Mapping[str, Head],
        linked: int,
        problems: list[Problem],
        as_json: bool,
    ) -> None:
        if as_json:
            said = [{"stream": one.stream, "seq": one.seq, "problem": one.text} for one in problems]
            number = before.number + 1 if path else before.number
            seal = {"seal": number, "file": str(path or ""), "streams": len(grown) if path else 0, "linked": linked}
            write_json(self, seal | {"problems": said})
        elif problems:
            self.stdout.write("\n".join(shown(f"{one.stream} {one.text}") for one in problems))
        elif path:
            self.stdout.write(f"{path}: {len(grown)} streams")
        else:
            self.stdout.write(f"nothing grew since seal {before.number}")


def _sealed(before: Seals, stream: str) -> int:
    seen = before.saw.get(stream)
    return seen.count if seen else 0


def _not_extended(before: Seals, ends: Mapping[str, Head]) -> list[Problem]:
    """Streams that lost or changed what was sealed; to seal them would put the change beyond proof."""
    found = read_hashes({stream: head.count for stream, head in before.saw.items()})
    problems = []
    for stream, head in before.saw.items():
        if stream not in ends or ends[stream].count < head.count:
            text = f"it ends before event {head.count}, which {head.name} saw"
            problems.append(Problem(stream, head.count, "cut", text))
        elif found.get(stream) != head.hash:
            text = f"event {head.count} is not the one that {head.name} saw"
            problems.append(Problem(stream, head.count, "rewritten", text))
    return problems
