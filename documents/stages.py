"""Regular work of this room: what a stopped process left half written is cleared away."""

from __future__ import annotations

from cases.claiming import Lease
from cases.settling import settlement
from cases.stages import Stage, register

from .storage import document_store


def sweep_documents(lease: Lease) -> Lease | None:
    """Files that nobody can still be writing; whole ones are never touched."""
    document_store().sweep()
    with settlement(lease) as settling:
        pass
    return settling.next_lease


register(Stage("sweep_documents", sweep_documents, carries=False))
