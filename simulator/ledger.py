"""The durable ledger: one SQLite file that survives kill -9, with all the outside world knows and ever did."""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from simulator.wire import AsOf, canonical, now_text

SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (
    kind TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, since REAL NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (kind, id, version)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS effects (
    id TEXT PRIMARY KEY, system TEXT NOT NULL, operation TEXT NOT NULL, subject TEXT NOT NULL, key TEXT NOT NULL,
    request_id TEXT NOT NULL, applied_at TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS effects_by_key ON effects (key);
CREATE TABLE IF NOT EXISTS keys (
    key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, status INTEGER NOT NULL, answer TEXT NOT NULL,
    effect_id TEXT, created_at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS requests (
    id INTEGER PRIMARY KEY, request_id TEXT NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL,
    fault TEXT NOT NULL, status INTEGER, received_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS requests_by_key ON requests (key);
"""

REQUESTS_SHOWN = 1000  #: rows


class Ledger:
    """One connection behind one lock: SQLite has one writer anyway, and this way nobody ever meets a busy file."""

    def __init__(self, path: str) -> None:
        self._lock = threading.RLock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=10)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside becomes true together, or not at all."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    # Objects: every version is kept, so that a stale read can show an old one.

    def get(self, kind: str, id: str, as_of: AsOf | None = None) -> dict[str, Any] | None:
        with self._lock:
            rows = self._db.execute(
                "SELECT since, body FROM objects WHERE kind = ? AND id = ? ORDER BY version DESC LIMIT ?",
                (kind, id, 1 if as_of is None else -1),
            ).fetchall()
        if not rows:
            return None
        row = rows[0]
        if as_of is not None and as_of.seconds is None:
            row = rows[min(1, len(rows) - 1)]
        elif as_of is not None:
            moment = time.time() - (as_of.seconds or 0)
            row = next((row for row in rows if row["since"] <= moment), rows[-1])
        found: dict[str, Any] = json.loads(row["body"])
        return found

    def put(self, kind: str, id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Merge `fields` into the object; a new version when anything changed. Called inside a transaction."""
        old = self.get(kind, id)
        new = {**(old or {}), **fields, "id": id}
        if new != old:
            self._db.execute(
                "INSERT INTO objects SELECT ?, ?, coalesce(max(version), 0) + 1, ?, ?"
                " FROM objects WHERE kind = ? AND id = ?",
                (kind, id, time.time(), canonical(new), kind, id),
            )
        return new

    # Effects and the keys they were asked for under.

    def record_effect(
        self, *, prefix: str, system: str, operation: str, subject: str, key: str, request_id: str, body: Any
    ) -> str:
        """Called inside a transaction, next to the change it records."""
        effect_id = f"{prefix}_{secrets.token_hex(8)}"
        self._db.execute(
            "INSERT INTO effects VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (effect_id, system, operation, subject, key, request_id, now_text(), canonical(body)),
        )
        return effect_id

    def get_key(self, key: str, life: float) -> sqlite3.Row | None:
        """What was answered under this key in the last `life` seconds."""
        with self._lock:
            row: sqlite3.Row | None = self._db.execute(
                "SELECT * FROM keys WHERE key = ? AND created_at > ?", (key, time.time() - life)
            ).fetchone()
        return row

    def store_key(self, key: str, fingerprint: str, status: int, answer: Any, effect_id: str | None) -> None:
        """Called inside the transaction of the effect. A key past its life is a new key."""
        self._db.execute(
            "INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?, ?)",
            (key, fingerprint, status, canonical(answer), effect_id, time.time()),
        )

    def get_effect(self, effect_id: str) -> dict[str, Any]:
        with self._lock:
            row = self._db.execute("SELECT * FROM effects WHERE id = ?", (effect_id,)).fetchone()
        return {**dict(row), "body": json.loads(row["body"])}

    def list_effects(self) -> list[dict[str, Any]]:
        with self._lock:
            rows = self._db.execute("SELECT * FROM effects ORDER BY rowid").fetchall()
        return [{**dict(row), "body": json.loads(row["body"])} for row in rows]

    # Requests: noted when they arrive, so that one that never got an answer is seen as well.

    def note_request(self, *, request_id: str, method: str, path: str, key: str, fault: str) -> int:
        with self._lock:
            cursor = self._db.execute(
                "INSERT INTO requests VALUES (NULL, ?, ?, ?, ?, ?, NULL, ?)",
                (request_id, method, path, key, fault, now_text()),
            )
            return int(cursor.lastrowid or 0)

    def note_answer(self, row_id: int, status: int) -> None:
        with self._lock:
            self._db.execute("UPDATE requests SET status = ? WHERE id = ?", (status, row_id))

    def list_requests(self, key: str | None = None) -> list[dict[str, Any]]:
        """The last thousand, oldest first; all of one key when a key is given. `status` is null while unanswered."""
        with self._lock:
            if key is None:
                rows = self._db.execute("SELECT * FROM requests ORDER BY id DESC LIMIT ?", (REQUESTS_SHOWN,)).fetchall()
            else:
                rows = self._db.execute("SELECT * FROM requests WHERE key = ? ORDER BY id DESC", (key,)).fetchall()
        return [dict(row) for row in reversed(rows)]
