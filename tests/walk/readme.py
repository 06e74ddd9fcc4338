"""The six pictures of the README, in each language."""

from __future__ import annotations

PICTURES = "docs/pictures"


def take_pictures(browser, running, told, folder) -> int:
    return 0
