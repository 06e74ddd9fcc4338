"""Five failures, each explained from the screen alone: its cause, what is true now, and what comes next (F1, F4).

The case's page and `explain_case` say the same sentences, in both languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone, translation

from approvals.snapshots import opened
from caseflow.domain.errors import StaleSnapshot
from cases.models import IntakeRevision
from cases.observing import keep_readings, read_now
from cases.processes import get_process
from tests.commands.conftest import Run, run
from tests.console.conftest import Desk
from tests.driving import Engine, Killed, Story, hooks
from tests.operations.standings import mail_fault

__all__ = ["run"]

Desks = Callable[..., Desk]
LANGUAGES = ["en", "ru"]


@dataclass(frozen=True, slots=True)
class Told:
    """The three sentences of a case, in one language."""

    cause: str
    truth: str
    next: str


@pytest.fixture(params=LANGUAGES)
def tell(request: pytest.FixtureRequest, desk: Desks, run: Run) -> Callable[[Story], Told]:
    """What a viewer reads on the case's page, once it is sure that the command says the same."""
    language = request.param

    def read(story: Story) -> Told:
        page = desk("viewer", language).get(f"/console/cases/{story.case.public_id}/")
        told = run("explain_case", story.case.public_id, "--as=viewer", "--json", f"--language={language}").json()
        text = run("explain_case", story.case.public_id, "--as=viewer", f"--language={language}").out
        said = Told(**told["account"])
        for sentence in (said.cause, said.truth, said.next):
            assert " ".join(sentence.split()) in page.text, sentence
            assert sentence in text
        translation.deactivate()
        return said

    read.language = language  # type: ignore[attr-defined]
    return read


def check(tell: Any, story: Story, *, cause: dict[str, str], truth: dict[str, str], next: dict[str, str]) -> None:
    """Each part begins with, or is matched by, what is expected in the reader's language; ids are filled in."""
    told = tell(story)
    for part, expected in (("cause", cause), ("truth", truth), ("next", next)):
        said = getattr(told, part)
        assert re.search(expected[tell.language], said), (part, said)


def test_a_lost_reply(engine: Engine, tell: Any) -> None:
    story = engine.approved()
    story.fault("drop_after")
    story.run()
    action = story.effect.public_id

    check(
        tell,
        story,
        cause={
            "en": rf"^The answer to request {action} was lost: Subscriptions gave none\.$",
            "ru": rf"^Ответ на запрос {action} потерян: от системы «Подписки» он не пришёл\.$",
        },
        truth={
            "en": rf"{action}\) may have happened: it counts neither as done nor as not done\.$",
            "ru": rf"{action}\): действие могло выполниться; оно не считается ни выполненным, ни невыполненным\.$",
        },
        next={
            "en": r"^Do not repeat the change: .* Caseflow goes on by itself: Check the result with the service",
            "ru": r"^Не повторяйте изменение: .* Caseflow продолжит сам: ",
        },
    )
    story.run_later()
    check(
        tell,
        story,
        cause={"en": "^$", "ru": "^$"},
        truth={"en": r"is confirmed and stays\.$", "ru": r"подтверждено и остаётся в силе\.$"},
        next={"en": r"^Nothing more is to be done here\.$", "ru": r"^Больше здесь ничего делать не нужно\.$"},
    )
    assert len(story.activations()) == 1


def test_a_killed_worker(engine: Engine, tell: Any) -> None:
    story = engine.approved()

    def die() -> None:
        raise Killed

    hooks.at("after_perform", die)
    with pytest.raises(Killed):
        story.run()
    engine.lapse_lease(story.task("execute"))

    check(
        tell,
        story,
        cause={
            "en": r"^The worker at the step “Send the change” fell silent in the middle of it\.$",
            "ru": r"^Работник замолчал посреди шага «.+»\.$",
        },
        truth={"en": r"is requested and not confirmed\.$", "ru": r"запрошено, не подтверждено\.$"},
        next={
            "en": r"^Another worker takes the step over and first finds out what was done already\.$",
            "ru": r"^Шаг возьмёт другой работник и сначала выяснит, что уже сделано\.$",
        },
    )
    story.run()
    assert (story.state, len(story.activations())) == ("COMPLETED", 1)


