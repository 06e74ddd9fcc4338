"""What pages that look again by themselves offer to the script; without it they say nothing of it."""

from __future__ import annotations

import re

import pytest

from tests.console.seeing import Desks, completed
from tests.driving import Engine

LISTS = ("/console/", "/console/cases/", "/console/actions/", "/console/approvals/", "/console/attention/")


@pytest.mark.parametrize("path", LISTS)
def test_a_list_names_each_row_by_where_it_leads_and_hides_its_bar_without_a_script(
    engine: Engine, desk: Desks, path: str
) -> None:
    engine.proposed(), completed(engine), engine.open(payment={"amount": "10.00"}).run()
    page = desk().get(path)
    assert re.search(r'<div id="live" class="live" hidden>', page.html)
    for rows in re.findall(r"<(?:tbody|ul)[^>]* data-rows>(.*?)</(?:tbody|ul)>", page.html, re.S):
        found = re.findall(r"<(?:tr|li)>.*?</(?:tr|li)>", rows, re.S)
        keys = [re.search(r'href="([^"]+)"', row) for row in found]
        assert found and all(keys) and len({key[1] for key in keys if key}) == len(found)


def test_a_page_with_a_form_for_a_decision_never_looks_again(engine: Engine, desk: Desks) -> None:
    story = engine.proposed()
    for step in ("", "approve/", "reject/"):
        page = desk().get(f"/console/approvals/{story.proposal.public_id}/{step}")
        assert 'id="live"' not in page.html and "data-rows" not in page.html


def test_a_case_looks_again_until_it_is_closed(engine: Engine, desk: Desks) -> None:
    story, done = engine.proposed(), completed(engine)
    reader = desk()
    assert 'id="live"' in reader.get(f"/console/cases/{story.case.public_id}/").html
    assert "data-closed" not in reader.get(f"/console/cases/{story.case.public_id}/status/").html
    assert 'id="live"' not in reader.get(f"/console/cases/{done.case.public_id}/").html
    assert "data-closed" in reader.get(f"/console/cases/{done.case.public_id}/status/").html
