"""Names: public ids of our own objects, and the one spelling of other systems' ids (design §5)."""

from __future__ import annotations

import re
import unicodedata
from random import Random

from .errors import BadInput

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  #: Crockford base 32
LENGTH = 10  #: characters after the prefix
PUBLIC_ID = re.compile(rf"^[A-Z]-[{ALPHABET}]{{{LENGTH}}}$")
MAX_EXTERNAL_ID = 200  #: characters

_DASHES = dict.fromkeys(range(0x2010, 0x2016), "-")
_INVISIBLE = dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF), None)


def public_id(prefix: str, rng: Random) -> str:
    """`C-7K3QX9TM4A`: a prefix letter and 10 random characters; about 50 bits, a clash is retried by the caller."""
    drawn = rng.getrandbits(5 * LENGTH)  # one call of the system's generator
    return f"{prefix}-{''.join(ALPHABET[drawn >> 5 * place & 31] for place in range(LENGTH))}"


def normalise_external_id(value: str, *, path: str = "$.external_id", case_sensitive: bool = True) -> str:
    """Invisible characters dropped, U+2010–2015 as '-', NFC, trimmed.

    Raises BadInput when nothing, or too much, is left.
    """
    # NFC comes last: an invisible character may stand between a letter and its accent.
    text = unicodedata.normalize("NFC", value.translate(_INVISIBLE).translate(_DASHES)).strip()
    text = text if case_sensitive else text.casefold()
    if not text:
        raise BadInput(code="empty", path=path, problem="the ticket's own id is needed")
    if len(text) > MAX_EXTERNAL_ID:
        raise BadInput(code="too_long", path=path, problem=f"longer than {MAX_EXTERNAL_ID} characters")
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in text):
        raise BadInput(code="control_character", path=path, problem="a control character")
    return text
