from tests.audit.test_verify_audit import seals
from tests.driving import engine, simulator

__all__ = ["engine", "seals", "simulator"]
