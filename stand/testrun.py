"""`make test`: real servers in a temporary folder, every check, every test, and the time of each part."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from stand.environment import CHECKOUT, product_environment, temporary_folder
from stand.postgres import OWNER, SUPERUSER, EmbeddedPostgres
from stand.processes import ProcessGroup
from stand.valkey import EmbeddedValkey

#: Folders that wait out leases, or walk through very many states: `make test-slow` runs them, `make test` the rest.
SLOW = ("faults", "kills", "model", "races", "soak", "stateful", "supervision")
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


def _run(name: str, argv: list[str], environment: Mapping[str, str]) -> Part:
    print(f"\n== {name}", flush=True)
    begun = time.monotonic()
    code = subprocess.run(argv, cwd=CHECKOUT, env=environment, stdin=subprocess.DEVNULL).returncode
    return Part(name, time.monotonic() - begun, code)


def _run_pytest(arguments: list[str], environment: Mapping[str, str]) -> tuple[Part, str]:
    """Run pytest, show its output as it comes, and return its last line, too."""
    print("\n== pytest", flush=True)
    begun = time.monotonic()
    last = ""
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return Part("pytest", time.monotonic() - begun, process.returncode), last


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


@contextmanager
def _no_servers(folder: Path) -> Iterator[dict[str, str]]:
    """Addresses at which nobody listens: enough for checks that only read code."""
    yield product_environment(
        folder,
        database_url="postgresql://caseflow_runtime@127.0.0.1:9/caseflow",
        owner_url="postgresql://caseflow_owner@127.0.0.1:9/caseflow",
        redis_url="redis://127.0.0.1:9/0",
        simulator_url="http://127.0.0.1:9",
        base_url="http://127.0.0.1:8000",
    )


def _browser() -> dict[str, str]:
    known = os.environ.get("CASEFLOW_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), "")
    return {"CASEFLOW_CHROMIUM": known}


def _chosen(slow: bool, arguments: list[str]) -> list[str]:
    """The folders of this run, unless the caller names some."""
    if any(not argument.startswith("-") for argument in arguments):
        return arguments
    if slow:
        return [*arguments, *(f"tests/{name}" for name in SLOW)]
    return [*arguments, *(f"--ignore=tests/{name}" for name in SLOW)]


def _table(parts: list[Part]) -> None:
    print("\npart              seconds  result")
    for part in parts:
        print(f"{part.name:<16} {part.seconds:>8.1f}  {'ok' if part.code == 0 else f'failed ({part.code})'}")


def _end(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.testrun")
    parser.add_argument("--only-checks", action="store_true", help="no servers, no tests")
    parser.add_argument("--only-tests", action="store_true", help="no ruff, mypy and the like")
    parser.add_argument("--slow", action="store_true", help="the slow folders, and only those")
    options, pytest_arguments = parser.parse_known_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)

    parts: list[Part] = []
    last = ""
    begun = time.monotonic()
    with temporary_folder() as folder, (_no_servers if options.only_checks else servers)(folder) as environment:
        parts.append(Part("servers", time.monotonic() - begun, 0))
        environment |= {"CASEFLOW_FAST_HASH": "1", **_browser()}
        if not options.only_tests:
            parts += [_run(name, argv, environment) for name, argv in _checks()]
        if not options.only_checks:
            tests, last = _run_pytest(_chosen(options.slow, pytest_arguments), environment)
            parts.append(tests)
    _table(parts)
    failed = [part.name for part in parts if part.code != 0]
    if failed:
        print(f"failed: {', '.join(failed)}")
    if last:
        print(last)  # pytest's own summary closes the output
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
