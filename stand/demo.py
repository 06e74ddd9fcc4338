"""`make demo`: everything on this machine with a story, until Ctrl-C. A second start keeps the data."""

import json
import signal
import sys
import time
from typing import Any, NoReturn

from stand.environment import FOLDER, remembered_port, sole_use
from stand.story import tell_tickets, tell_world
from stand.system import System

PORT = 8000  #: the first choice
REVIVAL_PAUSE = 2.0  #: seconds before a process that died is started again


def _tell(line: str) -> None:
    print(line, flush=True)


def _end(number: int, frame: Any) -> NoReturn:
    # Only the first one: a second would interrupt the stopping.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def _show(value: Any, indent: str = "  ") -> None:
    """Print what `bootstrap` answered, as it is called there."""
    match value:
        case dict():
            for name, part in value.items():
                if isinstance(part, dict | list):
                    _tell(f"{indent}{name}:")
                    _show(part, indent + "  ")
                else:
                    _tell(f"{indent}{name}: {part}")
        case list():
            for part in value:
                if isinstance(part, dict):
                    _tell(indent + "  ".join(f"{name}={item}" for name, item in part.items()))
                else:
                    _show(part, indent)
        case _:
            _tell(f"{indent}{value}")


def _watch(system: System) -> NoReturn:
    """Start again what died, as a supervisor does in production."""
    while True:
        time.sleep(REVIVAL_PAUSE)
        for name in system.processes.dead():
            _tell(f"{name} ended; it is started again (log: {system.processes.roles[name].log})")
            system.processes.restart(name)


def _begin_story(system: System, told: dict[str, Any]) -> dict[str, Any]:
    """On the first start the token is new: fill the outside world and send the tickets. Later the data is there."""
    if told.get("token"):
        tell_world(system.simulator_url)
        told["tickets"] = tell_tickets(system.base_url, told["token"])
    return told


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    try:
        port = remembered_port(FOLDER, "web") or PORT
        # The demo's passwords are known: `bootstrap --demo` refuses without this word.
        known = {"CASEFLOW_DEMO": "1"}
        with sole_use(FOLDER), System(FOLDER, web_port=port, environment=known, tell=_tell) as system:
            answer = system.manage("bootstrap", "--demo").stdout
            _tell("")
            _tell(f"  Caseflow: {system.base_url}/")
            _tell(f"  logs:     {system.processes.logs}")
            _show(_begin_story(system, json.loads(answer)))
            _tell("")
            _tell("ready (Ctrl-C stops everything)")
            _watch(system)
    except KeyboardInterrupt:
        _tell("stopped")
        return 0
    except (RuntimeError, TimeoutError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
