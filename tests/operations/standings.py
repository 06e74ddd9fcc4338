"""Cases brought to every place where a person may want to order something, each by what really leads there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cases.models import Task
from tests.driving import Engine, Story, hooks, processes

Start = Callable[[Engine, Any], Story]


@contextmanager
def more_processes(settings: Any) -> Iterator[None]:
    with processes(settings, "tests.process_examples.TwoEffects"):
        yield


def mail_fault(story: Story, kind: str, times: int | None = 1, **more: Any) -> None:
    order = {
        "match": {"method": "POST", "path": "/mail/messages", "subject": story.email},
        "fault": {"kind": kind, **more},
        "times": times,
    }
    assert story.engine.outside.ask("POST", "/faults", order).status_code == 201


def patience_ends(story: Story, stage: str = "reconcile") -> None:
    """The next try of this stage is its last."""
    story.engine.owner.execute(
        "UPDATE cases_task SET deadline_at = clock_timestamp() + interval '1 millisecond'"
        " WHERE case_id = %s AND stage = %s AND status = 'due'",
        [story.id, stage],
    )


def received(engine: Engine, settings: Any) -> Story:
    return engine.open()


def checking(engine: Engine, settings: Any) -> Story:
    story = engine.open()
    engine.outside.script("error_before", method="GET", path=f"/payments/{story.payment}")
    story.run()
    return story


def waiting_for_data(engine: Engine, settings: Any) -> Story:
    story = engine.open(missing=["payments"])
    story.run()
    return story


def waiting_for_decision(engine: Engine, settings: Any) -> Story:
    return engine.proposed()


def approved(engine: Engine, settings: Any) -> Story:
    return engine.approved()


def sent_and_unanswered(engine: Engine, settings: Any) -> Story:
    story = engine.approved()
    story.fault("drop_after")
    story.run()
    assert story.effect.status == "UNKNOWN"
    return story


def sent_and_turned_away(engine: Engine, settings: Any) -> Story:
    """Provably not applied; the same key is tried again later."""
    story = engine.approved()
    story.fault("too_many")
    story.run()
    assert story.effect.status == "PLANNED"
    return story


def telling(engine: Engine, settings: Any) -> Story:
    story = engine.approved()
    mail_fault(story, "too_many")
    story.run()
    return story


def telling_of_nothing(engine: Engine, settings: Any) -> Story:
    """A closing notice: nothing was changed."""
    story = engine.open(subscription={"status": "active"})
    mail_fault(story, "too_many")
    story.run()
    return story


def rejected_to_hand(engine: Engine, settings: Any) -> Story:
    story = engine.proposed()
    story.decide("reject", next="by_hand", person=engine.person("second"))
    return story


def refused(engine: Engine, settings: Any) -> Story:
    story = engine.approved()
    story.fault("error_before", status=422)
    story.run()
    return story


def unknown(engine: Engine, settings: Any) -> Story:
    """Applied, the answer lost, and nobody outside could be asked."""
    story = engine.approved()
    story.fault("drop_after")
    engine.outside.script("error_before", method="GET", path="/operations/*", times=1)
    story.run()
    patience_ends(story)
    story.run_later()
    engine.outside.ask("DELETE", "/faults")
    return story


def denied_with_a_living_key(engine: Engine, settings: Any) -> Story:
    """The look-up denied it, and before the repeat the payment seemed to be gone."""
    story = engine.approved()
    story.fault("drop_before")
    story.run()
    hooks.at("after_lookup", lambda: story.change("payments", status="pending"))
    story.run_later()
    patience_ends(story)
    story.run_later()
    story.change("payments", status="confirmed")
    return story


def not_applied(engine: Engine, settings: Any) -> Story:
    """An old system without keys remembers nothing of the request, long after it could have landed."""
    settings.ADAPTERS = settings.ADAPTERS | {"subscriptions": "tests.adapters.PromptLookupOnly"}
    story = engine.approved()
    engine.outside.script("drop_before", path=f"/legacy/subscriptions/{story.subscription}/activate")
    story.run()
    story.run_later()
    return story


def unknown_without_look_up(engine: Engine, settings: Any) -> Story:
    """An old system that can be asked nothing."""
    settings.ADAPTERS = settings.ADAPTERS | {"subscriptions": "tests.adapters.PromptKeyless"}
    story = engine.approved()
    engine.outside.script("drop_before", path=f"/legacy/subscriptions/{story.subscription}/activate")
    story.run()
    patience_ends(story)
    story.run_later()
    return story


def never_read_back(engine: Engine, settings: Any) -> Story:
    """The service said yes, and its state stays the old one."""
    story = engine.approved()
    subscription = f"/subscriptions/{story.subscription}"
    hooks.at("after_perform", lambda: engine.outside.script("stale_read", method="GET", path=subscription, times=None))
    story.run()
    patience_ends(story)
    story.run_later()
    engine.outside.ask("DELETE", "/faults")
    return story


def told_nobody(engine: Engine, settings: Any) -> Story:
    """The change stands, the letter was refused."""
    story = engine.approved()
    mail_fault(story, "error_before", status=422)
    story.run()
    return story


def told_nobody_of_nothing(engine: Engine, settings: Any) -> Story:
    story = engine.open(subscription={"status": "active"})
    mail_fault(story, "error_before", status=422)
    story.run()
    return story


def half_done(engine: Engine, settings: Any) -> Story:
    """Of two changes the first one stands, the second one was refused."""
    other = engine.open()
    story = engine.approved(process="two_effects", more={"second_subscription_id": other.subscription})
    engine.outside.script("error_before", path=f"/subscriptions/{other.subscription}/activate", status=410)
    story.run()
    return story


def completed(engine: Engine, settings: Any) -> Story:
    story = engine.approved()
    story.run()
    return story


def closed(engine: Engine, settings: Any) -> Story:
    story = engine.proposed()
    story.decide("reject", next="close")
    return story


#: Where each leads: (state, reason, plan_begun, effects_open, effects_done), as a reader of design §4 expects.
STANDINGS: dict[Start, tuple[str, str, bool, int, int]] = {
    received: ("RECEIVED", "", False, 0, 0),
    checking: ("CHECKING", "", False, 0, 0),
    waiting_for_data: ("WAITING_DATA", "payment_not_found", False, 0, 0),
    waiting_for_decision: ("WAITING_APPROVAL", "", False, 0, 0),
    approved: ("EXECUTING", "", False, 0, 0),
    sent_and_unanswered: ("EXECUTING", "", True, 1, 0),
    sent_and_turned_away: ("EXECUTING", "", True, 0, 0),
    telling: ("NOTIFYING", "", True, 0, 1),
    telling_of_nothing: ("NOTIFYING", "", False, 0, 0),
    rejected_to_hand: ("NEEDS_ATTENTION", "rejected_by_hand", False, 0, 0),
    refused: ("NEEDS_ATTENTION", "invalid_data", True, 0, 0),
    unknown: ("NEEDS_ATTENTION", "unknown_too_long", True, 1, 0),
    denied_with_a_living_key: ("NEEDS_ATTENTION", "unknown_too_long", True, 1, 0),
    not_applied: ("NEEDS_ATTENTION", "not_applied", True, 1, 0),
    unknown_without_look_up: ("NEEDS_ATTENTION", "unknown_too_long", True, 1, 0),
    never_read_back: ("NEEDS_ATTENTION", "not_confirmed", True, 1, 0),
    told_nobody: ("NEEDS_ATTENTION", "notice_unconfirmed", True, 0, 1),
    told_nobody_of_nothing: ("NEEDS_ATTENTION", "notice_unconfirmed", False, 0, 0),
    half_done: ("NEEDS_ATTENTION", "effect_refused_partly", True, 0, 1),
    completed: ("COMPLETED", "", True, 0, 1),
    closed: ("CLOSED_NO_CHANGE", "", False, 0, 0),
}


def stand(start: Start, engine: Engine, settings: Any) -> Story:
    """The story, and proof that it stands where its name says."""
    story = start(engine, settings)
    case = story.case
    found = (case.state, case.reason, case.plan_begun, case.effects_open, case.effects_done)
    assert found == STANDINGS[start], Task.objects.filter(case_id=story.id).values_list("stage", "status", "last_error")
    return story
