"""Proposers that ask a language model: it decides, or it only explains what the rules decided (requirement B)."""

from __future__ import annotations

from .proposers import Proposer


def model_proposer(name: str) -> Proposer:
    """Raises KeyError."""
    raise KeyError(name)
