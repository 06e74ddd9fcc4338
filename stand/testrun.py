"""`make test`: real servers in a temporary folder, every check, every test, and the time of each part."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from stand.environment import CHECKOUT, product_environment, temporary_folder
from stand.postgres import OWNER, SUPERUSER, EmbeddedPostgres
from stand.processes import ProcessGroup
from stand.valkey import EmbeddedValkey

#: Folders whose tests run beside all the others, on servers of their own: they start real processes, wait out leases or
#: walk through very many states. Three lanes take about as long as each other, and one computes while another waits.
BESIDE = {
    "tests of the whole": ("api", "faults", "flows"),
    "walks and waits": ("generated", "kills", "leaks", "model", "races", "soak", "stand", "stateful", "supervision"),
}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Part:
    """One part of the run, and what came of it."""

    name: str
    seconds: float
    code: int


def _checks() -> list[tuple[str, list[str]]]:
    python = sys.executable
    return [
        ("ruff check", [python, "-m", "ruff", "check", "."]),
        ("ruff format", [python, "-m", "ruff", "format", "--check", "."]),
        ("lint-imports", [str(Path(python).parent / "lint-imports")]),
        ("mypy", [python, "-m", "mypy", "."]),
        ("manage.py check", [python, "manage.py", "check"]),
        ("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]),
        ("bill of materials", [python, "-m", "stand.supply", "bill"]),
        ("vulnerabilities", [python, "-m", "stand.supply", "audit"]),
    ]


#: Shows a line of what a part prints, as it comes.
Show = Callable[[str], None]


def _run(
    argv: list[str], environment: Mapping[str, str], show: Show, started: list[subprocess.Popen[str]]
) -> tuple[int, str]:
    """Run a command to its end; returns its exit code and the last line that it printed."""
    last = ""
    with subprocess.Popen(
        argv,
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        started.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            show(line)
            last = line.strip() or last
    return process.returncode, last


@dataclass(frozen=True)
class Lane:
    """Work that runs beside that of other lanes and shares nothing with it; `play` returns its parts and a summary."""

    name: str
    play: Callable[[Path, Show, list[subprocess.Popen[str]]], tuple[list[Part], str]]


def _play_checks(folder: Path, show: Show, started: list[subprocess.Popen[str]]) -> tuple[list[Part], str]:
    environment = _nobody(folder) | _for_tests()
    parts = []
    for name, argv in _checks():
        show(f"\n== {name}\n")
        begun = time.monotonic()
        code, _ = _run(argv, environment, show, started)
        parts.append(Part(name, time.monotonic() - begun, code))
    return parts, ""


def _tests(name: str, arguments: list[str]) -> Lane:
    """Tests with one PostgreSQL and one Valkey of their own."""

    def play(folder: Path, show: Show, started: list[subprocess.Popen[str]]) -> tuple[list[Part], str]:
        show(f"\n== {name}\n")
        begun = time.monotonic()
        with servers(folder) as environment:
            argv = [sys.executable, "-m", "pytest", *arguments]
            code, summary = _run(argv, environment | _for_tests(), show, started)
        return [Part(name, time.monotonic() - begun, code)], summary

    return Lane(name, play)


def _lanes(options: argparse.Namespace, arguments: list[str]) -> list[Lane]:
    """All tests in three lanes, unless the caller names some, and beside them what only reads the code."""
    lanes = [] if options.only_tests else [Lane("checks", _play_checks)]
    if options.only_checks:
        return lanes
    if any(not argument.startswith("-") for argument in arguments):
        return [_tests("tests", arguments), *lanes]
    elsewhere = [name for folders in BESIDE.values() for name in folders]
    return [
        _tests("tests", [*arguments, *(f"--ignore=tests/{name}" for name in elsewhere)]),
        *(_tests(name, [*arguments, *(f"tests/{one}" for one in folders)]) for name, folders in BESIDE.items()),
        *lanes,
    ]


def _play(lanes: list[Lane], folder: Path) -> list[tuple[list[Part], str]]:
    """The first lane is shown as it runs, what the others printed after it."""
    first, *others = lanes
    kept: list[list[str]] = [[] for _ in others]
    started: list[subprocess.Popen[str]] = []
    with ThreadPoolExecutor(max_workers=len(lanes)) as pool:
        beside = [
            pool.submit(lane.play, _made(folder / f"lane-{number}"), lines.append, started)
            for number, (lane, lines) in enumerate(zip(others, kept, strict=True), start=1)
        ]
        try:
            done = [first.play(_made(folder / "lane-0"), lambda line: print(line, end="", flush=True), started)]
            for lines, running in zip(kept, beside, strict=True):
                done.append(running.result())
                print("".join(lines), end="", flush=True)
        except BaseException:
            for process in started:  # the pool waits for its lanes, and they for these
                process.terminate()
            raise
    return done


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@contextmanager
def servers(folder: Path) -> Iterator[dict[str, str]]:
    """Two real servers; yields the environment that names them."""
    processes = ProcessGroup(folder / "logs")
    postgres = EmbeddedPostgres(folder / "postgres", durable=False, processes=processes)
    valkey = EmbeddedValkey(folder / "valkey", processes=processes)
    try:
        postgres.start()
        valkey.start()
        yield {
            **product_environment(
                folder,
                database_url=postgres.url(),
                owner_url=postgres.url(OWNER),
                redis_url=valkey.url(),
                simulator_url="http://127.0.0.1:9",  # nobody listens there; tests start their own
                base_url="http://127.0.0.1:8000",
            ),
            # For what only an administrator could try, such as session_replication_role.
            "CASEFLOW_TEST_SUPERUSER_URL": postgres.url(SUPERUSER),
        }
    finally:
        processes.close()
        postgres.discard()


def _nobody(folder: Path) -> dict[str, str]:
    """Addresses at which nobody listens: enough for checks that only read code."""
    return product_environment(
        folder,
        database_url="postgresql://caseflow_runtime@127.0.0.1:9/caseflow",
        owner_url="postgresql://caseflow_owner@127.0.0.1:9/caseflow",
        redis_url="redis://127.0.0.1:9/0",
        simulator_url="http://127.0.0.1:9",
        base_url="http://127.0.0.1:8000",
    )


def _for_tests() -> dict[str, str]:
    known = os.environ.get("CASEFLOW_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), "")
    return {"CASEFLOW_FAST_HASH": "1", "CASEFLOW_CHROMIUM": known}


def _table(parts: list[Part]) -> None:
    print("\npart                  seconds  result")
    for part in parts:
        print(f"{part.name:<20} {part.seconds:>8.1f}  {'ok' if part.code == 0 else f'failed ({part.code})'}")


def _end(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.testrun")
    parser.add_argument("--only-checks", action="store_true", help="no servers, no tests")
    parser.add_argument("--only-tests", action="store_true", help="no ruff, mypy and the like")
    options, pytest_arguments = parser.parse_known_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)

    parts: list[Part] = []
    summaries: list[str] = []
    with temporary_folder() as folder:
        for found, summary in _play(_lanes(options, pytest_arguments), folder):
            parts += found
            summaries += [summary] if summary else []
    _table(parts)
    failed = [part.name for part in parts if part.code != 0]
    if failed:
        print(f"failed: {', '.join(failed)}")
    for summary in summaries:  # pytest's own, to close the output
        print(summary)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
