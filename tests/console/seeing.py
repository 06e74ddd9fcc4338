"""What tests of several pages need: somebody of another organisation, cases in a doubtful state."""

from __future__ import annotations

from collections.abc import Callable

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from caseflow.domain.roles import Role
from tests.console.conftest import Desk
from tests.driving import Engine, Story

Desks = Callable[..., Desk]


def outsider(engine: Engine, desk: Desks) -> Desk:
    """An operator of another organisation, signed in."""
    other = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.person("outsider"), organisation=other, role=Role.OPERATOR, by=SYSTEM)
    return desk("outsider")


def in_doubt(engine: Engine, **ticket: object) -> Story:
    """The change was made, and its answer was lost."""
    story = engine.approved(**ticket)
    story.fault("drop_after")
    story.run()
    assert story.effect.status == "UNKNOWN"
    return story


def completed(engine: Engine, **ticket: object) -> Story:
    story = engine.approved(**ticket)
    story.run()
    assert story.state == "COMPLETED"
    return story
