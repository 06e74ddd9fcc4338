"""A circuit for each provider of models: after faults in a row it is left alone, then one request tries it again.

It is kept in PostgreSQL, so that every worker knows of it and losing Redis changes nothing. Each change is one
statement of its own, outside the settlement of any case.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import connection

from integrations.chat import names_of_providers

from .model_models import ProviderCircuit

FAULTS = 3  #: in a row, until the circuit opens
LEFT_ALONE = timedelta(seconds=60)  #: from the last fault until one request tries it
BUSY = frozenset({408, 425, 429})  #: statuses below 500 that are faults, too

_FAILED = """
INSERT INTO approvals_providercircuit AS c (provider, failures, opened_at, ask_again_at, code, changed_at)
VALUES (%(provider)s, 1, NULL, NULL, %(code)s, clock_timestamp())
ON CONFLICT (provider) DO UPDATE SET
  failures = c.failures + 1, code = excluded.code, changed_at = excluded.changed_at,
  opened_at = CASE WHEN c.failures + 1 >= %(faults)s THEN coalesce(c.opened_at, excluded.changed_at) END,
  ask_again_at = CASE WHEN c.failures + 1 >= %(faults)s
                      THEN excluded.changed_at + %(alone)s * interval '1 second' END
RETURNING opened_at IS NOT NULL
"""
_ANSWERED = """
UPDATE approvals_providercircuit SET failures = 0, opened_at = NULL, ask_again_at = NULL, changed_at = clock_timestamp()
WHERE provider = %s AND failures > 0
"""
#: Whoever moves the moment is the one request that tries it.
_TRY = """
UPDATE approvals_providercircuit SET ask_again_at = clock_timestamp() + %(alone)s * interval '1 second'
WHERE provider = %(provider)s AND opened_at IS NOT NULL AND ask_again_at <= clock_timestamp()
"""
_LEFT = """
SELECT extract(epoch FROM ask_again_at - clock_timestamp()) FROM approvals_providercircuit
WHERE provider = %s AND opened_at IS NOT NULL
"""


def left_alone_for(provider: str) -> timedelta | None:
    """How long it is not to be asked; None where it may be: closed, or its time is over and the caller tries it."""
    with connection.cursor() as cursor:
        cursor.execute(_TRY, {"provider": provider, "alone": LEFT_ALONE.total_seconds()})
        if cursor.rowcount:
            return None
        cursor.execute(_LEFT, [provider])
        row = cursor.fetchone()
        return None if row is None else timedelta(seconds=max(1.0, float(row[0])))


def fault_of(provider: str, code: str) -> bool:
    """Count a fault; whether the circuit is open now."""
    alone = LEFT_ALONE.total_seconds()
    with connection.cursor() as cursor:
        cursor.execute(_FAILED, {"provider": provider, "code": code[:64], "faults": FAULTS, "alone": alone})
        (is_open,) = cursor.fetchone()
    return bool(is_open)


def answer_of(provider: str) -> None:
    """It answers: the circuit is closed."""
    with connection.cursor() as cursor:
        cursor.execute(_ANSWERED, [provider])


def list_open() -> list[ProviderCircuit]:
    """Of the providers that the settings name: nobody asks another one any more, so nothing would ever close it."""
    known = ProviderCircuit.objects.filter(provider__in=names_of_providers())
    return list(known.filter(opened_at__isnull=False).order_by("provider"))
