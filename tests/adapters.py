"""Adapters that only tests have: systems that keep fewer promises than ours, on the same outside world."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from caseflow.domain.outcomes import Confirmed, LookupOutcome, Outcome
from integrations.answers import read_failed
from integrations.contract import HttpSystem, Owner
from integrations.http import Answer, BadAnswer, NoAnswer, NotSent, path_of
from integrations.operations_by_key import look_up, post_once
from integrations.payments import Payments
from integrations.subscriptions import LEADS_TO
from tests.hooked import HookedSubscriptions, hooks


class Keyless(HookedSubscriptions):
    """An old system without keys that cannot be asked about a request either."""

    name = "legacy"
    honours_keys = False
    key_life = timedelta(0)
    can_lookup = False
    owner = Owner(team="Old billing", contact="old-billing@example.org")

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
        hooks.pass_by("before_perform")
        answer = post_once(
            self._http,
            ("legacy", "subscriptions", subject, operation),
            request,
            key=key,
            call_id=call_id,
            within=self._perform_within,
            send_by=send_by,
        )
        hooks.pass_by("after_perform")
        if not isinstance(answer, Answer):
            return answer
        assert answer.json()["status"] == LEADS_TO[operation]
        return Confirmed(answer.json()["id"])

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        return HttpSystem.lookup(self, key=key, call_id=call_id)


class PromptKeyless(Keyless):
    """… whose requests land at once or never: also where two clocks of one moment are read one after the other."""

    settles_after = timedelta(seconds=-1)


class LookupOnly(Keyless):
    """An old system without keys that remembers the reference of what it did."""

    can_lookup = True
    settles_after = timedelta(seconds=30)

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        system = _Legacy(self)
        found = look_up(system, system="legacy", key=key, call_id=call_id, within=self._read_within)  # type: ignore[arg-type]
        hooks.pass_by("after_lookup")
        return found


class PromptLookupOnly(LookupOnly):
    """… whose requests land at once or never: also where two clocks of one moment are read one after the other."""

    settles_after = timedelta(seconds=-1)


class _Legacy:
    """The look-up of the old system stands at another address."""

    def __init__(self, adapter: Keyless) -> None:
        self._http = adapter._http

    def get(self, path: str, *, call_id: str, within: timedelta) -> Answer:
        return self._http.get(f"/legacy{path}", call_id=call_id, within=within)


class ShortMemory(HookedSubscriptions):
    """A system whose keys are forgotten soon."""

    key_life = timedelta(seconds=0.5)
    settles_after = timedelta(0)


class HoldingPayments(Payments):
    """Payments that can be held and released."""

    honours_keys = True
    key_life = timedelta(hours=23)
    can_lookup = True
    settles_after = timedelta(seconds=70)
    operations = frozenset({"hold", "release"})
    readable = Payments.readable | {"hold"}

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        """`hold`: {"status": "held" | "free" | "not_found"}"""
        if name != "hold":
            return super().read(name, subject, call_id=call_id)
        try:
            answer = self._http.get(path_of("payments", subject), call_id=call_id, within=self._read_within)
            if answer.status == 404:
                return {"status": "not_found"}
            if answer.status == 200:
                return {"status": "held" if answer.json().get("held") else "free"}
        except (NotSent, NoAnswer, BadAnswer) as failure:
            raise read_failed(self.name, failure) from failure
        raise read_failed(self.name, answer)

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
        answer = post_once(
            self._http, ("payments", subject, operation), request, key=key, call_id=call_id, within=self._perform_within
        )
        return Confirmed(answer.json()["id"]) if isinstance(answer, Answer) else answer

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        return look_up(self._http, system=self.name, key=key, call_id=call_id, within=self._read_within)
