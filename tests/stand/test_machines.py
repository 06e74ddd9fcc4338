"""What runs where is said once: the process file, compose.yaml and the image are the same processes and settings."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands

from caseflow.healthy import is_healthy
from cases.models.task import QUICK, SLOW
from stand.environment import CHECKOUT
from stand.machines.__main__ import is_right
from stand.machines.machine import by_way_of, port_of
from stand.ports import free_port
from stand.procfile import FORMATION, names_of, read_procfile

COMPOSE: dict[str, Any] = yaml.safe_load((CHECKOUT / "compose.yaml").read_text(encoding="utf-8"))
CONTAINERFILE = (CHECKOUT / "Containerfile").read_text(encoding="utf-8")
OURS = ("migrate", "web", "worker", "slow", "dispatcher")
#: Variables of others: gunicorn's port, and what the images of PostgreSQL read.
OF_OTHERS = {"PORT", "DJANGO_SETTINGS_MODULE", "PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
OF_POSTGRES = {"CASEFLOW_OWNER_PASSWORD", "CASEFLOW_RUNTIME_PASSWORD"}


def settings_in_code() -> set[str]:
    """The names of the environment that the settings read."""
    text = (CHECKOUT / "caseflow" / "settings_environment.py").read_text(encoding="utf-8")
    inside, outside = text.split("with env.prefixed", 1)[1].split("\ndatabase_url", 1)
    named = re.compile(r'env\.\w+\(\s*"([A-Z_]+)"')
    return {f"CASEFLOW_{name}" for name in named.findall(inside)} | set(named.findall("database_url" + outside))


def examples(name: str) -> dict[str, str]:
    lines = (CHECKOUT / "deploy" / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_compose_runs_what_the_process_file_says_as_often_as_one_machine_does() -> None:
    said = read_procfile()
    assert set(said) == set(OURS)
    for kind, command in said.items():
        service = COMPOSE["services"][kind]
        assert service["command"] == command
        assert service.get("deploy", {}).get("replicas", 1) == FORMATION.get(kind, 1)
    named = ["web", "worker-1", "worker-2", "slow", "dispatcher-1", "dispatcher-2"]
    assert [name for name, _ in names_of(FORMATION)] == named


def test_what_waits_for_models_holds_no_thread_of_what_does_not() -> None:
    queues = {
        kind: command[command.index("--queues") + 1]
        for kind, command in read_procfile().items()
        if "--queues" in command
    }
    assert queues == {"worker": QUICK, "slow": SLOW}


def test_every_command_that_is_named_exists() -> None:
    for command in read_procfile().values():
        assert command[0] == "python"
        if command[1] == "manage.py":
            assert command[2] in get_commands()
        else:
            assert command[1] == "-m" and find_spec(command[2])
            assert find_spec("caseflow.web_server") and find_spec("caseflow.wsgi")


def test_every_variable_that_is_set_is_a_setting() -> None:
    known = settings_in_code() | OF_OTHERS
    assert "CASEFLOW_HEALTH_PORT" in known and "DATABASE_OWNER_URL" in known
    for kind in OURS:
        assert set(COMPOSE["services"][kind].get("environment", {})) <= known
    assert set(examples("caseflow.env.example")) <= known
    assert set(examples("owner.env.example")) <= known | OF_POSTGRES | {"POSTGRES_PASSWORD"}
    assert set(re.findall(r"\$CASEFLOW_\w+", (CHECKOUT / "deploy" / "roles.sh").read_text())) == {
        f"${name}" for name in OF_POSTGRES
    }
    image = set(re.findall(r"^(?:ENV|   ) ?(\w+)=", CONTAINERFILE, re.MULTILINE))
    assert image and image <= known


def test_only_the_migrating_step_and_postgresql_are_told_the_owners_password() -> None:
    told = {
        name
        for name, service in COMPOSE["services"].items()
        if "owner.env" in ([files] if isinstance(files := service.get("env_file", []), str) else files)
    }
    assert told == {"migrate", "postgres"}
    assert "DATABASE_OWNER_URL" not in examples("caseflow.env.example")


def test_nothing_is_open_to_others_and_no_secret_stands_in_the_files() -> None:
    ports = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
    assert ports == ["127.0.0.1:8000:8000"]
    secret = {name for name in examples("caseflow.env.example") if name.endswith(("_KEY", "_ID"))}
    assert len(secret) == 3 and not any(examples("caseflow.env.example")[name] for name in secret)
    ignored = (CHECKOUT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"caseflow.env", "owner.env", "valkey-users.acl"} <= set(ignored)
    for service in COMPOSE["services"].values():
        assert not {name for name in service.get("environment", {}) if name.endswith(("KEY", "PASSWORD", "_URL"))}


def test_valkey_keeps_what_it_has_and_refuses_what_it_has_no_room_for() -> None:
    command = COMPOSE["services"]["valkey"]["command"]
    told = dict(zip(command[1::2], command[2::2], strict=True))
    assert told["--appendonly"] == "yes" and told["--maxmemory-policy"] == "noeviction"


def test_images_are_named_with_their_tag_and_ours_is_a_python_that_the_product_runs_on() -> None:
    images = [one["image"] for one in COMPOSE["services"].values()] + re.findall(r"^FROM (\S+)", CONTAINERFILE, re.M)
    for image in images:
        assert re.fullmatch(r"[\w./-]+:[\w.-]+", image) and not image.endswith(":latest"), image
    bases = set(re.findall(r"^FROM \S+/python:3\.(\d+)-slim", CONTAINERFILE, re.MULTILINE))
    assert bases == {"13"}


def test_the_image_runs_as_nobody_in_particular_is_asked_for_its_health_and_stopped_in_order() -> None:
    last = CONTAINERFILE.split("FROM ")[-1]
    assert re.findall(r"^USER (\S+)$", last, re.MULTILINE) == ["10001:10001"]
    assert "\nSTOPSIGNAL SIGTERM\n" in last and '["python", "-m", "caseflow.healthy"]' in last
    assert "--require-hashes" in CONTAINERFILE and "lock/runtime.txt" in CONTAINERFILE


def test_the_image_holds_every_room_of_the_product_and_nothing_else() -> None:
    copied = {name.rstrip("/") for name in re.findall(r"^COPY (\w+/) ", CONTAINERFILE, re.MULTILINE)}
    apps = {app.split(".")[0] for app in settings.INSTALLED_APPS}
    rooms = {app for app in apps if (CHECKOUT / app).is_dir()}
    assert copied == rooms | {"integrations", "locale", "static", "templates"}
    allowed = (CHECKOUT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert allowed[0] == "*" and {f"!{name}/" for name in copied} <= set(allowed)


@pytest.mark.parametrize(
    "linter",
    [
        ["yamllint", "--strict", "compose.yaml"],
        ["check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"],
        ["hadolint", "Containerfile"],
    ],
    ids=lambda linter: linter[0],
)
def test_a_linter_of_others_finds_nothing(linter: list[str]) -> None:
    program = Path(sys.executable).with_name(linter[0])
    done = subprocess.run([program, *linter[1:]], cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


class Answers(BaseHTTPRequestHandler):
    hosts: list[str] = []

    def do_GET(self) -> None:
        self.hosts.append(self.headers["Host"])
        self.send_response(200 if self.path in ("/healthz", "/livez") else 404)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_container_is_healthy_when_its_process_answers_under_its_own_name(port: int) -> None:
    Answers.hosts.clear()
    assert is_healthy({"PORT": str(port), "CASEFLOW_BASE_URL": "https://caseflow.example.org"})
    assert is_healthy({"CASEFLOW_HEALTH_PORT": str(port)})
    assert Answers.hosts == ["caseflow.example.org", "127.0.0.1"]
    assert not is_healthy({"PORT": str(free_port())})
    assert not is_healthy({})


def test_a_cut_off_machine_is_told_the_same_servers_by_another_way() -> None:
    url = "postgresql://caseflow_runtime:p%40ss@127.0.0.1:5432/caseflow?sslmode=require"
    there = by_way_of(url, 6000)
    assert there == "postgresql://caseflow_runtime:p%40ss@127.0.0.1:6000/caseflow?sslmode=require"
    assert port_of(there) == 6000


def test_two_machines_pass_only_with_nothing_lost_and_everything_verified() -> None:
    right: dict[str, Any] = dict.fromkeys(
        ("lost", "doubled", "called_done_early", "unexpected_ends", "not_at_rest", "unanswered"), 0
    )
    right |= {"accepted": 5, "wrong_answers": [], "invariants": "clean", "audit": "verifies"}
    assert is_right(right)
    for name, wrong in {
        "lost": 1,
        "doubled": 1,
        "accepted": 0,
        "audit": "does not verify",
        "wrong_answers": ["x"],
    }.items():
        assert not is_right(right | {name: wrong})
