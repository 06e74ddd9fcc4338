"""Rules and dashboard speak of metrics and labels that exist, and every metric is looked at by one of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from caseflow.metrics.catalogue import METRICS, PREFIX
from stand.environment import CHECKOUT

OPS = CHECKOUT / "ops"
LABELS = {metric.name: set(metric.labels) for metric in METRICS}
#: What Prometheus itself adds to every line.
OF_PROMETHEUS = {"job", "instance"}
SELECTOR = re.compile(rf"({PREFIX}\w+)(?:\{{([^}}]*)\}})?")


def rules() -> list[dict[str, Any]]:
    read = yaml.safe_load((OPS / "prometheus" / "alerts.yaml").read_text())
    return [rule for group in read["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    board: dict[str, Any] = json.loads((OPS / "grafana" / "caseflow.json").read_text())
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def expressions() -> Iterator[tuple[str, str]]:
    """(expression, the texts that name its labels)."""
    for rule in rules():
        yield rule["expr"], " ".join(rule["annotations"].values())
    for panel in panels():
        for target in panel["targets"]:
            yield target["expr"], target["legendFormat"]


def test_every_expression_names_metrics_and_labels_that_exist() -> None:
    used = set()
    for expression, texts in expressions():
        found = SELECTOR.findall(expression)
        assert expression.count("(") == expression.count(")"), expression
        has = set(OF_PROMETHEUS) if expression.startswith("up") else set()
        for name, selected in found:
            assert name in LABELS, f"{name} is no metric"
            has |= LABELS[name]
            assert set(re.findall(r"(\w+)\s*(?:=|!=|=~|!~)", selected)) <= LABELS[name], expression
        grouped = {label.strip() for by in re.findall(r"by \(([^)]*)\)", expression) for label in by.split(",")}
        told = set(re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", texts))
        assert grouped | told <= has, expression
        used |= {name for name, _ in found}
    assert used == LABELS.keys(), "a metric that nothing looks at"


def test_every_alert_says_how_bad_it_is_what_it_is_and_what_to_do_first() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(names) == len(set(names)) > 20
    for rule in rules():
        assert rule["labels"]["severity"] in ("page", "ticket"), rule["alert"]
        assert rule["annotations"].keys() == {"summary", "description"}, rule["alert"]
        assert re.fullmatch(r"\d+[smh]", rule.get("for", "1m")), rule["alert"]


def test_every_panel_has_a_place_of_its_own_and_a_unit() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        at = panel["gridPos"]
        place = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not place & taken, panel["title"]
        taken |= place
        assert panel["description"] and panel["fieldConfig"]["defaults"]["unit"], panel["title"]
