"""Which rows a list shows, by its own address: a file holds them all and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict

from accounts.models import Person
from actions.desk import list_for_desk
from caseflow import sheets
from caseflow.sheets import Sheet
from operations.bulk_selectors import get_bulk, list_items
from operations.models import BulkItem

from . import actions_page, attention, listing, waiting
from .addresses import one_of

Narrowed = tuple[QuerySet[Any], dict[str, str]]


def _cases(person: Person, query: QueryDict) -> Narrowed:
    filters = listing.Filters.of(query)
    return listing.rows_of(person, filters), _told(asdict(filters))


def _actions(person: Person, query: QueryDict) -> Narrowed:
    filters = actions_page.Filters.of(query)
    return list_for_desk(person, filters.narrowing), _told(asdict(filters))


def _attention(person: Person, query: QueryDict) -> Narrowed:
    filters = attention.Filters.of(query)
    return attention.rows_of(person, filters), _told(asdict(filters))


def _approvals(person: Person, query: QueryDict) -> Narrowed:
    everything = query.get("view") == "all"
    rows = waiting.proposals_in_sight(person) if everything else waiting.proposals_for(person)
    return rows, {"view": "all" if everything else "mine"}


def _bulk(person: Person, query: QueryDict) -> Narrowed:
    """Raises NotFound."""
    bulk = get_bulk(person, query.get("id", ""))
    status = one_of(query, "status", BulkItem.Status.values)
    return list_items(bulk, status), _told({"bulk": bulk.public_id, "status": status})


#: The list's name in an address → its file, and its rows.
LISTS: Mapping[str, tuple[Sheet, Callable[[Person, QueryDict], Narrowed]]] = {
    "cases": (sheets.CASES, _cases),
    "actions": (sheets.ACTIONS, _actions),
    "attention": (sheets.ATTENTION, _attention),
    "approvals": (sheets.APPROVALS, _approvals),
    "bulk": (sheets.BULK, _bulk),
}


def _told(chosen: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in chosen.items() if value}
