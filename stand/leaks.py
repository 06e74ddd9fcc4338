"""`make leaks`: everybody at every address, and every command with everybody's rights; the last line counts them."""

import subprocess
import sys
from pathlib import Path

from stand.environment import CHECKOUT, temporary_folder
from stand.testrun import servers


def main(arguments: list[str]) -> int:
    with temporary_folder() as folder, servers(folder) as environment:
        line = folder / "leaks-line"
        told = environment | {"CASEFLOW_FAST_HASH": "1", "CASEFLOW_LEAKS_LINE": str(line)}
        command = [sys.executable, "-m", "pytest", "tests/leaks", "-q", *arguments]
        code = subprocess.run(command, cwd=CHECKOUT, env=told, stdin=subprocess.DEVNULL).returncode
        print(_last_line(line) if code in (0, 1) else f"the walk did not end: pytest says {code}")
    return code


def _last_line(path: Path) -> str:
    return path.read_text() if path.exists() else "nothing was walked"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
