"""Trips to PostgreSQL by libpq itself: statements that are prepared once, and several of them on one trip.

psycopg's cursors do much for each statement that a statement known beforehand does not need, and each answer that is
waited for wakes two processes: together that was half of what a case costs. Values go out and come back through
psycopg's own adaptation, so that a type means the same on both ways.
"""

from __future__ import annotations

import logging
import re
import select
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple

import psycopg
from psycopg import errors, pq
from psycopg.adapt import AdaptersMap, Loader, PyFormat, Transformer

log = logging.getLogger("caseflow.database")

KEPT_BY_A_CONNECTION = 400  #: prepared statements; one statement counts once for each combination of types it is given

Values = Mapping[str, Any] | Sequence[Any]
Row = tuple[Any, ...]

_PLACE = re.compile(r"%(?:\((\w+)\)s|(s)|(%))")
#: A column of the statement has another type now, as after a migration; the server has thrown away what was prepared.
_PREPARE_ANEW = ("0A000", "26000")
_numbers = count(1)  # of the process: two threads may have had one connection


class _Said(NamedTuple):
    """One statement with its values, as they go out; `then` gets its rows."""

    query: bytes
    types: tuple[int, ...] = ()
    values: Sequence[Any] | None = None
    formats: Sequence[pq.Format] | None = None
    name: bytes = b""  #: that it is prepared under; empty: it is not
    then: Callable[[list[Row]], None] | None = None


class _Moment(Loader):
    """timestamptz as it comes from a session in UTC, as all of Django's are: read by C, not by a pattern."""

    def load(self, data: Any) -> datetime:
        text = bytes(data).decode()
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            raise errors.DataError(f"no moment between the years 1 and 9999: {text!r}") from None


_BEGIN, _COMMIT = _Said(b"BEGIN"), _Said(b"COMMIT")


