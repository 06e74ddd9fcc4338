"""The walk can fail: each mistake that a view may hold is found, and an honest view is not suspected."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from django.test import override_settings

from .asking import visitor
from .routes import all_routes
from .walking import walk
from .world import World

LEAKY = "tests.leaks.leaky"

FOUND = [
    ("unscoped-list", "viewer", "content of qzaway7"),
    ("unscoped-list", "other organisation", "content of qzhome7"),
    ("unscoped-list", "report_reader", "content of qzhome7"),
    ("unscoped-list", "platform operator", "content of qzhome7"),
    ("unscoped-list", "superuser", "content of qzaway7"),
    ("unscoped-object", "viewer", "content of qzaway7"),
    ("forbidden", "viewer", "status 403 and 404"),
    ("redirect", "operator", "content of qzaway7"),
    ("header", "operator", "content of qzaway7"),
    ("count", "viewer", "not the answer of a missing one"),
    ("claim", "viewer", "personal of qzhome7"),
    ("claim", "operator", "personal of qzhome7"),
    ("changes", "viewer", "status 200 and 404"),
    ("breaks", "viewer", "status 500"),
    ("open-to-all", "anonymous", "answers 200 to who is not signed in"),
    ("unsourced", "anonymous", "no source of ids"),
]


@pytest.fixture(autouse=True)
def _mounted(world: World) -> Iterator[None]:
    logging.getLogger("django.request").setLevel(logging.CRITICAL)
    with override_settings(ROOT_URLCONF=LEAKY):
        yield
    logging.getLogger("django.request").setLevel(logging.ERROR)


def _found(world: World, name: str, who: str) -> list[str]:
    routes = [route for route in all_routes(LEAKY) if route.name == name]
    assert routes
    return [str(leak) for leak in walk(routes, world, visitor(who, world)).leaks]


@pytest.mark.parametrize(("name", "who", "what"), FOUND)
def test_a_view_that_tells_too_much_is_found(name: str, who: str, what: str, world: World) -> None:
    assert any(what in leak for leak in _found(world, name, who))


@pytest.mark.parametrize("who", ["anonymous", "viewer", "other organisation", "platform operator", "superuser"])
def test_an_honest_view_is_not_suspected(who: str, world: World) -> None:
    assert _found(world, "honest", who) == []
