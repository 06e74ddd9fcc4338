"""Everybody who may come, and what they get: one request in a transaction that is undone, so that the world stays."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

from django.core.handlers.base import BaseHandler
from django.http import HttpResponseBase
from django.test import Client, RequestFactory

from accounts.models import Person
from caseflow.domain.roles import RIGHTS_OF_ROLE, Right, Role

from .bodies import Body
from .canaries import Kind, Owner
from .world import World, undone

FEW_CHARACTERS = 4


@dataclass
class Visitor:
    """Somebody with a browser or a token. `sees` are the words they may read anywhere, `manages` those in /admin/."""

    name: str
    home: Owner | None
    sees: frozenset[tuple[Owner, Kind]] = frozenset()
    manages: frozenset[tuple[Owner, Kind]] = frozenset()
    may_reveal: bool = False
    username: str = ""
    looks_at_all: bool = False  #: at a case in every standing, not at a few
    searches: bool = False
    posts_all: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    cookies: SimpleCookie = field(default_factory=SimpleCookie)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Answer:
    """What came back, as text that can be searched and compared."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str

    @property
    def whole(self) -> str:
        return "\n".join([*(f"{name}: {value}" for name, value in self.headers), "", self.body])

    def timeless(self) -> Answer:
        """The same answer whenever it was asked for."""
        headers = tuple((name, _MOMENT.sub("@moment", value)) for name, value in self.headers)
        drawn = _DRAWN.sub(lambda found: re.sub(r"[\d.]+", "@number", found[0]), self.body)
        return Answer(self.status, headers, _SPAN.sub(">@span<", _TIME.sub("@time", drawn)))

    def without(self, *typed: str) -> Answer:
        """The same answer with what the visitor typed taken out, wherever it was repeated.

        A text of a few characters stays: it stands in a page for many reasons.
        """
        headers, body = self.headers, self.body
        texts = {form for one in typed if len(one) > FEW_CHARACTERS for form in _forms(one)}
        for text in sorted(texts, key=len, reverse=True):
            headers = tuple((name, value.replace(text, "@")) for name, value in headers)
            body = body.replace(text, "@")
        return Answer(self.status, headers, body)


#: Everybody: nobody, each role at home, somebody elsewhere, machines, and who looks after all.
VISITORS = (
    "anonymous",
    *(role.value for role in Role),
    "other organisation",
    "machine",
    "other machine",
    "platform operator",
    "superuser",
)
#: They look at a case in every standing, not at a few.
THOROUGH = frozenset({"operator", "approver"})
#: They post everything there is to post.
POSTING = frozenset({"operator", "approver", "org_admin", "other organisation", "machine", "anonymous"})
#: They try every query: what is in sight does not hang on the role any further.
SEARCHING = frozenset({"viewer", "other organisation", "machine", "platform operator", "superuser"})


def visitor(name: str, world: World) -> Visitor:
    found = _visitor(name, world)
    found.looks_at_all, found.searches = name in THOROUGH, name in SEARCHING
    found.posts_all = name in POSTING
    return found


def _visitor(name: str, world: World) -> Visitor:
    names = frozenset((owner, Kind.NAME) for owner in Owner)
    match name:
        case "anonymous":
            return Visitor(name, None)
        case "other organisation":
            return _person(name, world.away.people[Role.APPROVER], Owner.AWAY, {Role.APPROVER})
        case "machine":
            return _machine(name, world, Owner.HOME)
        case "other machine":
            return _machine(name, world, Owner.AWAY)
        case "platform operator":
            return _signed_in(Visitor(name, None, sees=names), world.platform_operator)
        case "superuser":
            return _signed_in(Visitor(name, None, manages=names), world.superuser)
    role = Role(name)
    return _person(name, world.home.people[role], Owner.HOME, {role})


def _person(name: str, person: Person, home: Owner, roles: set[Role]) -> Visitor:
    rights = frozenset().union(*(RIGHTS_OF_ROLE[role] for role in roles))
    kinds = {Kind.NAME} | ({Kind.CONTENT} if Right.SEE_CASES in rights else set())
    sees = frozenset((home, kind) for kind in kinds)
    return _signed_in(Visitor(name, home, sees=sees, may_reveal=Right.REVEAL in rights), person)


def _signed_in(visitor: Visitor, person: Person) -> Visitor:
    visitor.username = person.username
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    visitor.cookies = client.cookies
    return visitor


def _machine(name: str, world: World, home: Owner) -> Visitor:
    sees = frozenset({(home, Kind.NAME), (home, Kind.CONTENT)})
    token = world.house(home).tokens["machine"]
    return Visitor(name, home, sees=sees, headers={"Authorization": f"Bearer {token}"})


def ask(visitor: Visitor, path: str, query: Mapping[str, str] | None = None) -> Answer:
    return _send(visitor, "get", f"{path}?{urlencode(query)}" if query else path)


def post(visitor: Visitor, path: str, body: Body) -> Answer:
    if body.is_json:
        return _send(visitor, "post", path, data=json.dumps(body.data), content_type="application/json")
    return _send(visitor, "post", path, data=dict(body.data))


def _send(visitor: Visitor, method: str, path: str, **more: Any) -> Answer:
    named = {"HTTP_COOKIE": "; ".join(f"{name}={morsel.value}" for name, morsel in visitor.cookies.items())}
    request = getattr(RequestFactory(**named, headers=visitor.headers), method)(path, **more)
    request._dont_enforce_csrf_checks = True  # a forged press is another test's matter
    with undone():
        return _read(_door().get_response(request))


@cache
def _door() -> BaseHandler:
    """The application behind its middleware. Django's test client would copy the context of every template."""
    handler = BaseHandler()
    handler.load_middleware()
    return handler


#: Headers that differ from one request to the next by what they are.
_VOLATILE = {"x-request-id", "content-length", "date"}
_CSRF = re.compile(r'(name="csrfmiddlewaretoken" value=")[^"]*|(csrfToken["\']?\s*[:=]\s*["\'])[^"\']*')
_REQUEST = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


_TIME = re.compile(r"<time\b[^>]*>.*?</time>", re.DOTALL)
#: A drawing of ages is another a moment later; what it says stands in the table under it, too.
_DRAWN = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
#: An age that fills a cell.
_SPAN = re.compile(r">(?:\d+ (?:s|min|h|d)\s?)+<")
_MOMENT = re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT")


def _read(response: HttpResponseBase) -> Answer:
    raw = b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]
    response.close()  # a file that was sent is open until then
    body = _REQUEST.sub("@request", _CSRF.sub(r"\1\2@csrf", raw.decode("utf-8", "replace")))
    headers = [(name.lower(), value) for name, value in response.items() if name.lower() not in _VOLATILE]
    # Of a cookie its name and its rules: what is in it is random.
    headers += [("set-cookie", f"{name} {dict(morsel)}") for name, morsel in response.cookies.items()]
    return Answer(response.status_code, tuple(sorted(headers)), body)


def _forms(text: str) -> set[str]:
    """The spellings in which a page may repeat what was typed."""
    encoded = urlencode({"": text})[1:]
    return {text, encoded, encoded.replace("+", "%20")}
