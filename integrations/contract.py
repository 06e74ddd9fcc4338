"""What every adapter is and promises (design §8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from caseflow.domain.outcomes import FaultKind, LookupOutcome, Outcome, ReadFailed, Refused, Unknown
from integrations.answers import read_failed
from integrations.http import BadAddress, BadAnswer, HttpClient, NoAnswer, NotSent, path_of
from integrations.outgoing import AllowList

#: How an effect is known to have happened: by reading the subject back, or only by the system's own receipt.
ConfirmsBy = Literal["read", "receipt"]


@dataclass(frozen=True, slots=True)
class Owner:
    """Whom to ask when the system says we may not."""

    team: str
    contact: str


@runtime_checkable
class Adapter(Protocol):
    """One outside system, as the engine sees it. `perform` and `lookup` raise for nothing the network does."""

    name: str
    honours_keys: bool  #: the same key twice is one effect
    key_life: timedelta  #: for how long after the first request a key may be sent again
    can_lookup: bool  #: the system can be asked what became of a key
    settles_after: timedelta  #: how long an unanswered request may still land
    confirms_by: ConfirmsBy
    owner: Owner
    operations: frozenset[str]  #: what `perform` can do
    readable: frozenset[str]  #: the names `read` knows

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        """The newest facts about `subject` as a JSON object. Something that does not exist is a fact too.

        Raises ReadFailed.
        """
        ...

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
        """Ask for the effect once. No byte leaves from `send_by` on, in seconds of the monotonic clock.

        Only a system without keys is given one: who wakes up after the lease was lost must not send there (design §8).
        """
        ...

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome: ...


class System:
    """The common part of adapters: a plain "no" to what the system does not do."""

    name: ClassVar[str]
    honours_keys: ClassVar[bool] = False
    key_life: ClassVar[timedelta] = timedelta(0)
    can_lookup: ClassVar[bool] = False
    settles_after: ClassVar[timedelta] = timedelta(0)
    confirms_by: ClassVar[ConfirmsBy] = "read"
    owner: ClassVar[Owner]
    operations: ClassVar[frozenset[str]] = frozenset()
    readable: ClassVar[frozenset[str]] = frozenset()

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        raise ReadFailed(
            system=self.name,
            kind=FaultKind.PERMANENT,
            code="not_readable",
            message=f'nothing called "{name}" is read here',
        )

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
        return Refused("unknown_operation", f'the system {self.name} does not do "{operation}"')

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        return Unknown("no_lookup", f"the system {self.name} cannot be asked about a key")


class HttpSystem(System):
    """The common part of adapters over HTTP: an address and deadlines."""

    speaks_http: ClassVar[bool] = True  #: wants a base_url
    takes_allowed: ClassVar[bool] = True  #: wants the list of outgoing hosts
    read_deadline: ClassVar[timedelta] = timedelta(seconds=3)  #: whole call, look-ups too
    perform_deadline: ClassVar[timedelta] = timedelta(seconds=5)  #: whole call

    def __init__(self, *, base_url: str, deadline: timedelta | None = None, allowed: AllowList | None = None) -> None:
        """`deadline` replaces both class deadlines. `allowed` are the hosts it may reach; its own without them."""
        self._http = HttpClient(base_url, allowed=allowed)
        self._read_within = deadline or self.read_deadline
        self._perform_within = deadline or self.perform_deadline

    def read_one(
        self,
        collection: str,
        subject: str,
        missing_code: str,
        missing: Mapping[str, Any],
        value: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        call_id: str,
    ) -> Mapping[str, Any]:
        """What `value` makes of `collection/subject`, or `missing`, where the system says that it is not there.

        Raises ReadFailed; `value` raises BadAnswer for what it does not understand.
        """
        try:
            answer = self._http.get(path_of(collection, subject), call_id=call_id, within=self._read_within)
            if answer.status == 200:
                return value(answer.json())
        except BadAddress:
            return missing  # nothing can have such a name
        except (NotSent, NoAnswer, BadAnswer) as failure:
            raise read_failed(self.name, failure) from failure
        # Only the system's own word makes a 404 a fact: a wrong address answers 404 too.
        if answer.status == 404 and answer.code == missing_code:
            return missing
        raise read_failed(self.name, answer)

    def close(self) -> None:
        self._http.close()
