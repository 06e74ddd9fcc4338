"""An installation that others reach starts with settings fit for it, and otherwise names each one that is not."""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
USAGE = 2

FIT = {
    "CASEFLOW_SECRET_KEY": secrets.token_hex(32),
    "CASEFLOW_DATA_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
    "CASEFLOW_INSTALLATION_ID": str(uuid.uuid4()),
    "CASEFLOW_BASE_URL": "https://caseflow.example.org",
    "CASEFLOW_ALLOWED_HOSTS": "caseflow.example.org",
    "CASEFLOW_TRUST_PROXY": "1",
    "CASEFLOW_SYSTEMS": "payments=https://pay.example.org,subscriptions=https://sub.example.org:8443,"
    "mail=https://mail.example.org,addresses=https://pay.example.org/addresses",
    "CASEFLOW_OUTGOING_HOSTS": "pay.example.org,sub.example.org:8443,mail.example.org",
    "DATABASE_URL": "postgresql://caseflow_runtime:p@db.example.org/caseflow?sslmode=verify-full",
    "DATABASE_OWNER_URL": "postgresql://caseflow_owner:p@db.example.org/caseflow?sslmode=verify-full",
    "REDIS_URL": "rediss://redis.example.org/0",
    "CASEFLOW_DOCUMENTS_FOLDER": "/srv/caseflow/documents",
}

#: One wrong setting each, with the variable that is named for it.
WRONG: list[tuple[str, dict[str, str]]] = [
    ("CASEFLOW_SECRET_KEY", {"CASEFLOW_SECRET_KEY": "a1b2c3d4e5f6"}),
    ("CASEFLOW_SECRET_KEY", {"CASEFLOW_SECRET_KEY": "x" * 80}),
    ("CASEFLOW_SECRET_KEY", {"CASEFLOW_SECRET_KEY": f"django-insecure-{secrets.token_hex(32)}"}),
    ("CASEFLOW_SECRET_KEY", {"CASEFLOW_SECRET_KEY": "change-me-to-something-long-and-random-before-you-start-it"}),
    ("CASEFLOW_DATA_KEY", {"CASEFLOW_DATA_KEY": base64.b64encode(bytes(32)).decode()}),
    ("CASEFLOW_DATA_KEY", {"CASEFLOW_DATA_KEY": base64.b64encode(b"0123456789012345" * 2).decode()}),
    ("CASEFLOW_DEBUG", {"CASEFLOW_DEBUG": "1"}),
    ("CASEFLOW_FAST_HASH", {"CASEFLOW_FAST_HASH": "1"}),
    ("CASEFLOW_LOG_LEVEL", {"CASEFLOW_LOG_LEVEL": "DEBUG"}),
    ("CASEFLOW_FAILPOINTS", {"CASEFLOW_FAILPOINTS": "somewhere"}),
    ("CASEFLOW_CLOCK_SHIFT", {"CASEFLOW_CLOCK_SHIFT": "60"}),
    ("CASEFLOW_DATABASE_LIMITS", {"CASEFLOW_DATABASE_LIMITS": "-c statement_timeout=0"}),
    ("CASEFLOW_DEMO", {"CASEFLOW_DEMO": "1"}),
    ("DJANGO_SETTINGS_MODULE", {"DJANGO_SETTINGS_MODULE": "caseflow.settings_faults"}),
    ("SIMULATOR_URL", {"SIMULATOR_URL": "https://simulator.example.org"}),
    ("CASEFLOW_BASE_URL", {"CASEFLOW_BASE_URL": "http://caseflow.example.org"}),
    ("CASEFLOW_ALLOWED_HOSTS", {"CASEFLOW_ALLOWED_HOSTS": "*"}),
    ("CASEFLOW_ALLOWED_HOSTS", {"CASEFLOW_ALLOWED_HOSTS": ".example.org"}),
    ("CASEFLOW_ALLOWED_HOSTS", {"CASEFLOW_ALLOWED_HOSTS": "other.example.org"}),
    ("DATABASE_URL", {"DATABASE_URL": "postgresql://caseflow_runtime:p@db.example.org/caseflow"}),
    ("DATABASE_URL", {"DATABASE_URL": "postgresql://caseflow_runtime:p@db.example.org/caseflow?sslmode=disable"}),
    ("DATABASE_URL", {"DATABASE_URL": "postgresql://caseflow_owner:p@db.example.org/caseflow?sslmode=verify-full"}),
    ("DATABASE_OWNER_URL", {"DATABASE_OWNER_URL": "postgresql://caseflow_owner:p@db.example.org/caseflow"}),
    ("REDIS_URL", {"REDIS_URL": "redis://redis.example.org/0"}),
    ("CASEFLOW_OUTGOING_HOSTS", {"CASEFLOW_OUTGOING_HOSTS": ""}),
    ("CASEFLOW_SYSTEMS", {"CASEFLOW_SYSTEMS": "payments=http://pay.example.org"}),
    ("CASEFLOW_DOCUMENTS_FOLDER", {"CASEFLOW_DOCUMENTS_FOLDER": ""}),
]