def test_a_stale_approval_at_the_last_moment(engine: Engine, tell: Any) -> None:
    story = engine.approved()
    story.change("payments", status="refunded")
    story.run()

    check(
        tell,
        story,
        cause={
            "en": r"^After the decision the facts changed\. Payment: state was “confirmed”, now “refunded”\.",
            "ru": r"^После решения факты изменились\. Платёж: состояние: было «подтверждён», стало «возвращён»\.",
        },
        truth={
            "en": r"^No change was sent to any outside system\.",
            "ru": r"^Ни в одну внешнюю систему изменений не отправлено\.",
        },
        next={"en": r"^Nothing more is to be done here\.$", "ru": r"^Больше здесь ничего делать не нужно\.$"},
    )
    assert story.writes() == []


def test_a_stale_approval_at_the_press(engine: Engine, tell: Any) -> None:
    story = engine.proposed()
    story.change("subscriptions", status="active")
    read_again(story)
    with pytest.raises(StaleSnapshot):
        story.decide()

    check(
        tell,
        story,
        cause={
            "en": r"^A decision by Approver was not accepted: the facts had changed\. Subscription: state was “inactiv",
            "ru": r"^Решение не принято \(Approver\): факты успели измениться\. Подписка: состояние: было «неактивна»",
        },
        truth={
            "en": r"^No change was sent to any outside system\.$",
            "ru": r"^Ни в одну внешнюю систему изменений не отправлено\.$",
        },
        next={
            "en": r"With changed facts it cannot be approved: send it for review again\.$",
            "ru": r"С изменившимися фактами его нельзя подтвердить: верните его на пересмотр\.$",
        },
    )


def test_the_payment_service_away_past_the_deadline(engine: Engine, tell: Any) -> None:
    story = engine.open()
    engine.outside.script("error_before", method="GET", path=f"/payments/{story.payment}", times=None)
    story.run()
    check(
        tell,
        story,
        cause={"en": "", "ru": ""},
        truth={"en": "^No change was sent", "ru": "^Ни в одну внешнюю систему"},
        next={"en": "^Caseflow goes on by itself: Read the facts", "ru": "^Caseflow продолжит сам: "},
    )
    # Three seconds are left: this try is made, and the next one would come too late.
    engine.owner.execute(
        "UPDATE cases_task SET deadline_at = clock_timestamp() + interval '3 seconds' WHERE case_id = %s"
        " AND stage = 'observe' AND status = 'due'",
        [story.id],
    )
    story.run_later()
    assert story.standing == ("NEEDS_ATTENTION", "deadline_passed")

    check(
        tell,
        story,
        cause={
            "en": r"^“Read the facts” failed at the system Payments; attempts: 2, .* The time for attempts ran out\.$",
            "ru": r"^Шаг «.+» не удался в системе «Платежи»; попыток: 2, ",
        },
        truth={
            "en": r"^No change was sent to any outside system\.$",
            "ru": r"^Ни в одну внешнюю систему изменений не отправлено\.$",
        },
        next={
            "en": r"^Recommended step: Check again\. .* looked after by Payments, payments@example\.org\.$",
            "ru": r"^Рекомендуемый шаг: .* За систему отвечает Payments, payments@example\.org\.$",
        },
    )


def test_a_notice_that_failed(engine: Engine, tell: Any) -> None:
    story = engine.approved()
    mail_fault(story, "error_before", status=422)
    story.run()
    assert story.standing == ("NEEDS_ATTENTION", "notice_unconfirmed")
    effect, notice = story.effect.public_id, story.notice.public_id

    check(
        tell,
        story,
        cause={"en": r"^A notice was not confirmed\.$", "ru": r"^Уведомление не подтверждено\.$"},
        truth={
            "en": rf"\({effect}\) is confirmed and stays\. Message {notice} is not confirmed: it may not have reached",
            "ru": rf"\({effect}\): подтверждено и остаётся в силе\. Сообщение {notice} не подтверждено: оно могло не",
        },
        next={
            "en": r"^Recommended step: Send the notice again\. The effects stand\.",
            "ru": r"^Рекомендуемый шаг: Отправить уведомление",
        },
    )


def read_again(story: Story) -> None:
    """A newer reading comes in without moving the case, as a doorbell would bring it."""
    process = get_process(story.case.process, story.case.process_version)
    intake = IntakeRevision.objects.filter(case_id=story.id).latest("number")
    assert opened(story.proposal.snapshot)["intake_revision"] == intake.number
    keep_readings(story.id, read_now(process, intake.body, revision=intake.number), at=timezone.now())
