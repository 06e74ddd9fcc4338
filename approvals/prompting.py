"""The texts that models are instructed with: versioned files that never change once they were used.

A new wording is a new file. `prompts/DIGESTS` holds the SHA-256 of each, as `sha256sum` writes it; a test compares.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from caseflow.domain.process import Process

FOLDER = Path(__file__).parent / "prompts"
VERSION = re.compile(r"(decide|explain)-([1-9][0-9]{0,3})")
DECIDE, EXPLAIN = "decide", "explain"


@dataclass(frozen=True, slots=True)
class Prompt:
    """`version` is the name of its file, such as `decide-1`; `digest` the SHA-256 of its bytes."""

    version: str
    text: str
    digest: str


def find_prompt(process: Process, version: str) -> Prompt:
    """Raises KeyError for a version that this process does not have."""
    if not process.prompts or not VERSION.fullmatch(version):
        raise KeyError(version)
    return _load(process.prompts, version)


def newest_prompt(process: Process, kind: str) -> Prompt:
    """Raises KeyError where the process has none of this kind."""
    versions = [version for version in list_versions(process) if version.startswith(f"{kind}-")]
    if not versions:
        raise KeyError(f"{process.slug} has no prompt to {kind}")
    return find_prompt(process, max(versions, key=lambda version: int(version.partition("-")[2])))


def list_versions(process: Process) -> list[str]:
    return list(_versions(process.prompts)) if process.prompts else []


@cache
def _versions(folder: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (FOLDER / folder).glob("*.txt") if VERSION.fullmatch(path.stem)))


@cache
def _load(folder: str, version: str) -> Prompt:
    try:
        content = (FOLDER / folder / f"{version}.txt").read_bytes()
    except FileNotFoundError:
        raise KeyError(version) from None
    return Prompt(version, content.decode(), hashlib.sha256(content).hexdigest())
