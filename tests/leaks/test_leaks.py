"""Nobody sees what is not theirs, at any address of the web server."""

from __future__ import annotations

import pytest

from .asking import VISITORS, visitor
from .canaries import Kind, Owner
from .routes import all_routes
from .walking import Walk, walk
from .world import World


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", VISITORS)
def test_no_address_tells_anybody_what_is_not_theirs(name: str, world: World, walked: Walk) -> None:
    done = walk(all_routes(), world, visitor(name, world))
    walked.add(done)

    assert not done.leaks, "\n".join(["", *map(str, done.leaks[:40]), done.line])


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("operator", set(Kind)),
        ("viewer", {Kind.NAME, Kind.CONTENT}),
        ("machine", {Kind.NAME, Kind.CONTENT}),
        ("anonymous", set()),
    ],
)
def test_everybody_sees_what_is_theirs_so_the_words_are_really_there(name: str, kinds: set[Kind], world: World) -> None:
    shown = ("console:cases", "console:case", "console:show-text", "console:pauses", "api:cases", "api:case")
    done = walk([route for route in all_routes() if route.name in shown], world, visitor(name, world))

    assert {kind for owner, kind in done.seen if owner is Owner.HOME} == kinds
    assert {owner for owner, _ in done.seen} <= {Owner.HOME}
