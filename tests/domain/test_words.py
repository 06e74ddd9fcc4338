"""A process brings its own words; the first process that has one gives it."""

from __future__ import annotations

from typing import ClassVar

from caseflow.domain.process import word_of
from caseflow.processes.restore_access import RestoreAccess


class _Told(RestoreAccess):
    words: ClassVar[dict[str, str]] = {"part.colour": "colour", "value.car.colour.red": "red"}


class _Later(RestoreAccess):
    words: ClassVar[dict[str, str]] = {"part.colour": "paint"}


def test_a_word_is_found_by_the_parts_of_its_name() -> None:
    processes = [RestoreAccess(), _Told(), _Later()]
    assert word_of(processes, "part", "colour") == "colour"
    assert word_of(processes, "value", "car.colour", "red") == "red"
    assert word_of(processes, "fact", "colour") is None
