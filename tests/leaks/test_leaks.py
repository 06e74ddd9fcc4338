"""Nobody sees what is not theirs, at any address of the web server."""

from __future__ import annotations

import pytest

from .asking import VISITORS, visitor
from .routes import all_routes
from .walking import Walk, walk
from .world import World


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", VISITORS)
def test_no_address_tells_anybody_what_is_not_theirs(name: str, world: World, walked: Walk) -> None:
    done = walk(all_routes(), world, visitor(name, world))
    walked.add(done)

    assert not done.leaks, "\n".join(["", *map(str, done.leaks[:40]), done.line])
