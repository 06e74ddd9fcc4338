"""What the product is made of: a bill of materials (CycloneDX) from the lock, and an audit of it for known holes.

`python -m stand.supply bill` writes and validates `.stand/sbom.json`. `python -m stand.supply audit` asks the service
that knows of vulnerabilities (OSV), where it can be reached, and says so where it cannot.
"""

import argparse
import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from stand.environment import CHECKOUT, FOLDER

LOCK = CHECKOUT / "lock" / "runtime.txt"
BILL = FOLDER / "sbom.json"
SERVICE = "https://api.osv.dev/"
PATIENCE = 2.0  #: seconds to find out whether the service is there


class WrongBill(Exception):
    """The bill does not name what the lock names."""


def locked() -> dict[str, str]:
    """Version by name of every package of the lock."""
    lines = [line.split(" ")[0] for line in LOCK.read_text().splitlines() if "==" in line and not line.startswith(" ")]
    return {name.lower(): version for name, _, version in (line.partition("==") for line in lines)}


def write_bill(path: Path = BILL) -> dict[str, str]:
    """Version by name as the bill names them. Raises CalledProcessError for one that is not valid, WrongBill."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The same lock gives the same bytes; the tool validates what it wrote by the schema of the format.
    # It warns that a lock does not tell which package asked for which.
    python = [sys.executable, "-W", "ignore::UserWarning", "-m", "cyclonedx_py"]
    command = [*python, "requirements", str(LOCK), "--pyproject", "pyproject.toml"]
    form = ["--mc-type", "application", "--output-format", "JSON", "--spec-version", "1.6", "--output-reproducible"]
    subprocess.run([*command, *form, "--validate", "--output-file", str(path)], cwd=CHECKOUT, check=True)
    components = json.loads(path.read_text())["components"]
    named = {one["name"].lower(): one.get("version", "") for one in components}
    if named != locked():
        raise WrongBill(f"in the bill or in the lock only: {sorted(set(named.items()) ^ set(locked().items()))}")
    return named


def is_there(service: str = SERVICE) -> bool:
    """Any answer will do."""
    try:
        urllib.request.urlopen(service, timeout=PATIENCE).close()
    except urllib.error.HTTPError:
        return True
    except (urllib.error.URLError, OSError, ValueError):
        return False
    return True


def audit(service: str = SERVICE) -> int:
    """pip-audit's exit code; 0 where it was not run."""
    if not is_there(service):
        print(f"vulnerability audit: not run, {service} cannot be reached from here", flush=True)
        return 0
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(LOCK), "--require-hashes", "--disable-pip"]
    told = ["--vulnerability-service", "osv", "--osv-url", f"{service}v1/query", "--progress-spinner", "off"]
    return subprocess.run([*command, *told], cwd=CHECKOUT).returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.supply", description=__doc__)
    parser.add_argument("what", choices=["bill", "audit"])
    if parser.parse_args().what == "audit":
        return audit()
    named = write_bill()
    print(f"bill of materials: {len(named)} packages, {BILL.relative_to(CHECKOUT)}, valid")
    return 0


if __name__ == "__main__":
    sys.exit(main())
