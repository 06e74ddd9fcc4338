"""What is walked is what there is: a page that is added later is looked at, or somebody says why not."""

from __future__ import annotations

from collections import defaultdict

from django.urls import resolve

from caseflow.console.urls import urlpatterns
from tests.walk.pages import NO_PAGES, PAGES
from tests.walk.story import REPORTS

#: As far as an address goes, any name is as good as another.
ANYTHING = defaultdict(lambda: "X-1", person="1", report=REPORTS.format_map(defaultdict(lambda: "x")))


def test_every_address_of_the_console_is_a_page_that_is_walked_or_said_to_be_none() -> None:
    walked = {resolve(page.path.partition("?")[0].format_map(ANYTHING)).url_name for page in PAGES}
    addresses = {pattern.name for pattern in urlpatterns}

    assert addresses - walked - NO_PAGES.keys() == set(), "add them to tests/walk/pages.py"
    assert NO_PAGES.keys() - addresses == set(), "gone from the console"
    assert walked & NO_PAGES.keys() == set()


def test_every_page_has_a_name_of_its_own() -> None:
    names = [page.name for page in PAGES]
    assert len(names) == len(set(names))
