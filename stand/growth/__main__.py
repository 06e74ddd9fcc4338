"""`make bench-growth`: what a case and a page cost with a million cases in the tables, against ten thousand."""

import argparse
import sys
from pathlib import Path

from stand.environment import FOLDER
from stand.growth.stock import fill, opened


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.growth", description=__doc__)
    parser.add_argument("--few", type=int, default=10_000, help="cases of the smaller database")
    parser.add_argument("--many", type=int, default=1_000_000, help="cases of the larger one, a multiple of that")
    parser.add_argument("--folder", type=Path, default=FOLDER / "growth", help="where the databases stay")
    parser.add_argument("--only-fill", action="store_true")
    options = parser.parse_args()
    with opened(options.folder) as stock:
        fill(stock, few=options.few, many=options.many, tell=tell)
    return 0


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
