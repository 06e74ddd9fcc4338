"""What came of a measurement: a file for machines, a table for people, and the section of docs/performance.md."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stand.environment import CHECKOUT
from stand.growth.measuring import lines_of

PATH_LIMIT, CONSOLE_LIMIT, COLLECTOR_LIMIT = 1.2, 1.5, 2.0  #: what many cases may cost, as a multiple of few
DOCUMENT = CHECKOUT / "docs" / "performance.md"
BEGIN, END = "<!-- growth: made by make bench-growth -->", "<!-- growth: end -->"
WHY = (
    "What makes it so: a list begins behind the last row of the page before and not after so many rows; what",
    "is open is counted and listed from partial indexes; what has ended is counted as it ends. A trigger",
    "inserts one small row with the change that ends a case or an action, a reader adds these rows to the",
    "counts, and the task `fold_counts` moves them there every minute. No counter is updated where cases move,",
    "and `verify_invariants` compares the sums with the rows. A text that fits more than a thousand tickets",
    "lists the first thousand and says so. Both databases hold the same last weeks, the larger one a history",
    "of years before them: what is open, and what happened in the window of an indicator, follow from how much",
    "comes in and cost in proportion to it, not to the history. What is rare (cancelled actions, one system, one",
    "person's events) has indexes of its own, and a list names the organisations it is about, so that the planner",
    "knows whether theirs are most rows or few. So nothing has to be archived for speed; disk is the limit.",
)
SHOWN = 12  #: pages in the document, those that grow most


def judged(
    path: Mapping[str, Any], console: Mapping[str, Any], collector: Mapping[str, Any], **about: Any
) -> dict[str, Any]:
    """Everything of one run. A page whose queries are more among many cases fails, however cheap they are."""
    passed = path["median"] <= PATH_LIMIT and console["median"] <= CONSOLE_LIMIT and console["same_queries"]
    passed = passed and collector["median"] <= COLLECTOR_LIMIT
    ratios = {"growth_ratio": path, "console_growth_ratio": console, "collector_ratio": collector}
    return {"passed": passed, **about, **ratios}


def save(found: Mapping[str, Any], to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def table_of(found: Mapping[str, Any]) -> list[str]:
    path, console, collector = (found[f"{name}_ratio"] for name in ("growth", "console_growth", "collector"))
    pages = dict(sorted(console["parts"].items(), key=lambda item: -item[1]["median"]))
    queries = "the same number of queries" if console["same_queries"] else "MORE QUERIES AMONG MANY"
    return [
        *lines_of(path["parts"] | {"collector": collector}),
        *lines_of(pages),
        f"growth_ratio {path['median']:.2f} (limit {PATH_LIMIT}), console_growth_ratio {console['median']:.2f}"
        f" (limit {CONSOLE_LIMIT}), {queries}, collector_ratio {collector['median']:.2f} (limit {COLLECTOR_LIMIT}):"
        f" {'passed' if found['passed'] else 'failed'}",
    ]


def section_of(found: Mapping[str, Any]) -> str:
    """Markdown between the two marks."""
    path, console = found["growth_ratio"], found["console_growth_ratio"]
    pages = sorted(console["parts"].items(), key=lambda item: -item[1]["median"])
    rows = [("the whole path of a case, processor", path["parts"]["cpu"])]
    rows += [("the whole path of a case, time", path["parts"]["time"])]
    rows += [("the collector, `/metrics`", found["collector_ratio"]), *pages[:SHOWN]]
    lines = [
        BEGIN,
        "## Growth",
        "",
        f"{found['cases']['many']:,} cases ({found['cases']['open_many']:,} of them open) against"
        f" {found['cases']['few']:,} ({found['cases']['open_few']:,} open), about {found['rows_a_case']} rows a case,"
        f" in two databases of one server, asked by turns; the larger one takes {found['gigabytes']:.1f} GB."
        " `make bench-growth` keeps both below `.stand/growth/`.",
        "",
        "| | few, ms | many, ms | ratio | spread |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {name} | {part['few_ms']:.1f} | {part['many_ms']:.1f} | {part['median']:.2f} |"
            f" {part['min']:.2f}–{part['max']:.2f} |"
            for name, part in rows
        ),
        "",
        f"These are the {SHOWN} of {len(pages)} pages and searches that grow most; milliseconds of processor of web and"
        " database together. "
        + ("No page asks a query more." if console["same_queries"] else "Some ask more queries."),
        "",
        *WHY,
        END,
    ]
    return "\n".join(lines) + "\n"


def write_section(found: Mapping[str, Any]) -> None:
    """Put the section into the document, in the place of the one before or at the end."""
    text = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else "# Performance\n"
    before, mark, rest = text.partition(BEGIN)
    after = rest.partition(END)[2].lstrip("\n") if mark else ""
    DOCUMENT.write_text(before.rstrip("\n") + "\n\n" + section_of(found) + (f"\n{after}" if after else ""), "utf-8")
