"""Every address of the web server, as Django's own resolver knows them: what is mounted tomorrow is walked tomorrow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.urls import URLPattern, URLResolver, get_resolver

_PLACE = re.compile(r"\(\?P<(\w+)>[^)]*\)|<(?:[^>:]+:)?(\w+)>")


@dataclass(frozen=True)
class Route:
    """One pattern. `name` is `namespace:name`, or the pattern itself where it has no name."""

    pattern: str
    name: str
    parameters: tuple[str, ...]

    def path(self, values: Mapping[str, Any]) -> str:
        """The address with these parameters."""
        filled = _PLACE.sub(lambda found: quote(str(values[found[1] or found[2]]), safe="/"), self.pattern)
        return "/" + filled.replace("^", "").replace("$", "").replace("\\", "")

    def __str__(self) -> str:
        return self.name


def all_routes(urlconf: str | None = None) -> list[Route]:
    """Static files are no routes: whitenoise serves them, and they hold nothing of anybody."""
    return list(_walk(get_resolver(urlconf).url_patterns, "", ""))


def _walk(patterns: list[Any], before: str, namespace: str) -> Iterator[Route]:
    for one in patterns:
        text = before + str(one.pattern)
        if isinstance(one, URLResolver):
            inside = f"{namespace}{one.namespace}:" if one.namespace else namespace
            yield from _walk(one.url_patterns, text, inside)
        elif isinstance(one, URLPattern):
            parameters = tuple(found[0] or found[1] for found in _PLACE.findall(text))
            yield Route(text, f"{namespace}{one.name}" if one.name else text, parameters)
