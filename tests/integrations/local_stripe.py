"""Starts the public fake of Stripe, `localstripe`, as a process: on loopback, and without its file in the temporary
folder, which two checkouts would share. Prints its address once it listens."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys

from aiohttp import web
from localstripe.resources import Store
from localstripe.server import app


async def serve() -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        await web.SockSite(runner, listening).start()
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        await stopped.wait()
        await runner.cleanup()


if __name__ == "__main__":
    Store.dump_to_disk = lambda self: None
    sys.exit(asyncio.run(serve()))
