"""`make smoke`: one ticket through the public API and real processes, without a person, in a fresh folder."""

import sys

from stand.environment import temporary_folder
from stand.system import System


def main() -> int:
    from stand.smoke_story import run

    with temporary_folder() as folder:
        environment = {"CASEFLOW_DEMO": "1", "CASEFLOW_UNDO_SECONDS": "0"}
        system = System(folder, environment=environment, tell=lambda line: print(line, file=sys.stderr))
        try:
            with system:
                try:
                    return int(run(system) or 0)
                except BaseException:
                    for role in system.processes.roles:
                        print(f"--- {role}\n{system.processes.log_tail(role)}", file=sys.stderr)
                    raise
        finally:
            system.discard()


if __name__ == "__main__":
    sys.exit(main())
