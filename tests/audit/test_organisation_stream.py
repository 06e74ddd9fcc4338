"""An organisation's events become one chain, in the order of their commits, whoever numbers them."""

from __future__ import annotations

import threading

import pytest
from django.db import IntegrityError, connection, transaction

from accounts.principal import SYSTEM
from audit.bodies import chain_hash, first_link
from audit.linking import link_all, link_events
from audit.models import AuditEvent, OrganisationLink, WaitingEvent
from audit.services import PLATFORM, record_access, record_organisation_event
from audit.streams import read_links, read_unlinked
from audit.verifying import verify
from cases.models import Schedule
from tests.driving import Engine, run_due, together

ACME, GLOBEX = 7001, 7002  #: numbers of organisations; a stream needs no more of one


def record(number: int, organisation: int = ACME) -> None:
    with transaction.atomic():
        record_organisation_event(organisation, "export.made", actor=SYSTEM, facts={"number": number})


def numbers(organisation: int = ACME) -> list[int]:
    """Which event stands at which place, by the number it was given in the test."""
    rows = OrganisationLink.objects.filter(organisation_id=organisation).order_by("seq")
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    bodies = rows.values_list("event__body", flat=True)
    return [int(bytes(body).partition(b'"number":')[2].partition(b"}")[0]) for body in bodies]


def test_events_are_numbered_in_each_organisation_apart(committing_database: None) -> None:
    for number, organisation in enumerate((ACME, GLOBEX, ACME, PLATFORM), 1):
        record(number, organisation)
    assert link_all() == 4
    assert (numbers(ACME), numbers(GLOBEX), numbers(PLATFORM)) == ([1, 3], [2], [4])
    assert verify(read_links()).problems == []
    assert link_all() == 0


def test_the_chain_can_be_recomputed_without_the_database(committing_database: None) -> None:
    for number in (1, 2):
        record(number)
    link_all()
    head = first_link(ACME)
    for row in OrganisationLink.objects.filter(organisation_id=ACME).select_related("event").order_by("seq"):
        head = chain_hash(head, row.event.at_us, bytes(row.event.body))
        assert bytes(row.hash) == head


def test_an_event_that_is_committed_late_comes_later_although_its_row_is_older(committing_database: None) -> None:
    begun, may_commit = threading.Event(), threading.Event()

    def slow() -> None:
        with transaction.atomic():
            record_organisation_event(ACME, "export.made", actor=SYSTEM, facts={"number": 1})
            begun.set()
            assert may_commit.wait(30)

    def quick() -> None:
        assert begun.wait(30)
        record(2)
        assert link_all() == 1
        may_commit.set()

    assert together(slow, quick) == [None, None]
    assert link_all() == 1
    assert numbers() == [2, 1]
    assert AuditEvent.objects.order_by("id").values_list("link__seq", flat=True)[0] == 2


def test_many_sealers_beside_many_writers_number_every_event_once(committing_database: None) -> None:
    def write(first: int) -> None:
        for number in range(first, first + 10):
            record(number)

    def seal() -> None:
        for _ in range(10):
            link_events(3)

    results = together(*(lambda first=first: write(first) for first in range(0, 50, 10)), *[seal] * 4)
    assert results == [None] * 9
    link_all()
    assert sorted(numbers()) == list(range(50))
    assert verify(read_links()).problems == []
    assert not WaitingEvent.objects.exists()


def test_the_regular_work_numbers_what_waits(engine: Engine) -> None:
    assert WaitingEvent.objects.exists()  # the organisation was made
    Schedule.objects.filter(name="audit.chain").update(next_at=engine.now())
    engine.owner.execute(
        "INSERT INTO cases_task (organisation_key, process, stage, subject, generation, queue, status, attempt,"
        " returned, lost, available_at, last_error, last_error_text, fence, leased_by, created_at)"
        " SELECT 0, '', stage, subject, 0, queue, 'due', 0, 0, 0, next_at, '', '', 0, '', next_at FROM cases_schedule"
        " WHERE name = 'audit.chain'"
    )
    assert run_due(stage="chain_events") == 1
    assert not WaitingEvent.objects.exists()
    assert OrganisationLink.objects.filter(organisation_id=engine.organisation.pk, seq=1).exists()


@pytest.mark.parametrize(
    "wrong", [{"seq": 3}, {"hash": b"\x00" * 32}, {"organisation_id": GLOBEX}, {"seq": 0}, {"seq": 1}]
)
def test_the_product_cannot_write_a_link_that_does_not_follow(
    wrong: dict[str, object], committing_database: None
) -> None:
    record(1)
    link_all()
    record(2)
    event = AuditEvent.objects.latest("id")
    last = OrganisationLink.objects.get(organisation_id=ACME)
    honest: dict[str, object] = {
        "organisation_id": ACME,
        "seq": 2,
        "event": event,
        "hash": chain_hash(bytes(last.hash), event.at_us, bytes(event.body)),
    }
    with pytest.raises(IntegrityError, match=r"is not in its chain|audit_one_number"), transaction.atomic():
        OrganisationLink.objects.create(**honest | wrong)
    OrganisationLink.objects.create(**honest)


def test_an_event_taken_out_of_the_queue_by_hand_is_named(committing_database: None) -> None:
    record(1)
    WaitingEvent.objects.all().delete()
    link_all()
    unlinked = read_unlinked()
    assert (unlinked.waiting, unlinked.lost) == (0, (AuditEvent.objects.get().pk,))


def test_an_access_is_recorded_in_a_transaction_of_its_own(committing_database: None) -> None:
    record_access(ACME, "export.made", actor=SYSTEM, facts={})
    with pytest.raises(RuntimeError), transaction.atomic():
        record_access(ACME, "export.made", actor=SYSTEM, facts={})
    assert AuditEvent.objects.count() == 1
    assert connection.in_atomic_block is False
