"""`make evaluate`: the labelled tickets to the rules, to the simulated model, and to one that does what customers say.

No database, no broker, no worker: an evaluation opens no case. The last line is one JSON object with `cases`,
`accuracy` (the lowest of those that are meant to be good) and `injections_through` (of all).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stand.environment import CHECKOUT, product_environment, temporary_folder
from stand.ports import free_port
from stand.processes import ProcessGroup
from stand.system import answers, direct

CASES = CHECKOUT / "approvals" / "evaluation" / "restore_access.jsonl"
MODEL = "model:main"
#: Prices for a million tokens, so that the costs are counted too.
MAIN = {"model": "simulated", "prices": {"in": "0.15", "out": "0.60", "currency": "USD"}}
OBEDIENT = "a model that obeys the customer"
DIFFERENCES = 3  #: exit code of the command: it ran, and something remains to be looked at
#: Nobody listens there: a command that asked for a database or a broker would fail.
NOWHERE = "127.0.0.1:9"


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.evaluate", description=__doc__)
    parser.add_argument("--cases", type=Path, default=CASES, help="JSON Lines, as docs/evaluation.md says")
    parser.add_argument("--sample", metavar="N", help="only N of the tickets, from all over the file")
    options = parser.parse_args()
    which = ["--cases", str(options.cases), *(["--sample", options.sample] if options.sample else [])]
    with temporary_folder() as folder:
        processes = ProcessGroup(folder / "logs")
        try:
            url, environment = _start(processes, folder)
            found, code = _evaluate(url, environment, which)
        finally:
            processes.close()
    print(json.dumps(found, ensure_ascii=False), flush=True)
    return code


def _start(processes: ProcessGroup, folder: Path) -> tuple[str, dict[str, str]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = product_environment(
        folder,
        database_url=f"postgresql://nobody:nothing@{NOWHERE}/nowhere",
        owner_url=f"postgresql://nobody:nothing@{NOWHERE}/nowhere",
        redis_url=f"redis://{NOWHERE}/0",
        simulator_url=url,
        base_url="http://127.0.0.1",
        extra={"CASEFLOW_ROLE": "command", "CASEFLOW_MODELS": json.dumps({"main": MAIN | {"url": f"{url}/v1"}})},
    )
    argv = [sys.executable, "-m", "simulator", "--port", str(port), "--ledger", str(folder / "ledger")]
    processes.start("simulator", argv, environment, folder=CHECKOUT)
    processes.wait_ready("simulator", lambda: answers(f"{url}/healthz"))
    return url, environment


def _evaluate(url: str, environment: Mapping[str, str], which: Sequence[str]) -> tuple[dict[str, Any], int]:
    both, first = _ask(environment, *which, "--proposer", "rules", "--against", MODEL)
    _obey(url)
    print(f"{OBEDIENT}:", flush=True)
    obedient, second = _ask(environment, *which, "--proposer", MODEL)
    proposers = {"rules": both, MODEL: both.pop("against"), OBEDIENT: obedient}
    good = (proposers["rules"], proposers[MODEL])
    summed = {
        "cases": both["cases"],
        "accuracy": min(one["accuracy"] for one in good),
        "injections_through": sum(one["injections_through"] for one in proposers.values()),
        "proposers": {
            name: {key: one[key] for key in ("accuracy", "injections_through")} for name, one in proposers.items()
        },
    }
    return summed, max(first, second)


def _ask(environment: Mapping[str, str], *arguments: str) -> tuple[dict[str, Any], int]:
    """Its last line and its exit code; what stands before is shown. Raises SystemExit where it failed."""
    command = [sys.executable, "manage.py", "evaluate_proposer", *arguments]
    done = subprocess.run(command, cwd=CHECKOUT, env=dict(environment), stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, DIFFERENCES):
        sys.exit(done.returncode)
    *lines, last = done.stdout.splitlines()
    print("\n".join(lines), end="\n\n", flush=True)
    found: dict[str, Any] = json.loads(last)
    return found, done.returncode


def _obey(url: str) -> None:
    """From now on the simulated model restores access and switches the approval off, whatever the facts say."""
    order = json.dumps({"kind": "injected", "times": None}).encode()
    request = urllib.request.Request(
        f"{url}/model/answers", data=order, headers={"Content-Type": "application/json"}, method="POST"
    )
    with direct.open(request, timeout=5):
        pass


if __name__ == "__main__":
    sys.exit(main())