def started(*arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
    """`manage.py` with this environment and nothing else of ours."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "HOME", "VIRTUAL_ENV")}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=kept | FIT | changed, capture_output=True, text=True, timeout=100)


def test_an_installation_fit_for_others_is_clean_to_the_last_warning() -> None:
    ran = started("check", "--deploy", "--fail-level", "WARNING")

    assert (ran.returncode, ran.stderr, ran.stdout.strip()) == (
        0,
        "",
        "System check identified no issues (1 silenced).",
    )


def test_every_wrong_setting_is_named_at_once() -> None:
    ran = started("check", CASEFLOW_DEBUG="1", REDIS_URL="redis://redis.example.org/0", CASEFLOW_FAST_HASH="1")

    assert ran.returncode == USAGE
    assert {line.partition(":")[0] for line in ran.stderr.splitlines()[:3]} == {
        "CASEFLOW_DEBUG",
        "REDIS_URL",
        "CASEFLOW_FAST_HASH",
    }


@pytest.mark.parametrize("command", [("run_dispatcher",), ("migrate",), ("check",)])
def test_nothing_starts_with_a_wrong_setting(command: tuple[str, ...]) -> None:
    ran = started(*command, CASEFLOW_DEBUG="1")

    assert (ran.returncode, ran.stderr.partition(":")[0]) == (USAGE, "CASEFLOW_DEBUG")


def test_the_web_server_does_not_start_either() -> None:
    kept = {"PATH": os.environ["PATH"]} | FIT | {"CASEFLOW_DEBUG": "1"}
    command = [sys.executable, "-c", "import caseflow.wsgi"]
    ran = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, text=True, timeout=100)

    assert ran.returncode != 0
    assert "CASEFLOW_DEBUG" in ran.stderr.splitlines()[-1]


def test_an_adapter_at_a_host_that_is_not_on_the_list_is_named() -> None:
    ran = started("check", CASEFLOW_OUTGOING_HOSTS="pay.example.org,mail.example.org")

    assert ran.returncode != 0
    assert "the adapter subscriptions cannot be made: requests to sub.example.org:8443 are not allowed" in ran.stderr


def test_on_this_machine_alone_it_starts_and_the_check_for_deployment_says_what_is_wrong() -> None:
    here = {
        "CASEFLOW_BASE_URL": "http://127.0.0.1:8000",
        "CASEFLOW_ALLOWED_HOSTS": "127.0.0.1",
        "SIMULATOR_URL": "http://127.0.0.1:9",
    }

    assert started("check", **here).returncode == 0
    ran = started("check", "--deploy", "--fail-level", "WARNING", **here)
    assert ran.returncode != 0
    for named in ("CASEFLOW_BASE_URL is not https", "CASEFLOW_BASE_URL names this machine only", "SIMULATOR_URL names"):
        assert f"(caseflow.E040) {named}" in ran.stderr


#: Reads the settings anew for each environment, in an interpreter that loads nothing else.
_ASK = """
import importlib, json, os, sys
found = []
for told in json.load(sys.stdin):
    os.environ.clear()
    os.environ.update(told)
    import caseflow.settings_environment, caseflow.production
    importlib.reload(caseflow.settings_environment)
    found.append(sorted({name for name, _ in importlib.reload(caseflow.production).wrong_settings()}))
print(json.dumps(found))
"""


def test_each_single_wrong_setting_is_named_and_nothing_else() -> None:
    told = json.dumps([FIT, *(FIT | changed for _, changed in WRONG)])
    command = [sys.executable, "-c", _ASK]
    ran = subprocess.run(command, cwd=ROOT, input=told, capture_output=True, text=True, timeout=100)

    assert ran.stderr == ""
    fit, *found = json.loads(ran.stdout)
    assert fit == []
    for (named, changed), names in zip(WRONG, found, strict=True):
        assert names == [named], changed
