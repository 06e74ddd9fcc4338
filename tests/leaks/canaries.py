"""The words planted in every text of an organisation, so that one of them anywhere else is a leak.

Each word says whose it is and what kind of text it stands in. Digits and small letters only: it fits into an id, a
slug, an address of a letter, and no encoding of a page changes it.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Kind(StrEnum):
    """What a text is, and so who may read it."""

    NAME = "n"  #: of an organisation, a department, a person, a machine
    CONTENT = "c"  #: of a case: ids and facts that are no personal data
    PERSONAL = "p"  #: claim, reason, note, address: shown to those with the right to reveal, and only on purpose


class Owner(StrEnum):
    HOME = "qzhome7"
    AWAY = "qzaway7"


def word(owner: Owner, kind: Kind) -> str:
    return f"{owner}{kind}"


_ANY = re.compile(f"({'|'.join(Owner)})({'|'.join(Kind)})", re.IGNORECASE)


def found_in(text: str) -> set[tuple[Owner, Kind]]:
    """Every word that stands in `text`."""
    return {(Owner(owner.lower()), Kind(kind.lower())) for owner, kind in _ANY.findall(text)}
