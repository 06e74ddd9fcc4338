from typing import Any

from stand.system import System


def measure_ceiling(system: System) -> dict[str, Any]:
    raise NotImplementedError
