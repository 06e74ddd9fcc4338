"""Dumps of the test database and copies made from them, by the server's own programs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.db import connection
from psycopg import sql

from stand.unprivileged import find_account, reachable_binaries


def _address(database: str, of: str = "CASEFLOW_TEST_SUPERUSER_URL") -> str:
    return urlunsplit(urlsplit(os.environ[of])._replace(path=f"/{database}"))


def _run(program: str, *arguments: str) -> bytes:
    environment = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
    argv = [str(reachable_binaries(find_account()) / program), *arguments]
    return subprocess.run(argv, check=True, capture_output=True, env=environment, timeout=100).stdout


def dump() -> bytes:
    """The whole test database as SQL."""
    return _run("pg_dump", "--format=plain", _address(connection.settings_dict["NAME"]))


@contextmanager
def restored(folder: Path) -> Iterator[dict[str, str]]:
    """A database made from a dump of this one; yields the environment that names it."""
    name = f"{connection.settings_dict['NAME']}_restored"
    file = folder / "dump.sql"
    file.write_bytes(dump())
    with psycopg.connect(_address("postgres"), autocommit=True) as root:
        copy = sql.Identifier(name)
        root.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(copy))
        root.execute(sql.SQL("CREATE DATABASE {}").format(copy))
        try:
            _run("psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={file}", _address(name))
            yield {of: _address(name, of) for of in ("DATABASE_URL", "DATABASE_OWNER_URL")}
        finally:
            root.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(copy))
