"""The real simulator, as in the tests of the adapters."""

from tests.integrations.conftest import outside, simulator

__all__ = ["outside", "simulator"]
