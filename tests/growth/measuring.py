"""One process on one of the two databases, asked over its standard input: a JSON object a line, answered by one.

`{"do": "carry", "cases": 10}` · `{"do": "pages"}` · `{"do": "look", "name": "home", "times": 3}` ·
`{"do": "queries", "name": "home"}`
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import django


def main() -> int:
    # What others print must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    django.setup()
    from django.conf import settings

    from tests.growth import pages, path

    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]

    def answer(asked: dict[str, Any]) -> Any:
        match asked["do"]:
            case "carry":
                return path.carry(asked["cases"])
            case "pages":
                return list(pages.addresses())
            case "look":
                return pages.look(asked["name"], asked["times"])
            case "queries":
                return pages.count_queries(asked["name"])

    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
