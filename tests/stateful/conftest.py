"""The engine and the commands for the tests of this room."""

from tests.commands.conftest import run
from tests.driving import engine, simulator

__all__ = ["engine", "run", "simulator"]
