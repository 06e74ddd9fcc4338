"""Reading the history for hooks: each change of a case becomes a row for every hook that wants it, and a task.

The history itself pays nothing for it, and whoever has no hooks nothing at all. It is read by time, and a reader that
remembers a time or a number alone would miss what a slow transaction stores later with an earlier one. So each run
notes its own transaction's number and the moment before it got it. Once every transaction below such a mark is over,
whatever is still to come got its number after that moment, and its events are no older, but for the little while
between a statement's look at the clock and its first write. Up to there the history is read for good; what comes after
is read again by the next run, and told once by its unique row.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import connection, transaction

from cases.bell import ring_after_commit
from cases.claiming import Lease
from cases.models.task import SLOW
from cases.settling import settlement
from cases.stages import Stage, register

from .hook_models import Hook, HookReading

STAGE = "spread_hooks"
PORTION = 5_000  #: rows written in one transaction
MOST_MARKS = 64
#: From a statement's look at the clock to its first write; statements of the runtime role end after 30 s.
SLACK = timedelta(seconds=60)

_MICROSECOND = timedelta(microseconds=1)

#: The moment first: no number that is given later can be given before it. (A snapshot's own upper end is no such mark:
#: transactions above it may be under way.)
_MARK = """
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, pg_current_xact_id()::text::bigint,
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint
"""

_SPREAD = """
WITH wanted AS MATERIALIZED (
  SELECT h.id AS hook_id, e.id AS event_id, e.case_id, e.version, k.kind, e.at_us
  FROM operations_hook h
  JOIN audit_auditevent e ON e.organisation_id = h.organisation_id AND e.at_us > %(safe)s AND e.at_us >= h.from_us
  CROSS JOIN LATERAL (SELECT CASE WHEN e.version = 1 THEN 'opened'
                                  WHEN e.to_state = 'NEEDS_ATTENTION' THEN 'attention'
                                  WHEN e.to_state IN ('COMPLETED', 'CLOSED_NO_CHANGE') THEN 'closed'
                                  ELSE 'changed' END AS kind) k
  WHERE h.organisation_id = %(organisation)s AND h.is_active AND e.version IS NOT NULL
    AND h.kinds @> to_jsonb(k.kind)
    AND NOT EXISTS (SELECT 1 FROM operations_hookdelivery d
                    WHERE d.case_id = e.case_id AND d.version = e.version AND d.hook_id = h.id)
  ORDER BY e.at_us, e.version LIMIT %(portion)s),
fresh AS (
  INSERT INTO operations_hookdelivery (hook_id, case_id, event_id, version, kind, status, code, created_at)
  SELECT hook_id, case_id, event_id, version, kind, 'waiting', '', clock_timestamp() FROM wanted ORDER BY at_us, version
  ON CONFLICT (case_id, version, hook_id) DO NOTHING RETURNING id, created_at)
INSERT INTO cases_task (case_id, organisation_key, process, stage, subject, generation, queue, status, attempt,
       returned, lost, available_at, last_error, last_error_text, fence, leased_by, created_at)
SELECT NULL, %(organisation)s, '', 'tell_hook', id::text, 0, 'slow', 'due', 0, 0, 0, created_at, '', '', 0, '',
       created_at
FROM fresh ORDER BY id
"""


def spread_hooks(lease: Lease) -> Lease | None:
    """One run over every organisation with a hook at work."""
    listening = Hook.objects.filter(is_active=True).order_by("organisation_id")
    for organisation_id in listening.values_list("organisation_id", flat=True).distinct():
        while spread_portion(organisation_id) == PORTION:
            pass
    with settlement(lease) as settling:
        pass
    return settling.next_lease


@transaction.atomic
def spread_portion(organisation_id: int) -> int:
    """Write down at most PORTION tellings of one organisation's changes; how many there were. One run at a time."""
    with connection.cursor() as cursor:
        # Before the history is read: what is over by now, that statement sees.
        cursor.execute(_MARK)
        now_us, mark, oldest = cursor.fetchone()
        reading = HookReading.objects.select_for_update().get(pk=organisation_id)
        cursor.execute(_SPREAD, {"organisation": organisation_id, "safe": reading.safe_us, "portion": PORTION})
        found = cursor.rowcount
    if found < PORTION:
        move_on(reading, mark=mark, now_us=now_us, oldest=oldest)
        reading.save(update_fields=["safe_us", "marks"])
    if found:
        ring_after_commit()
    return int(found)


def move_on(reading: HookReading, *, mark: int, now_us: int, oldest: int) -> None:
    """After the history was read by the transaction `mark`, when all transactions below `oldest` were over."""
    marks = [(number, us) for number, us in reading.marks]
    if any(number > mark and us < now_us for number, us in marks):
        marks = []  # numbers of another cluster, from which this database was restored
    over = [us for number, us in marks if number <= oldest]
    if over:
        reading.safe_us = max(reading.safe_us, max(over) - SLACK // _MICROSECOND)
    under_way = sorted([(number, us) for number, us in marks if number > oldest] + [(mark, now_us)])
    if len(under_way) > MOST_MARKS:
        under_way = under_way[::2]  # a very long transaction: fewer marks are coarser, and as true
    reading.marks = [list(one) for one in under_way]


register(Stage(STAGE, spread_hooks, carries=False, queue=SLOW))
