"""Where the seals of this installation lie and with which keys they are signed: settings become files here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from audit.seals import Seals, load_public, read_seals


def folder_of_seals() -> Path | None:
    """None where no folder is named."""
    return Path(settings.CASEFLOW_SEAL_FOLDER) if settings.CASEFLOW_SEAL_FOLDER else None


def private_key_file() -> Path | None:
    """None where no file is named, as everywhere but where seals are made."""
    return Path(settings.CASEFLOW_SEAL_KEY_FILE) if settings.CASEFLOW_SEAL_KEY_FILE else None


def public_key_files() -> list[Path]:
    """Those beside the private key: the public keys of former private keys stay there, too."""
    key = private_key_file()
    return sorted(key.parent.glob("*.pub")) if key else []


def known_seals(folder: Path, public_keys: Sequence[Path]) -> Seals:
    """Raises NoKey, OSError."""
    installation = str(settings.CASEFLOW_INSTALLATION_ID)
    return read_seals(folder, load_public(public_keys), installation=installation)
