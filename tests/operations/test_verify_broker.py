"""The message server says no instead of losing a message in silence, or the command says what to set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis

from stand.valkey import EmbeddedValkey
from tests.commands.conftest import Run


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedValkey]:
    with EmbeddedValkey(tmp_path_factory.mktemp("bell")) as server:
        yield server


@pytest.fixture
def bell(server: EmbeddedValkey, settings: Any) -> Iterator[redis.Redis]:
    """A server of its own, set as in production; put back after the test."""
    settings.REDIS_URL = server.url()
    with redis.Redis.from_url(server.url()) as client:
        client.flushall()
        kept = {name: client.config_get(name)[name] for name in ("maxmemory-policy", "appendonly", "requirepass")}
        yield client
        for name, value in kept.items():
            client.config_set(name, value)


def wrong(run: Run) -> list[str]:
    ran = run("verify_broker", "--json")
    told = ran.json()
    found = [check["check"] for check in told["checks"] if not check["holds"]]
    assert told["holds"] == (not found)
    assert ran.code == (3 if found else 0)
    assert all(check["advice"] for check in told["checks"] if not check["holds"])
    return found


def test_a_server_set_as_it_should_be_passes_every_check(bell: redis.Redis, run: Run) -> None:
    bell.set("caseflow:quick", "ours")
    assert wrong(run) == []
    text = run("verify_broker")
    assert text.code == 0
    assert "valkey" in text.out


@pytest.mark.parametrize(
    ("name", "value", "check"),
    [("maxmemory-policy", "allkeys-lru", "eviction"), ("appendonly", "no", "persistence")],
)
def test_a_server_that_would_lose_messages_is_named(
    name: str, value: str, check: str, bell: redis.Redis, run: Run
) -> None:
    bell.config_set(name, value)
    assert wrong(run) == [check]
    text = run("verify_broker")
    assert "WRONG" in text.out
    assert f"Set {name}" in text.out


def test_a_server_without_a_password_is_named_even_when_the_address_has_one(bell: redis.Redis, run: Run) -> None:
    bell.config_set("requirepass", "")
    assert wrong(run) == ["password"]


def test_keys_of_somebody_else_are_named(bell: redis.Redis, run: Run) -> None:
    bell.set("celery-task-meta", "theirs")
    assert wrong(run) == ["dedicated"]
    assert "celery-task-meta" in run("verify_broker").out


def test_another_database_of_the_server_that_is_used_is_told_and_no_fault(
    bell: redis.Redis, server: EmbeddedValkey, run: Run
) -> None:
    with redis.Redis.from_url(server.url(3)) as other:
        other.set("x", "y")
        assert wrong(run) == []
        assert "database db3" in run("verify_broker").out


def test_a_server_that_does_not_answer_or_refuses_is_a_failure(bell: redis.Redis, settings: Any, run: Run) -> None:
    good = urlsplit(settings.REDIS_URL)
    settings.REDIS_URL = f"redis://:wrong@127.0.0.1:{good.port}/0"
    assert run("verify_broker").code == 1
    settings.REDIS_URL = "redis://:x@127.0.0.1:9/0"
    ran = run("verify_broker")
    assert (ran.code, "does not answer" in ran.failure) == (1, True)
    assert "wrong" not in ran.failure


def test_nothing_is_written_by_looking(bell: redis.Redis, run: Run, tmp_path: Path) -> None:
    bell.set("caseflow:quick", "ours")
    before = bell.info("stats")["total_commands_processed"]  # type: ignore[index]
    run("verify_broker")
    assert bell.dbsize() == 1
    assert bell.info("stats")["total_commands_processed"] > before  # type: ignore[index]
