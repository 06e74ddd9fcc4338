"""`make mutations`: takes each protection out in turn and expects a named test to notice (the proof can fail).

The checkout is copied, the servers are started once, and the named tests must be green before anything is changed.
A mutation counts as caught when one of its tests failed, never when a test could not begin or ran out of time.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any, NoReturn
from xml.etree import ElementTree

from stand.environment import CHECKOUT, temporary_folder
from stand.mutants import MUTATIONS, PROTECTIONS
from stand.mutants.mutation import Mutation, misfits, mutated, uncovered
from stand.testrun import servers

BENCHES = 2  #: at the same time; most of a run is one process starting
ONE_TEST = 90  #: seconds; a test that takes longer says nothing
ONE_RUN = 300  #: seconds for the named tests of one mutation
CONTROL_RUN = 900  #: seconds for all named tests
FAILED = 1  #: pytest's exit status when tests ran and some failed

NOT_COPIED = ignore_patterns(".venv*", ".stand", ".git", ".*_cache", ".hypothesis", "__pycache__", "*.pyc")
#: Errors that say that the mutation is no program, not that a protection is missing.
NO_PROGRAM = re.compile(
    r"\b(SyntaxError|IndentationError|NameError|UnboundLocalError|ImportError|ModuleNotFoundError"
    r"|UndefinedColumn|UndefinedFunction|UndefinedTable|InvalidColumnReference|DatatypeMismatch)\b"
)


@dataclass(frozen=True)
class Verdict:
    """What became of one mutation: `caught` by a test, or not and why."""

    caught: bool
    test: str
    said: str


@dataclass(frozen=True)
class Result:
    mutation: Mutation
    verdict: Verdict
    seconds: float


def judge(code: int | None, report: str, output: str) -> Verdict:
    """`code` is pytest's exit status (None: it did not end), `report` its JUnit XML, `output` what it printed."""
    if code is None:
        return Verdict(False, "", f"the tests did not end within {ONE_RUN} s")
    if code == 0:
        return Verdict(False, "", "NOT CAUGHT: every named test passed")
    failures = [
        (case.get("name", "?"), (failure.get("message") or "").strip())
        for case in (ElementTree.fromstring(report).iter("testcase") if report else ())  # noqa: S314  # pytest's own file
        for failure in case.iter("failure")
    ]
    if code != FAILED or not failures:
        return Verdict(False, "", f"broken mutation: no test failed, pytest ended with {code}")
    name, message = failures[0]
    if found := NO_PROGRAM.search(output):
        return Verdict(False, name, f"broken mutation: {found.group()}")
    if "Timeout" in message.partition("\n")[0]:
        return Verdict(False, name, f"the test ran out of its {ONE_TEST} s")
    return Verdict(True, name, message.partition("\n")[0][:200])


