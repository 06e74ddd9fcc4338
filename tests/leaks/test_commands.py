"""What a command says with `--as` is what that person may know."""

from __future__ import annotations

import pytest

from .asking import VISITORS, visitor
from .commands import ASKED, OF_THE_MACHINE, ask_commands, own_commands, takes_person
from .walking import Walk
from .world import World

PEOPLE = [name for name in VISITORS if name not in ("anonymous", "machine", "other machine")]


def test_every_command_is_asked_or_belongs_to_the_machine() -> None:
    commands = own_commands()
    with_person = {name for name, command in commands.items() if takes_person(name, command)}

    assert with_person == set(ASKED)
    assert set(commands) - with_person == OF_THE_MACHINE


@pytest.mark.parametrize("name", PEOPLE)
def test_no_command_tells_anybody_what_is_not_theirs(name: str, world: World, walked: Walk) -> None:
    done = ask_commands(world, visitor(name, world))
    walked.add(done)

    assert not done.leaks, "\n".join(["", *map(str, done.leaks), done.line])