class Trips:
    """What one connection of psycopg has prepared, and what waits for its next trip. Raises psycopg's errors."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self.connection = raw
        self.adapters = AdaptersMap(raw.adapters)
        self.adapters.register_loader("timestamptz", _Moment)
        self.waiting: list[_Said] = []
        self.telling: list[_Said] = []  #: leaves behind the next COMMIT
        self._pgconn = raw.pgconn
        self._adaptation = Transformer(self)
        self._names: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        self._poll = select.poll()

    def rows(self, statement: str, values: Values) -> list[Row]:
        """The rows of one statement, within the transaction that psycopg would run it in."""
        said = self._said(statement, values)
        if self.waiting or self._begins:
            return self._together([*self._taken(), said])[-1]
        if not said.name:
            return self._rows(said, self._pgconn.exec_params(said.query, said.values, said.types, said.formats))
        return self._rows(said, self._pgconn.exec_prepared(said.name, said.values, said.formats))

    def soon(self, statement: str, values: Values, then: Callable[[list[Row]], None] | None) -> None:
        """The statement waits for the next trip of this transaction, at the latest that of its COMMIT. What `then`
        raises is raised by that trip: after COMMIT it takes nothing back."""
        said = self._said(statement, values, then)  # first: what is prepared for it sends what waited until now
        self.waiting.append(said)

    def send(self) -> None:
        """What waits goes now."""
        self._together(self._taken())

    def tell(self, statement: str) -> None:
        """Once, behind the COMMIT of this transaction and on its trip, as a transaction of its own. What is wrong with
        it is logged: what was committed stays so."""
        said = _Said(statement.encode())
        if said not in self.telling:
            self.telling.append(said)

    def commit(self) -> None:
        telling, self.telling = self.telling, []
        if self.waiting or telling:
            self._together([*self._taken(), _COMMIT], telling)
        elif self._pgconn.transaction_status != pq.TransactionStatus.IDLE:
            self._rows(_COMMIT, self._pgconn.exec_(_COMMIT.query))

    @property
    def _begins(self) -> bool:
        return not self.connection.autocommit and self._pgconn.transaction_status == pq.TransactionStatus.IDLE

    def _taken(self) -> list[_Said]:
        waiting, self.waiting = self.waiting, []
        return waiting

    def _said(self, statement: str, values: Values, then: Callable[[list[Row]], None] | None = None) -> _Said:
        query, places = _translated(statement)
        given: Any = values if places is None else [values[place] for place in places]  # type: ignore[call-overload]
        adaptation = self._adaptation
        dumped = adaptation.dump_sequence(given, [PyFormat.AUTO] * len(given))
        types, formats = tuple(adaptation.types or ()), adaptation.formats  # whatever is sent by preparing has others
        name = b""
        if self.connection.prepare_threshold is not None:
            name = self._names.get((query, types)) or self._prepared(query, types)
        return _Said(query, types, dumped, formats, name, then)

    def _prepared(self, query: bytes, types: tuple[int, ...]) -> bytes:
        if self.waiting:
            self.send()
        if self._begins:
            self._rows(_BEGIN, self._pgconn.exec_(_BEGIN.query))
        if len(self._names) >= KEPT_BY_A_CONNECTION:
            self._pgconn.close_prepared(self._names.pop(next(iter(self._names))))
        name = b"caseflow_%d" % next(_numbers)
        self._rows(_Said(query), self._pgconn.prepare(name, query, types))
        self._names[query, types] = name
        return name

    def _together(self, several: Sequence[_Said], telling: Sequence[_Said] = ()) -> list[list[Row]]:
        """They leave together and are answered together; one that fails takes all after it along."""
        several = [_BEGIN, *several] if self._begins else several
        try:
            answers = self._exchanged([*several, *telling])
        except BaseException:
            # Something came between question and answer: nobody can say what this connection would answer next.
            self._pgconn.finish()
            raise
        answers, told = answers[: len(several)], answers[len(several) :]
        rows = [self._rows(said, answer) for said, answer in zip(several, answers, strict=True)]
        for said, answer in zip(telling, told, strict=True):
            if answer.status != pq.ExecStatus.COMMAND_OK:
                log.warning("%s: %s", said.query.decode(), answer.get_error_message())
        for said, found in zip(several, rows, strict=True):
            if said.then is not None:
                said.then(found)
        return rows

    def _exchanged(self, several: Sequence[_Said]) -> list[Any]:
        pgconn = self._pgconn
        pgconn.enter_pipeline_mode()
        for said in several:
            if said.name:
                pgconn.send_query_prepared(said.name, said.values, said.formats)
            else:
                pgconn.send_query_params(said.query, said.values, said.types or None, said.formats)
        pgconn.pipeline_sync()
        while pgconn.flush():
            self._wait(select.POLLIN | select.POLLOUT)
        answers = []
        for _said in several:
            answers.append(self._answer())
            self._answer()  # the end of what it said
        while (last := self._answer()) is None or last.status != pq.ExecStatus.PIPELINE_SYNC:
            if pgconn.status != pq.ConnStatus.OK:
                raise errors.OperationalError("the connection was lost before the end of a trip")
            if last is not None:
                answers[-1] = last  # a transaction without BEGIN ends only here, and may fail as it ends
        pgconn.exit_pipeline_mode()
        return answers

    def _answer(self) -> Any:
        while self._pgconn.is_busy():
            self._wait(select.POLLIN)
        return self._pgconn.get_result()

    def _wait(self, events: int) -> None:
        self._poll.register(self._pgconn.socket, events)
        self._poll.poll()
        self._pgconn.consume_input()

    def _rows(self, said: _Said, answer: Any) -> list[Row]:
        if answer.status == pq.ExecStatus.TUPLES_OK:
            self._adaptation.set_pgresult(answer)
            return self._adaptation.load_rows(0, answer.ntuples, tuple)
        if answer.status == pq.ExecStatus.COMMAND_OK:
            return []
        if self._pgconn.status != pq.ConnStatus.OK:
            raise errors.OperationalError(answer.get_error_message(), info=answer)
        error = errors.error_from_result(answer, encoding=self.connection.info.encoding)
        if error.sqlstate in _PREPARE_ANEW:
            # Whoever tries again prepares it anew, and the others with it: one failure for all of them. Nothing is
            # stored, and whoever knows what to do when a connection was lost does the same now.
            self._names.clear()
            raise errors.OperationalError(str(error), info=answer) from error
        raise error


@lru_cache(maxsize=1000)
def _translated(statement: str) -> tuple[bytes, tuple[str, ...] | None]:
    """The statement with $1, $2, … and the names of its values in that order; None where they come by place."""
    names: dict[str, int] = {}
    counted = 0

    def place(found: re.Match[str]) -> str:
        nonlocal counted
        name, by_place, _percent = found.groups()
        if name:
            return f"${names.setdefault(name, len(names) + 1)}"
        if by_place:
            counted += 1
            return f"${counted}"
        return "%"

    query = _PLACE.sub(place, statement).encode()
    if names and counted:
        raise ValueError("values by name and values by place in one statement")
    return query, tuple(names) if names else None
