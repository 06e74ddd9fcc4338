"""A report's journey in a real browser: its worker dies, a recipient loses access, a person lets it go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Response, expect

from stand.report_story import PLACE, access, arm, hit_at, hold_messages, let_go
from tests.flows.browsing import Visitor
from tests.flows.running import Running
from tests.flows.test_approver_in_the_browser import LOCALES
from tests.flows.test_pages_are_accessible import violations

WORKERS = ("worker-1", "worker-2")
READER = "reader"  #: of the demo: the only person to be told
NewContext = Callable[..., BrowserContext]

#: By language: the period, and what stands on the screen.
STORIES: dict[str, dict[str, str]] = {
    "en": {
        "period": "2024-W40",
        "ask": "Ask for the report",
        "period_label": "Period",
        "no_access": "A recipient may not open it",
        "not_found": "Not found",
        "send": "Send the message",
        "reason": "Reason",
        "completed": "Completed",
        "open": "Open the document",
        "access": "Access",
        "notice": "Notice",
    },
    "ru": {
        "period": "2024-W41",
        "ask": "Запросить сводку",
        "period_label": "Период",
        "no_access": "Получатель не может её открыть",
        "not_found": "Не найдено",
        "send": "Отправить сообщение",
        "reason": "Причина",
        "completed": "Завершено",
        "open": "Открыть документ",
        "access": "Доступ",
        "notice": "Уведомление",
    },
}


@pytest.fixture(scope="module", autouse=True)
def workers_that_can_be_stopped(running_system: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The workers know a folder of places at which they are killed."""
    system, places = running_system.system, tmp_path_factory.mktemp("places")
    for name in ("armed", "taken"):
        (places / name).mkdir()
    told = {"DJANGO_SETTINGS_MODULE": "caseflow.settings_faults", "CASEFLOW_FAILPOINTS": str(places)}
    system.environment["CASEFLOW_FAILPOINTS"] = str(places)
    for name in WORKERS:
        system.told[name] = told
    _again(running_system)
    yield
    for name in WORKERS:
        del system.told[name]
    del system.environment["CASEFLOW_FAILPOINTS"]
    _again(running_system)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("language", list(STORIES))
def test_a_recipient_without_access_gets_a_404_and_after_the_repair_one_message_and_the_file(
    running: Running, new_context: NewContext, language: str
) -> None:
    words, system = STORIES[language], running.system
    operator = Visitor(new_context(locale=LOCALES[language]).new_page(), system.base_url, language)
    reader = Visitor(new_context(locale=LOCALES[language]).new_page(), system.base_url, language)
    operator.sign_in("operator", "/console/reports/ask/acme/")
    reader.sign_in(READER)

    complaints = list(violations(operator.page, "asking for a report"))
    armed, held = arm(system, PLACE), hold_messages(system, 1)
    operator.page.get_by_label(words["period_label"]).fill(words["period"])
    operator.press(words["ask"])
    obligation = f"acme/sales/requests/{words['period']}"
    page = f"/console/reports/{obligation}/"
    expect(operator.page).to_have_url(system.base_url + page)
    running.wait_for(lambda: hit_at(system, armed))
    running.wait_for(lambda: hit_at(system, held[0]))
    access(system, READER, "--revoke")
    let_go(system, held)

    running.wait_for(lambda: operator.sees_after_reloading(words["no_access"]))
    document = running.one("SELECT public_id FROM documents_document WHERE period = %s", words["period"])
    complaints += violations(operator.page, "a report that needs a person")
    marks = operator.page.locator("dl.marks").first
    expect(marks).to_contain_text(words["access"])
    expect(marks).to_contain_text(words["notice"])
    # Nothing tells a page that is not there from one that may not be seen, but what was allowed before.
    for address in (f"/console/documents/{document}/", "/console/documents/D-0000000000/"):
        assert status_of(reader, address) == 404
        expect(reader.page.get_by_role("heading", name=words["not_found"])).to_be_visible()

    access(system, READER)
    operator.open(page)
    operator.page.get_by_role("link", name=words["send"]).first.click()
    operator.page.get_by_label(words["reason"]).fill("The access is granted again")
    operator.page.locator("main form button.main").last.click()
    operator.open(page)
    running.wait_for(lambda: operator.sees_after_reloading(words["completed"]))

    reader.open(page)
    reader.page.get_by_role("link", name=words["open"]).click()
    expect(reader.page).to_have_url(f"{system.base_url}/console/documents/{document}/")
    complaints += violations(reader.page, "a document")
    assert reader.page.request.get(f"{system.base_url}/console/documents/{document}/xlsx/").status == 200
    case = running.one("SELECT public_id FROM cases_case WHERE external_id = %s", obligation)
    letters = running.effects(f"{READER}@example.org", system="mail")
    assert [letter["body"]["reference"] for letter in letters].count(case) == 1
    assert running.one("SELECT count(*) FROM documents_document WHERE period = %s", words["period"]) == 1
    assert operator.complaints + complaints == []


def test_an_administrator_sets_when_a_report_is_due(running: Running, new_context: NewContext) -> None:
    admin = Visitor(new_context(locale=LOCALES["en"]).new_page(), running.system.base_url, "en")
    admin.sign_in("admin", "/console/schedules/")
    complaints = list(violations(admin.page, "schedules, none yet"))
    admin.page.get_by_role("link", name="New schedule").first.click()
    complaints += violations(admin.page, "a new schedule")
    admin.page.get_by_label("Time of day").fill("")
    admin.page.get_by_label("Cron line").fill("0 8 30 2 *")
    admin.page.get_by_label("Читатель сводок").check()
    admin.press("Set the schedule")
    admin.sees("This cron line never fires")
    admin.page.get_by_label("Cron line").fill("0 8 * * 1-5")
    admin.press("Set the schedule")
    admin.sees("The schedule is set.")
    admin.sees("0 8 * * 1-5")
    assert complaints + list(violations(admin.page, "schedules")) == []


def status_of(visitor: Visitor, path: str) -> int:
    found: Response | None = visitor.page.goto(visitor._base_url + path)
    assert found is not None
    return found.status


def _again(running: Running) -> None:
    running.system.processes.stop(*WORKERS)
    running.start(*WORKERS)
