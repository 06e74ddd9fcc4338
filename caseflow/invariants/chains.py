"""Invariant 9: audit chains verify without gaps, end in the heads that the case rows carry, and extend the last seal.

The hashes are recomputed here and not by the database, row by row through a cursor of the server: a million events need
no more memory than ten.
"""

from __future__ import annotations

from audit.seals import NoKey, Seals
from audit.streams import read_links, read_unlinked
from audit.verifying import verify
from caseflow.sealing import folder_of_seals, known_seals, public_key_files
from cases.heads import read_heads

from .finding import Finding


def chains_verify() -> Finding:
    """Numbers without a gap, each hash over the one before, columns that say what the hashed body says."""
    seals, unreadable = _seals()
    found = verify(read_links(), heads=read_heads(), sealed=seals.saw)
    finding = Finding(found.events)
    if unreadable:
        finding.add("", unreadable)
    for one in (*seals.problems, *found.problems):
        finding.add(one.case, one.text if one.case else f"{one.stream}: {one.text}")
    for key in read_unlinked().lost:
        finding.add("", f"the event in row {key} stands in no chain and does not wait for a number")
    return finding


def _seals() -> tuple[Seals, str]:
    """What the seals saw, or why nobody can say."""
    folder = folder_of_seals()
    if folder is None:
        return Seals(), ""
    try:
        return known_seals(folder, public_key_files()), ""
    except (NoKey, OSError) as error:
        return Seals(), f"the seals could not be read: {error}"
