"""The processes of this installation, resolved once from the setting PROCESSES."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from caseflow.domain.errors import BadInput, ProcessNotInstalled
from caseflow.domain.process import Process


@cache
def all_processes() -> dict[str, Process]:
    """'slug:version' → process, as the setting names them."""
    found: dict[str, Process] = {}
    for path in settings.PROCESSES:
        process: Process = import_string(path)()
        found[process_key(process)] = process
    return found


def process_key(process: Process) -> str:
    return f"{process.slug}:{process.version}"


def own_sources() -> frozenset[str]:
    """Names of the sources whose tickets only services of ours write."""
    return frozenset(process.own_source for process in all_processes().values() if process.own_source)


def get_process(slug: str, version: int) -> Process:
    """Raises ProcessNotInstalled: the tasks of such a version are handed back, not guessed at."""
    process = all_processes().get(f"{slug}:{version}")
    if process is None:
        raise ProcessNotInstalled(process=slug, version=version)
    return process


def newest_process(slug: str) -> Process:
    """Raises BadInput for a slug that no process has."""
    versions = [process for process in all_processes().values() if process.slug == slug]
    if not versions:
        raise BadInput(code="unknown_process", path="$.process", problem=f"there is no process {slug!r}")
    return max(versions, key=lambda process: process.version)
