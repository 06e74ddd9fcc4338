from tests.commands.conftest import run
from tests.driving import engine, simulator

__all__ = ["engine", "run", "simulator"]
