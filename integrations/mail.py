"""The mail system. It confirms by receipt: accepted by the mail server, delivery unknown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from caseflow.domain.outcomes import Confirmed, LookupOutcome, Outcome, Unknown
from integrations.answers import text
from integrations.contract import HttpSystem, Owner
from integrations.http import Answer, BadAnswer
from integrations.operations_by_key import look_up, post_once


class Mail(HttpSystem):
    name = "mail"
    honours_keys = True
    #: The system promises 24 hours; an hour is kept for clocks that differ and requests that travel long.
    key_life = timedelta(hours=23)
    can_lookup = True
    settles_after = timedelta(seconds=70)
    confirms_by = "receipt"
    owner = Owner(team="Mail", contact="mail@example.org")
    operations = frozenset({"send"})

    def perform(
        self,
        operation: str,
        subject: str,
        request: Mapping[str, Any],
        *,
        key: str,
        call_id: str,
        send_by: float | None = None,
    ) -> Outcome:
        """`send` the message {"subject", "text", "reference"} to the address `subject`."""
        if operation != "send":
            return super().perform(operation, subject, request, key=key, call_id=call_id)
        answer = post_once(
            self._http,
            ("mail", "messages"),
            {**request, "to": subject},
            key=key,
            call_id=call_id,
            within=self._perform_within,
            send_by=send_by,
        )
        if not isinstance(answer, Answer):
            return answer
        try:
            told = answer.json()
            text(told, "status", allowed=frozenset({"accepted"}))
            replayed = "idempotent-replayed" in answer.headers
            return Confirmed(text(told, "id"), {"delivery": "unknown", "replayed": replayed})
        except BadAnswer as failure:
            return Unknown("bad_answer", str(failure))

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        return look_up(self._http, system=self.name, key=key, call_id=call_id, within=self._read_within)
