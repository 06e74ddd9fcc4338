"""The engine for the tests of single processes."""

from tests.driving import engine, simulator, test_processes

__all__ = ["engine", "simulator", "test_processes"]
