"""Whatever the description allows to be sent, and much that it does not: the answer is one that it describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from django.conf import settings as configured
from django.middleware.csrf import CSRF_ALLOWED_CHARS, CSRF_SECRET_LENGTH
from django.utils.crypto import get_random_string
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pytest_django.plugin import DjangoDbBlocker
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from accounts.principal import SYSTEM
from accounts.services import grant_roles
from caseflow.domain.roles import Role
from caseflow.wsgi import application
from tests.leaks.asking import Visitor, visitor
from tests.leaks.routes import all_routes
from tests.leaks.sources import source_of
from tests.leaks.world import World, standing, undone

EXAMPLES = 10  #: of each operation, visitor and way of generating
#: What a client does wrong besides what is generated from the description.
SPOILT = ("", "", "", "query", "accept", "kind", "token", "session")
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: Any) -> Iterator[World]:
    with django_db_blocker.unblock(), standing(simulator) as built:
        everybody = built.home.people[Role.APPROVER]
        grants = [(everybody, role) for role in Role if role is not Role.REPORT_READER]
        grant_roles(organisation=built.home.organisation, grants=grants, by=SYSTEM)
        yield built


@pytest.fixture(scope="module")
def operations() -> list[Any]:
    described = SchemaGenerator().get_schema(request=None, public=True)
    schema = schemathesis.openapi.from_dict(described)
    schema.app = _served
    return [found.ok() for found in schema.get_all_operations()]


def _served(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """The application as a server has it: an answer is read to its end and closed, and a file of it with it."""
    answer = application(environ, start_response)
    try:
        return [b"".join(answer)]
    finally:
        answer.close()


def named(world: World, path: str) -> list[dict[str, Any]]:
    """Parameters of addresses that are there: of the visitor's organisation and of the other."""
    pattern = path.removeprefix("/").replace("{", "<str:").replace("}", ">")
    route = next(route for route in all_routes() if route.pattern == pattern)
    source = source_of(route)
    assert source is not None
    return [values for house in world.houses for values in source.of(house)]


def signed_in(who: Visitor) -> dict[str, Any]:
    cookies = {name: morsel.value for name, morsel in who.cookies.items()}
    if not cookies:
        return {"headers": who.headers}
    token = get_random_string(CSRF_SECRET_LENGTH, CSRF_ALLOWED_CHARS)
    return {"headers": {"X-CSRFToken": token}, "cookies": cookies | {configured.CSRF_COOKIE_NAME: token}}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("who", ["anonymous", "machine", "approver"])  # who holds every other role as well
def test_every_answer_is_described_and_none_is_a_failure(
    who: str, mode: GenerationMode, world: World, operations: list[Any]
) -> None:
    told, found = signed_in(visitor(who, world)), []
    for operation in operations:
        try:
            _tried(operation, mode, told, named(world, operation.path))()
        except FailureGroup as failures:
            found += [f"{operation.label}: {one}" for one in failures.exceptions]

    assert not found, "\n\n".join(found)


def _tried(
    operation: Any, mode: GenerationMode, told: dict[str, Any], there: list[dict[str, Any]]
) -> Callable[[], None]:
    @given(
        case=operation.as_strategy(generation_mode=mode),
        values=st.sampled_from(there),
        is_real=st.booleans(),
        spoil=st.sampled_from(SPOILT),
    )
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    def try_it(case: Any, values: dict[str, Any], is_real: bool, spoil: str) -> None:
        if values and is_real:
            case.path_parameters = {**case.path_parameters, **values}
        said = _spoilt(case, spoil, told)
        with undone():
            case.call_and_validate(checks=CHECKS, **said)

    return try_it


def _spoilt(case: Any, spoil: str, told: dict[str, Any]) -> dict[str, Any]:
    headers = told["headers"]
    match spoil:
        case "query":
            case.query = {**(case.query or {}), "staet": "x"}
        case "accept":
            headers = headers | {"Accept": "text/csv"}
        case "kind" if case.body and case.method != "GET":
            headers = headers | {"Content-Type": "application/xml"}
        case "token":
            headers = headers | {"Authorization": "Bearer cf_nothing"}
        case "session":
            headers = headers | {"X-CSRFToken": "x"}
    return told | {"headers": headers}
