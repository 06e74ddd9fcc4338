"""A TCP proxy on loopback that can misbehave: cut, swallow, delay, truncate a reply, refuse. Scripted in-process."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal

CHUNK = 65536
KEEP_BACK = 0.05  #: seconds between two looks whether the fault is over
Mode = Literal["pass", "swallow", "mute"]


@dataclass(eq=False)
class Rule:
    """Meets the reply to `trigger` on a connection that carried `marker` before or with it; spent on the first one.

    `kind`: cut, before anything of the reply came through; truncate, after `keep` bytes of it; swallow: the reply and
    all that follows never arrive, and the connection stays open.
    """

    marker: bytes
    trigger: bytes
    kind: Literal["cut", "truncate", "swallow"] = "cut"
    keep: int = 0
    fired: threading.Event = field(default_factory=threading.Event)


class _Connection:
    def __init__(self) -> None:
        self.writers: list[asyncio.StreamWriter] = []
        self.marked: set[Rule] = set()
        self.on_reply: Rule | None = None
        self.swallowing = False

    def cut(self) -> None:
        for writer in self.writers:
            with contextlib.suppress(Exception):
                writer.transport.abort()


class Proxy:
    """Listens on a port of its own for `upstream`, a port of 127.0.0.1 that may be named later."""

    def __init__(self, upstream: int = 0) -> None:
        self.upstream = upstream
        self.mode: Mode = "pass"  #: swallow: nothing gets through either way; mute: replies do not
        self.delay = 0.0  #: seconds before each chunk is handed on
        self._rules: list[Rule] = []
        self._connections: set[_Connection] = set()
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault proxy", daemon=True)
        self._thread.start()
        self.port = 0
        self.accept()

    # What a test says.

    def accept(self) -> None:
        """Listen, again on the same port after `refuse`."""
        self._run(self._listen())

    def refuse(self) -> None:
        """Stop listening and cut every connection: who connects now is refused."""
        self._run(self._close())

    def cut(self) -> None:
        """Cut every connection, without a goodbye."""
        self._run(self._cut())

    def add(self, rule: Rule) -> Rule:
        self._rules.append(rule)
        return rule

    def heal(self) -> None:
        """No fault any more; connections that were left half-open are cut."""
        stuck = self.mode != "pass"
        self.mode, self.delay = "pass", 0.0
        self._rules.clear()
        if stuck:
            self.cut()

    def close(self) -> None:
        self.refuse()
        self._run(self._end_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # How it is done, in the loop's thread.

    def _run(self, what: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result(timeout=10)

    async def _listen(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=CHUNK)
            self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        await self._cut()

    async def _end_all(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _cut(self) -> None:
        for connection in list(self._connections):
            connection.cut()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection()
        connection.writers.append(writer)
        self._connections.add(connection)
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.upstream, limit=CHUNK)
        except OSError:
            connection.cut()
            self._connections.discard(connection)
            return
        connection.writers.append(far_writer)
        for end in connection.writers:
            end.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ways = [
            asyncio.ensure_future(self._pump(connection, reader, far_writer, asking=True)),
            asyncio.ensure_future(self._pump(connection, far_reader, writer, asking=False)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            connection.cut()
            self._connections.discard(connection)

    async def _pump(
        self, connection: _Connection, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, asking: bool
    ) -> None:
        with contextlib.suppress(ConnectionError, OSError):
            while data := await source.read(CHUNK):
                if self.delay:
                    await asyncio.sleep(self.delay)
                if self.mode == "swallow" or connection.swallowing:
                    continue
                if asking:
                    self._watch(connection, data)
                elif self.mode == "mute":
                    continue
                elif connection.on_reply is not None:
                    data = self._spoil(connection, connection.on_reply, data)
                if data:
                    target.write(data)
                    await target.drain()
                if not asking and connection.on_reply is not None and not connection.swallowing:
                    return  # cut by the caller, who sees that this way has ended
            # Who keeps replies back keeps the goodbye back as well.
            while not asking and (self.mode != "pass" or connection.swallowing):
                await asyncio.sleep(KEEP_BACK)

    def _watch(self, connection: _Connection, data: bytes) -> None:
        for rule in list(self._rules):
            if rule.marker in data:
                connection.marked.add(rule)
            if rule in connection.marked and rule.trigger in data:
                self._rules.remove(rule)
                connection.on_reply = rule

    @staticmethod
    def _spoil(connection: _Connection, rule: Rule, data: bytes) -> bytes:
        rule.fired.set()
        if rule.kind == "swallow":
            connection.swallowing = True
            return b""
        return data[: rule.keep] if rule.kind == "truncate" else b""
