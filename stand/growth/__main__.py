"""`make bench-growth`: what a case and a page cost with a million cases in the tables, against ten thousand."""

import argparse
import sys
from pathlib import Path
from typing import Any

from stand.environment import CHECKOUT, FOLDER
from stand.growth.measuring import ROUNDS, both, measure_collector, measure_pages, measure_path
from stand.growth.result import judged, save, table_of, write_section
from stand.growth.stock import FEW, MANY, Stock, fill, opened


def main() -> int:
    parser = argparse.ArgumentParser(prog="stand.growth", description=__doc__)
    parser.add_argument("--few", type=int, default=10_000, help="cases of the smaller database")
    parser.add_argument("--many", type=int, default=1_000_000, help="cases of the larger one, at least")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path, default=FOLDER / "growth", help="where the databases stay")
    parser.add_argument("--out", type=Path, default=CHECKOUT / "docs" / "proof" / "bench-growth.json")
    parser.add_argument("--only-fill", action="store_true")
    parser.add_argument("--pages", default="", help="only pages whose name has this in it, and nothing is kept")
    parser.add_argument("--document", action="store_true", help="write the section of docs/performance.md")
    options = parser.parse_args()
    with opened(options.folder) as stock:
        fill(stock, few=options.few, many=options.many, tell=tell)
        if options.only_fill:
            return 0
        about = figures_of(stock)
        with both(stock) as (few, many):
            tell("the whole path")
            path = measure_path(few, many, options.rounds)
            tell("the collector")
            collector = measure_collector(few, many, options.rounds)
            tell("pages")
            console = measure_pages(few, many, options.rounds, options.pages)
    found = judged(path, console, collector, **about)
    print("\n".join(table_of(found)))
    if not options.pages:
        save(found, options.out)
    if options.document and not options.pages:
        write_section(found)
    return 0 if found["passed"] else 1


def figures_of(stock: Stock) -> dict[str, Any]:
    """How many cases there are, of how many rows, and what the larger database takes on disk."""
    counted: dict[str, int] = {}
    rows, gigabytes = 0, 0.0
    for name, database in (("few", FEW), ("many", MANY)):
        with stock.administrator(database) as administrator:
            found = administrator.execute("SELECT count(*), count(*) - count(closed_at) FROM cases_case").fetchone()
            live = administrator.execute(
                "SELECT sum(n_live_tup)::bigint, pg_database_size(current_database()) FROM pg_stat_user_tables"
            ).fetchone()
        assert found is not None and live is not None
        counted |= {name: int(found[0]), f"open_{name}": int(found[1])}
        rows, gigabytes = round(int(live[0]) / int(found[0])), round(int(live[1]) / 1e9, 1)
    return {"cases": counted, "rows_a_case": rows, "gigabytes": gigabytes}


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
