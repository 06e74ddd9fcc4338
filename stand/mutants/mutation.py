"""One protection taken out of the code, and the tests that have to notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Change:
    """`old`, which stands exactly once in `file`, becomes `new`."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutation:
    """A protection removed. `doors` are the protections before it, opened so that it stands alone.

    `caught_by` are pytest node ids; one of them must fail. An `equivalent` says why nothing can tell the difference:
    it is listed and not run.
    """

    name: str
    protects: str
    file: str
    old: str
    new: str
    caught_by: tuple[str, ...]
    why: str
    doors: tuple[Change, ...] = ()
    equivalent: str = ""

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change(self.file, self.old, self.new), *self.doors)


def misfits(root: Path, mutations: Sequence[Mutation]) -> list[str]:
    """What no longer fits the code below `root`: every reason, with the mutation's name. Empty: all can be applied."""
    found = [f"{name}: {count} mutations have this name" for name, count in _names(mutations).items() if count > 1]
    for mutation in mutations:
        found += [f"{mutation.name}: {reason}" for reason in _reasons(root, mutation)]
    return found


def mutated(root: Path, mutation: Mutation) -> dict[Path, str]:
    """The changed text of each file; a file may be changed in several places. Raises LookupError for a misfit."""
    texts: dict[Path, str] = {}
    for change in mutation.changes:
        path = root / change.file
        text = texts.get(path) or path.read_text()
        if text.count(change.old) != 1:
            raise LookupError(f"{mutation.name}: the text is not exactly once in {change.file}")
        texts[path] = text.replace(change.old, change.new)
    return texts


def uncovered(protections: Iterable[str], mutations: Iterable[Mutation]) -> list[str]:
    """The protections that no mutation removes."""
    removed = {mutation.protects for mutation in mutations if not mutation.equivalent}
    return [protection for protection in protections if protection not in removed]


def _names(mutations: Sequence[Mutation]) -> Counter[str]:
    return Counter(mutation.name for mutation in mutations)


def _reasons(root: Path, mutation: Mutation) -> Iterator[str]:
    if bool(mutation.equivalent) == bool(mutation.caught_by):
        yield "it names tests that catch it, or why nothing can"
    for change in mutation.changes:
        path = root / change.file
        times = path.read_text().count(change.old) if path.exists() else 0
        if times != 1:
            yield f"its text stands {times} times in {change.file}: {change.old.strip().splitlines()[0]!r}"
            return
        if change.old == change.new:
            yield f"it changes nothing in {change.file}"
    for path, text in mutated(root, mutation).items():
        try:
            compile(text, str(path), "exec")
        except SyntaxError as error:
            yield f"it leaves no Python in {path.relative_to(root)}: {error}"
    for node in mutation.caught_by:
        file, _, test = node.partition("::")
        known = (root / file).read_text() if (root / file).exists() else ""
        if f"\ndef {test.partition('[')[0]}(" not in known:
            yield f"there is no test {node}"
