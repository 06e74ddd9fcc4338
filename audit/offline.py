"""Checking exported streams and seals without a database, a setting or Django: `python -m audit.offline`.

    python -m audit.offline --file streams.jsonl --seals FOLDER --public-key KEY.pub

Exit codes: 0 everything verifies, 1 it could not be read, 2 usage, 3 something does not verify.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from .exported import NotStreams, read_saved
from .seals import NoKey, Seals, load_public, read_seals
from .verifying import Verified, verify


def verify_file(file: Path, seals: Path | None, public_keys: Sequence[Path]) -> tuple[Verified, Seals]:
    """Raises NotStreams, NoKey, OSError, UnicodeDecodeError."""
    with file.open(encoding="utf-8") as opened:
        saved = read_saved(opened)
        known = read_seals(seals, load_public(public_keys), installation=saved.installation) if seals else Seals()
        found = verify(saved.links, heads=saved.heads, sealed=known.saw)
    found.problems = [*known.problems, *found.problems]
    return found, known


def described(found: Verified, seals: Seals) -> dict[str, object]:
    """What was found, in primitives: the same for the file and for the tables."""
    return {
        "verified": not found.problems,
        "streams": found.streams,
        "events": found.events,
        "seal": seals.number,
        "sealed_at": seals.at,
        "problems": [
            {"stream": one.stream, "case": one.case, "seq": one.seq, "kind": one.kind, "problem": one.text}
            for one in found.problems
        ],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m audit.offline", description=__doc__.partition("\n")[0])
    parser.add_argument("--file", type=Path, required=True, help="streams that verify_audit --save wrote")
    parser.add_argument("--seals", type=Path, help="folder of the seals")
    parser.add_argument(
        "--public-key", type=Path, action="append", default=[], help="of the seals; several may be given"
    )
    options = parser.parse_args(arguments)
    try:
        found, seals = verify_file(options.file, options.seals, options.public_key)
    except (NotStreams, NoKey, OSError, UnicodeDecodeError) as error:
        print(f"could not be read: {error}", file=sys.stderr)
        return 1
    print(json.dumps(described(found, seals)))
    return 3 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main())
