"""A transition table as something to draw: one arrow for each pair of states, with its events."""

from __future__ import annotations

from collections.abc import Iterator

from .lifecycle import CLOSED, Event, State, Table

#: These lead from almost everywhere to one place; a picture shows them quietly.
EVERYWHERE = frozenset({Event.EXHAUSTED, Event.CLOSED_BY_PERSON})


def arrows_of(table: Table) -> dict[tuple[State, State], list[Event]]:
    """(source, target) → events, in the order of the table."""
    arrows: dict[tuple[State, State], list[Event]] = {}
    for row in table:
        arrows.setdefault((row.source, row.target), []).append(row.event)
    return arrows


def mermaid(table: Table) -> Iterator[str]:
    """`stateDiagram-v2`, one arrow per pair of states with its events."""
    yield "stateDiagram-v2"
    yield "    [*] --> RECEIVED"
    for (source, target), events in arrows_of(table).items():
        yield f"    {source.value} --> {target.value}: {', '.join(event.value for event in events)}"
    for state in sorted(CLOSED):
        yield f"    {state.value} --> [*]"
