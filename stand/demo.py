"""`make demo`: everything on this machine with a story, until Ctrl-C. A second start keeps the data.

Every start tells the whole story again: what is known already changes nothing, and a first start that was interrupted
is made good by the second.
"""

import signal
import sys
import time
from collections.abc import Iterable
from typing import Any, NoReturn

import httpx2

from stand.environment import FOLDER, remember_demo, remembered_demo, remembered_port, sole_use
from stand.story import opens_the_door, tell_tickets, tell_world
from stand.system import System

PORT = 8000  #: the first choice
REVIVAL_PAUSE = 2.0  #: seconds before a process that died is started again
#: Of the environment: what `stand.manage` has to be told to speak to this demo.
ADDRESSES = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SIMULATOR_URL", "CASEFLOW_BASE_URL")


def _tell(line: str) -> None:
    print(line, flush=True)


def _end(number: int, frame: Any) -> NoReturn:
    # Only the first one: a second would interrupt the stopping.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def _table(rows: Iterable[tuple[str, ...]]) -> None:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        _tell("  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def _watch(system: System) -> NoReturn:
    """Start again what died, as a supervisor does in production."""
    while True:
        time.sleep(REVIVAL_PAUSE)
        for name in system.processes.dead():
            _tell(f"{name} ended; it is started again (log: {system.processes.roles[name].log})")
            system.processes.restart(name)


def _token(system: System, made: str | None) -> str:
    """A token is shown once: keep it for the next start, and have it replaced where it got lost."""
    token = made or remembered_demo(FOLDER).get("token", "")
    if not token or not opens_the_door(system.base_url, token):
        token = str(system.manage_json("bootstrap", "--demo", "--new-token")["token"])
    remember_demo(FOLDER, token=token)
    return token


def _tell_story(system: System) -> None:
    told = system.manage_json("bootstrap", "--demo")
    token = _token(system, told["token"])
    tell_world(system.simulator_url)
    number = tell_tickets(system.base_url, token)
    _tell("")
    _table(
        [
            ("Caseflow:", f"{system.base_url}/"),
            ("API:", f"{system.base_url}/api/docs/"),
            ("outside world:", system.simulator_url),
            ("token:", token),
            ("tickets:", f"{number}, the first is T-4821"),
            ("logs:", str(system.processes.logs)),
        ]
    )
    _tell("")
    _table(
        [
            ("sign in as", "password", "role", "organisation"),
            *(
                (one["username"], one["password"], ", ".join(one["roles"]), one["organisation"])
                for one in told["sign_ins"]
            ),
        ]
    )
    _tell("")


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    try:
        port = remembered_port(FOLDER, "web") or PORT
        # The demo's passwords are known: `bootstrap --demo` refuses without this word.
        known = {"CASEFLOW_DEMO": "1"}
        with sole_use(FOLDER), System(FOLDER, web_port=port, environment=known, tell=_tell) as system:
            remember_demo(FOLDER, environment=known | {name: system.environment[name] for name in ADDRESSES})
            _tell_story(system)
            _tell("ready (Ctrl-C stops everything)")
            _watch(system)
    except KeyboardInterrupt:
        _tell("stopped")
        return 0
    except (RuntimeError, TimeoutError, httpx2.HTTPError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
