"""Everybody at every address, and what is wrong with the answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from caseflow import edge

from .asking import Answer, Visitor, ask, post
from .bodies import Body, bodies_of, smuggled
from .canaries import Kind, Owner
from .routes import Route
from .sources import NOWHERE, OF_THE_PLATFORM, OPEN, REVEALS, Source, Values, queries_of, source_of
from .world import House, World

#: Every answer carries them, whoever asks and whatever comes of it.
PROTECTING = frozenset(name.lower() for name in edge.HEADERS)
FEW = 2  #: objects, where one tells what all would
NO_POST = 405
TRIES = 4  #: a page tells the time, which may have gone on between two answers


@dataclass(frozen=True)
class Leak:
    """One answer that tells what it should not, or tells it differently."""

    visitor: str
    method: str
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.visitor}: {self.method} {self.path}: {self.what}"


@dataclass(frozen=True)
class Pair:
    """The same asked about what is there and about what is not, and the words that were typed for each."""

    theirs: Callable[[], Answer]
    missing: Callable[[], Answer]
    typed: list[str]
    nothing: list[str]


@dataclass
class Walk:
    """What was walked, and what was found."""

    routes: set[str] = field(default_factory=set)
    visitors: set[str] = field(default_factory=set)
    requests: int = 0
    seen: set[tuple[Owner, Kind]] = field(default_factory=set)
    leaks: list[Leak] = field(default_factory=list)

    @property
    def line(self) -> str:
        return f"routes {len(self.routes)}, roles {len(self.visitors)}, leaks {len(self.leaks)}"

    def add(self, other: Walk) -> None:
        self.routes |= other.routes
        self.visitors |= other.visitors
        self.requests += other.requests
        self.seen |= other.seen
        self.leaks += other.leaks


def walk(routes: Iterable[Route], world: World, visitor: Visitor) -> Walk:
    """Everything that one visitor can try."""
    done = Walk(visitors={visitor.name})
    for route in routes:
        done.routes.add(route.pattern)
        source = source_of(route)
        if source is None:
            done.leaks.append(Leak("-", "-", route.pattern, "no source of ids: add a line to tests/leaks/sources.py"))
        else:
            _Visit(done, route, source, world, visitor).run()
    return done


@dataclass
class _Visit:
    """One visitor at one route."""

    done: Walk
    route: Route
    source: Source
    world: World
    visitor: Visitor
    absent: dict[tuple[str, str], Answer] = field(default_factory=dict)

    def run(self) -> None:
        if not self.route.parameters:
            self._get(self.route.path({}))
        # To who is in none of them one organisation is as foreign as the other.
        for house in self.world.houses if self.visitor.home else self.world.houses[:1]:
            if house.owner is self.visitor.home:
                self._own(house)
            else:
                self._foreign(house)

    def _own(self, house: House) -> None:
        """What they may see: but nothing of others, and nothing personal."""
        objects = self.source.of(house)
        if self.route.parameters:
            for values in objects if self.visitor.looks_at_all else objects[:FEW]:
                self._get(self.route.path(values))
        for body in self._bodies(house, objects):
            if self._post(self.route.path(objects[0]), body).status == NO_POST:
                return
        theirs = next(one for one in self.world.houses if one is not house)
        for there, nothing in smuggled(self.route, theirs) if objects else ():
            path = self.route.path(objects[0])
            posts = partial(self._post, path, there), partial(self._post, path, nothing)
            pair = Pair(*posts, _texts(there.data), _texts(nothing.data))
            self._same(path, f"POST {there.data}", pair)

    def _foreign(self, house: House) -> None:
        """What is not theirs: the very answer that nothing gets."""
        missing, nothing = self.route.path(self.source.missing), _typed(self.source.missing)
        objects = self.source.of(house)
        if self.route.parameters:
            for values in objects[: FEW if self.visitor.searches else 1]:
                path = self.route.path(values)
                pair = Pair(partial(self._get, path), partial(self._get, missing), [path, *_typed(values)], nothing)
                self._same(path, "GET", pair, absent=("GET", missing))
            self._mixed(objects[0] if objects else {})
        for number, body in enumerate(self._bodies(house, objects)):
            path, other = self.route.path(objects[0]), _naming_nothing(body, house)
            if not self.route.parameters and body.data == other.data:
                if self.visitor.home is None:
                    self._post(path, body)
                continue
            if not number and self._post(path, body).status == NO_POST:
                break
            typed = [path, *_typed(objects[0]), house.organisation.slug]
            posts = partial(self._post, path, body), partial(self._post, missing, other)
            pair = Pair(*posts, typed, [*nothing, NOWHERE])
            self._same(path, "POST", pair, absent=(f"POST {number}", missing))
        self._ask_about(house)

    def _bodies(self, house: House, objects: list[Values]) -> list[Body]:
        """All that may be posted about the first object; for most visitors what means most there."""
        found = list(bodies_of(self.route, house, objects[0])) if objects else []
        return found if self.visitor.posts_all else found[-1:]

    def _mixed(self, theirs: Values) -> None:
        """Under one's own organisation something of another."""
        if "organisation" not in theirs or len(theirs) == 1 or self.visitor.home is None:
            return
        own = {"organisation": self.world.house(self.visitor.home).organisation.slug}
        nothing = self.source.missing | own
        path, missing = self.route.path(theirs | own), self.route.path(nothing)
        typed = [path, *_typed(theirs)]
        pair = Pair(partial(self._get, path), partial(self._get, missing), typed, [missing, *_typed(nothing)])
        self._same(path, "GET", pair)
        pair = Pair(partial(self._post, path, Body()), partial(self._post, missing, Body()), typed, pair.nothing)
        self._same(path, "POST", pair)

    def _ask_about(self, house: House) -> None:
        """Searching and filtering by a name that is not theirs finds what a name of nothing finds."""
        asked = queries_of(self.route, house) if self.visitor.searches else []
        path = self.route.path(self.source.missing)
        unasked = ask(self.visitor, path) if asked else None
        if unasked is None or unasked.status != 200:
            return
        for there, nothing in asked:
            typed = _typed(there)
            if self._get(path, there).timeless().without(*typed) == unasked.timeless().without(*typed):
                continue  # the page takes no notice of such a name
            pair = Pair(partial(self._get, path, there), partial(self._get, path, nothing), typed, _typed(nothing))
            self._same(f"{path}?{there}", "GET", pair)

    def _get(self, path: str, query: Values | None = None) -> Answer:
        answer = ask(self.visitor, path, query)
        typed = list((query or {}).values())
        self._judge("GET", path + (f"?{query}" if query else ""), answer.without(path, *typed))
        return answer

    def _post(self, path: str, body: Body) -> Answer:
        answer = post(self.visitor, path, body)
        self._judge("POST", path, answer.without(path, *_texts(body.data)))
        return answer

    def _judge(self, method: str, path: str, answer: Answer) -> None:
        self.done.requests += 1
        if answer.status >= 500:
            self._found(method, path, f"status {answer.status}")
        if missing := PROTECTING - {name for name, _ in answer.headers}:
            self._found(method, path, f"without the headers {', '.join(sorted(missing))}")
        allowed = self.visitor.sees
        if self.route.pattern.startswith("admin/"):
            allowed = allowed | self.visitor.manages
        if self.route.name in REVEALS and method == "POST" and self.visitor.may_reveal and self.visitor.home:
            allowed = allowed | {(self.visitor.home, Kind.PERSONAL)}
        seen = self.world.found_in(answer.whole)
        self.done.seen |= seen
        for owner, kind in sorted(seen - allowed):
            self._found(method, path, f"{kind.name.lower()} of {owner}: …{_around(answer.whole, owner + kind)}…")
        is_stranger = self.visitor.home is None and not (self.visitor.sees or self.visitor.manages)
        if is_stranger and answer.status == 200 and self.route.name not in OPEN:
            self._found(method, path, "answers 200 to who is not signed in")

    def _same(self, path: str, method: str, pair: Pair, absent: tuple[str, str] | None = None) -> None:
        """`absent` names the answer of a missing one, which is asked for once while it stays the same."""
        if self._runs_it():
            pair.theirs()
            return
        missing = self.route.path(self.source.missing)
        for number in range(TRIES):
            one = pair.theirs().timeless().without(*pair.typed).without(missing)
            two = self.absent.get(absent) if absent and number == 0 else None
            if two is None:
                two = pair.missing().timeless().without(missing, *pair.nothing).without(missing)
            if absent:
                self.absent[absent] = two
            if one == two:
                return
        self._found(method, path, f"not the answer of a missing one: {_difference(one, two)}")

    def _runs_it(self) -> bool:
        """Whether all that is there is theirs to look after: what is missing may look otherwise."""
        if self.visitor.name == "platform operator":
            return bool(OF_THE_PLATFORM.search(self.route.pattern))
        return bool(self.visitor.manages) and self.route.pattern.startswith("admin/")

    def _found(self, method: str, path: str, what: str) -> None:
        self.done.leaks.append(Leak(self.visitor.name, method, path, what))


def _typed(values: Values) -> list[str]:
    """Names and ids; a plain word such as a role stands in a page for other reasons, too."""
    return [str(value) for value in values.values() if not str(value).isalpha()]


def _texts(value: object) -> list[str]:
    """Every text that was posted, long enough to be recognised in an answer."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return [value] if isinstance(value, str) and len(value) > 5 else []


def _naming_nothing(body: Body, house: House) -> Body:
    return Body(json.loads(json.dumps(body.data).replace(house.organisation.slug, NOWHERE)), body.is_json)


def _around(text: str, needle: str, reach: int = 40) -> str:
    at = text.lower().find(needle)
    return " ".join(text[max(0, at - reach) : at + reach].split())


def _difference(one: Answer, two: Answer) -> str:
    if one.status != two.status:
        return f"status {one.status} and {two.status}"
    if one.headers != two.headers:
        return f"headers {sorted(set(one.headers) ^ set(two.headers))}"
    for here, there in _pairs(one.body, two.body):
        if here != there:
            return f"body {here[:80]!r} and {there[:80]!r}"
    return "body of another length"


def _pairs(one: str, two: str) -> Iterator[tuple[str, str]]:
    yield from zip(one.splitlines(), two.splitlines(), strict=False)
