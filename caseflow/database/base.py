"""The engine that settings name: Django's own for PostgreSQL, which also knows what waits for the next trip.

Whatever Django sends by itself comes after what was said before it, and a COMMIT takes along what still waits.
"""

from __future__ import annotations

import select
import time

from django.db import ProgrammingError
from django.db.backends.postgresql import base
from django.db.backends.utils import debug_transaction
from psycopg import pq

from .trips import Trips

ANSWERED_JUST_NOW = 1.0  #: seconds


class DatabaseWrapper(base.DatabaseWrapper):
    _trips: Trips | None = None
    _answered = float("-inf")  #: when the last COMMIT was answered, on this process's monotonic clock

    @property
    def trips(self) -> Trips:
        """Those of the present connection, which is there."""
        trips = self._trips
        if trips is None or trips.connection is not self.connection:
            trips = self._trips = Trips(self.connection)
        return trips

    def is_usable(self) -> bool:
        """A connection that has just answered is asked again only where the server has said something since: that can
        be but its farewell."""
        here = self.connection is not None and not self.connection.closed
        if here and time.monotonic() - self._answered < ANSWERED_JUST_NOW:
            said = select.poll()
            said.register(self.connection.pgconn.socket, select.POLLIN)
            if not said.poll(0):
                return True
        return super().is_usable()

    def validate_no_broken_transaction(self) -> None:
        """Asked by Django before each of its own statements, also of a cursor that was made long ago."""
        super().validate_no_broken_transaction()
        if self._trips is not None and self._trips.waiting:
            with self.wrap_database_errors:
                self._trips.send()

    def _set_autocommit(self, autocommit: bool) -> None:
        if self._trips is not None and self._trips.waiting:
            # Nobody may commit later what was said in a transaction that was left.
            self._forget()
            raise ProgrammingError("statements wait for the COMMIT of a transaction that is left")
        if self.connection.pgconn.transaction_status != pq.TransactionStatus.IDLE:
            super()._set_autocommit(autocommit)  # type: ignore[misc]
        else:
            # What psycopg's own does where no transaction is open, without its lock: the connection is this thread's.
            self.connection._autocommit = autocommit

    def _commit(self) -> None:
        if self.connection is None:
            return
        try:
            with debug_transaction(self, "COMMIT"), self.wrap_database_errors:
                self.trips.commit()
        except BaseException:
            self._forget()
            if self.connection.closed:
                # Django looks for a lost connection behind errors of the database only, not behind a time limit: it
                # would go on with this one, and with a transaction that is none.
                self.close()
            raise
        self._answered = time.monotonic()

    def _rollback(self) -> None:
        self._forget()
        super()._rollback()  # type: ignore[misc]

    def _savepoint_rollback(self, sid: str) -> None:
        if self._trips is not None:
            # Said since the savepoint: making it sent what waited before. What is told behind COMMIT stays to be told.
            self._trips.waiting.clear()
        super()._savepoint_rollback(sid)  # type: ignore[misc]

    def _close(self) -> None:
        self._forget()
        super()._close()  # type: ignore[misc]

    def _forget(self) -> None:
        self._trips = None if self.connection is None else self._trips
        if self._trips is not None:
            self._trips.waiting.clear()
            self._trips.telling.clear()