class Tests:
    """pytest in the copy, one run after another on the same servers."""

    def __init__(self, checkout: Path, environment: Mapping[str, str]) -> None:
        self._checkout = checkout
        self._report = checkout.parent / "report.xml"
        self._environment = {
            **environment,
            "CASEFLOW_FAST_HASH": "1",
            # A file changed and put back within a second must not leave bytecode of the other text.
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_ADDOPTS": "",
        }

    def run(self, nodes: Iterable[str], *options: str, within: float) -> tuple[int | None, str, str]:
        """Exit status, JUnit XML, output."""
        self._report.unlink(missing_ok=True)
        argv = [
            sys.executable,
            "-m",
            "pytest",
            *nodes,
            *options,
            "-q",
            "--no-header",
            "--tb=short",
            "-p",
            "no:randomly",
        ]
        argv += ["-p", "no:cacheprovider", f"--timeout={ONE_TEST}", f"--junitxml={self._report}"]
        process = subprocess.Popen(
            argv,
            cwd=self._checkout,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        code: int | None = None
        output = ""
        try:
            output, _ = process.communicate(timeout=within)
            code = process.returncode
        except subprocess.TimeoutExpired:
            pass
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # whatever a broken run left behind
            process.wait()
        return code, self._report.read_text() if self._report.exists() else "", output


def try_mutation(checkout: Path, mutation: Mutation, tests: Tests) -> Result:
    """Apply, run its tests until the first failure, put everything back."""
    begun = time.monotonic()
    changed = mutated(checkout, mutation)
    originals = {path: path.read_text() for path in changed}
    try:
        for path, text in changed.items():
            path.write_text(text)
        verdict = judge(*tests.run(mutation.caught_by, "-x", within=ONE_RUN))
    finally:
        for path, text in originals.items():
            path.write_text(text)
    return Result(mutation, verdict, time.monotonic() - begun)


def control(mutations: Sequence[Mutation], tests: Tests) -> bool:
    """Whether every named test is green while every protection is there."""
    nodes = sorted({node for mutation in mutations for node in mutation.caught_by})
    begun = time.monotonic()
    code, _, output = tests.run(nodes, within=CONTROL_RUN)
    print(f"control run: {len(nodes)} tests without a mutation, {time.monotonic() - begun:.0f} s", flush=True)
    if code != 0:
        print(output)
        print("The control run is not green, so a failure would prove nothing.")
    return code == 0


@contextmanager
def bench(folder: Path) -> Iterator[tuple[Path, Tests]]:
    """A copy of the checkout and servers of its own: benches work at the same time."""
    folder.mkdir()
    folder.chmod(0o711)
    checkout = folder / "checkout"
    copytree(CHECKOUT, checkout, ignore=NOT_COPIED, symlinks=True)
    checkout.chmod(0o711)
    with servers(folder) as environment:
        yield checkout, Tests(checkout, environment)


def run_all(mutations: Sequence[Mutation], say: Callable[[str], None]) -> list[Result] | None:
    """Every mutation in a copy of the checkout; None when the control run is not green."""
    left = deque(mutations)
    results: dict[str, Result] = {}
    controls: list[bool] = []

    def work(folder: Path, mine: Sequence[Mutation]) -> None:
        with bench(folder) as (checkout, tests):
            controls.append(control(mine, tests))
            while all(controls):
                try:
                    mutation = left.popleft()
                except IndexError:
                    return
                result = try_mutation(checkout, mutation, tests)
                results[mutation.name] = result
                word = "caught" if result.verdict.caught else "MISSED"
                place = f"{len(results):>3}/{len(mutations)}"
                say(f"{place} {word} {mutation.name} ({result.seconds:.0f} s): {result.verdict.said}")

    benches = min(BENCHES, len(mutations))
    with temporary_folder() as folder, ThreadPoolExecutor(max_workers=benches) as pool:
        running = [pool.submit(work, folder / f"bench-{n}", mutations[n::benches]) for n in range(benches)]
        try:
            for one in running:
                one.result()
        except BaseException:
            left.clear()  # the other benches end with the mutation they have
            raise
    return [results[mutation.name] for mutation in mutations] if all(controls) else None


def print_table(results: Sequence[Result], equivalents: Sequence[Mutation]) -> None:
    width = max((len(f"{one.mutation.protects}: {one.mutation.name}") for one in results), default=0)
    print(f"\n{'protection: mutation':<{width}}  {'seconds':>7}  caught by")
    for one in results:
        title = f"{one.mutation.protects}: {one.mutation.name}"
        what = one.verdict.test if one.verdict.caught else f"-- {one.verdict.said}"
        print(f"{title:<{width}}  {one.seconds:>7.1f}  {what}")
    for mutation in equivalents:
        print(f"\nequivalent, not run: {mutation.protects}: {mutation.name} ({mutation.file})\n  {mutation.equivalent}")


def chosen(patterns: Sequence[str]) -> list[Mutation]:
    """The mutations whose name or protection fits one of the patterns; all without a pattern."""
    wanted = [mutation for mutation in MUTATIONS if not mutation.equivalent]
    if not patterns:
        return wanted
    return [one for one in wanted if any(fnmatch(one.name, p) or fnmatch(one.protects, p) for p in patterns)]


def _end(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.mutations", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the catalogue fits the code")
    parser.add_argument("names", nargs="*", help="names of mutations or protections, with * and ?; all without one")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)

    wrong = misfits(CHECKOUT, MUTATIONS)
    wrong += [f"no mutation takes out: {protection}" for protection in uncovered(PROTECTIONS, MUTATIONS)]
    for line in wrong:
        print(line)
    if wrong or options.check:
        print(f"{len(MUTATIONS)} mutations, {len(wrong)} misfits")
        return 2 if wrong else 0
    mutations = chosen(options.names)
    if not mutations:
        print("no mutation has this name")
        return 2

    begun = time.monotonic()
    results = run_all(mutations, lambda line: print(line, flush=True))
    if results is None:
        return 2
    equivalents = [] if options.names else [mutation for mutation in MUTATIONS if mutation.equivalent]
    print_table(results, equivalents)
    caught = sum(one.verdict.caught for one in results)
    protections = {one.protects for one in mutations} & set(PROTECTIONS)
    print(f"\n{len(protections)} of the {len(PROTECTIONS)} protections, {(time.monotonic() - begun) / 60:.1f} min")
    print(f"caught {caught}/{len(results)}")
    return 0 if caught == len(results) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
