"""The adapter that the docs show is taken from the page and run."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from caseflow.domain.outcomes import Confirmed, NotApplied, ReadFailed, Unknown
from integrations.contract import Adapter
from integrations.rest_config import config_of
from tests.integrations.between import between
from tests.integrations.conftest import DEADLINE

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "integrations.md").read_text("utf-8")


def test_the_adapter_of_the_page_keeps_the_contract() -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    shown: dict[str, Any] = {"__name__": "docs_example"}
    exec(compile(code, "docs/integrations.md", "exec"), shown)  # noqa: S102  # the page's own code is what is tested
    with between() as line, closing(shown["Invoices"](base_url=line.url, deadline=DEADLINE)) as adapter:
        assert isinstance(adapter, Adapter)
        line.answer(200, {"status": "open"})
        assert adapter.read("invoice", "I-1", call_id="call-1") == {"status": "open"}
        line.answer(404, {"code": "no_such_invoice"})
        assert adapter.read("invoice", "I-2", call_id="call-2") == {"status": "not_found"}
        line.answer(404, {"detail": "not here"})
        with pytest.raises(ReadFailed):
            adapter.read("invoice", "I-3", call_id="call-3")
        line.answer(200, {"id": "void-1"})
        line.fail("drop_before")
        first, lost = (adapter.perform("void", "I-1", {}, key="k:1", call_id=f"call-{n}") for n in (4, 5))
        assert first == Confirmed("void-1") and isinstance(lost, Unknown)
        line.answer(404, {"code": "no_such_operation"})
        assert isinstance(adapter.lookup(key="k:2", call_id="call-6"), NotApplied)


def test_the_description_of_the_page_is_one() -> None:
    import tomllib

    [described] = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    table = tomllib.loads(described)["helpdesk"]
    assert config_of(table, file="docs/integrations.md", system="helpdesk").perform.keys() == {"write_status"}
