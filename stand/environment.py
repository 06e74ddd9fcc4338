"""What the product is told at start: addresses, secrets made once and kept, ports that stay the same while free."""

import base64
import fcntl
import json
import os
import secrets
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

CHECKOUT = Path(__file__).resolve().parent.parent
FOLDER = CHECKOUT / ".stand"


def _load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def _save(path: Path, values: Mapping[str, object]) -> None:
    scratch = path.with_suffix(".new")
    with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(values, file, indent=1)
    scratch.replace(path)


def load_or_make_secrets(folder: Path) -> dict[str, str]:
    """This folder's secrets as environment variables; made at the first call."""
    path = folder / "secrets.json"
    known = _load(path)
    if not known:
        known = {
            "CASEFLOW_SECRET_KEY": secrets.token_urlsafe(48),
            "CASEFLOW_DATA_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
            "CASEFLOW_INSTALLATION_ID": str(uuid.uuid4()),
        }
        _save(path, known)
    return known


def remembered_port(folder: Path, name: str) -> int:
    """The port that this server had the last time, or 0."""
    return int(_load(folder / "ports.json").get(name, 0))


def remember_ports(folder: Path, ports: Mapping[str, int]) -> None:
    """Keep the ports for the next start."""
    path = folder / "ports.json"
    _save(path, _load(path) | {name: str(port) for name, port in ports.items()})


def remember_demo(folder: Path, **values: object) -> None:
    """Keep what a demo that runs here is told and answered, readable by its owner only."""
    path = folder / "demo.json"
    _save(path, {**_load(path), **values})


def remembered_demo(folder: Path) -> dict[str, Any]:
    """What `remember_demo` kept; empty where no demo ran."""
    return dict(_load(folder / "demo.json"))


def with_database(url: str, name: str) -> str:
    """The same server's address with another database (PostgreSQL) or database number (Redis)."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def product_environment(
    folder: Path,
    *,
    database_url: str,
    owner_url: str,
    redis_url: str,
    simulator_url: str,
    base_url: str,
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The environment of every process of the product. What the caller's environment says about CASEFLOW_* is kept."""
    return {
        **load_or_make_secrets(folder),
        "CASEFLOW_ALLOWED_HOSTS": "127.0.0.1,localhost",
        "CASEFLOW_DOCUMENTS_FOLDER": str(folder / "documents"),
        # On a machine of one's own a program that is told of cases may stand beside this one.
        "CASEFLOW_HOOK_HOSTS": "*",
        "CASEFLOW_HOOK_PRIVATE": "1",
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "caseflow.settings",
        "PYTHONUNBUFFERED": "1",
        "DATABASE_URL": database_url,
        "DATABASE_OWNER_URL": owner_url,
        "REDIS_URL": redis_url,
        "SIMULATOR_URL": simulator_url,
        "CASEFLOW_BASE_URL": base_url,
        **(extra or {}),
    }


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """Hold the folder for one stand; a second one is told so. The kernel lets go when the holder dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"Another stand uses {folder}. Stop it first.")
        yield


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that PostgreSQL's account can pass, removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="caseflow-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
