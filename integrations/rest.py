"""An outside system that speaks JSON over HTTP, by configuration alone (`integrations.rest_config`).

What nobody configured is read the careful way: an answer without a rule of its own is a refusal only where HTTP says
so, and a 503 or a conflict is doubt.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar
from urllib.parse import quote

from caseflow.domain.outcomes import Confirmed, FaultKind, LookupOutcome, NotApplied, Outcome, Refused, Unknown
from integrations.answers import amount, optional_text, outcome_of_error, read_failed, retry_after, text
from integrations.contract import Owner, System
from integrations.http import Answer, BadAddress, BadAnswer, HttpClient, NoAnswer, NotSent, path_of
from integrations.outgoing import AllowList
from integrations.rest_config import PLACE, FactPart, Perform, Rule, config_of

NOTHING: Mapping[str, Any] = {}


class RestSystem(System):
    """`RestSystem(name="subscriptions", table={…}, file="rest.toml")`; the table is checked when it is made."""

    takes_allowed: ClassVar[bool] = True  #: the registry hands it the list of outgoing hosts

    def __init__(
        self,
        *,
        name: str,
        table: Mapping[str, Any],
        file: str = "settings",
        deadline: timedelta | None = None,
        allowed: AllowList | None = None,
    ) -> None:
        """`deadline` replaces those of the table. Raises ValueError (BadConfiguration), also for a variable that the
        environment lacks and a host that is not on the list."""
        config = config_of(table, file=file, system=name)
        headers = {}
        if config.auth is not None:
            secret = os.environ.get(config.auth.env, "")
            if not secret:
                raise ValueError(f"{file}, {name}.auth.env: the environment has no {config.auth.env}")
            headers[config.auth.header] = f"{config.auth.prefix}{secret}"
        self._config = config
        self._http = HttpClient(config.base_url, allowed=allowed, headers=headers)
        self._read_within = deadline or timedelta(seconds=config.read_within)
        self._perform_within = deadline or timedelta(seconds=config.perform_within)
        # What the contract asks of a class is this one's own: two systems of this class differ in it.
        said: dict[str, Any] = {
            "name": name,
            "honours_keys": config.keys is not None,
            "key_life": timedelta(seconds=config.keys.life if config.keys else 0),
            "can_lookup": config.lookup is not None,
            "settles_after": timedelta(seconds=config.settles_after),
            "confirms_by": config.confirms_by,
            "owner": Owner(config.owner.team, config.owner.contact),
            "operations": frozenset(config.perform),
            "readable": frozenset(config.read),
        }
        self.__dict__.update(said)

    def close(self) -> None:
        self._http.close()

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        """The configured facts, or those of something missing. Raises ReadFailed."""
        read = self._config.read.get(name)
        if read is None:
            return super().read(name, subject, call_id=call_id)
        try:
            path = _path(read.path, {"subject": subject})
            answer = self._http.get(path, call_id=call_id, within=self._read_within)
            if answer.status == 200:
                return {name: _fact(answer.json(), fact) for name, fact in read.facts.items()}
        except BadAddress as error:
            if read.missing is not None:
                return read.missing.facts  # no object can have such a name
            raise read_failed(self.name, BadAnswer(str(error))) from error
        except (NotSent, NoAnswer, BadAnswer) as failure:
            raise read_failed(self.name, failure) from failure
        answer = self._plain(answer)
        missing = read.missing
        if missing is not None and (answer.status, answer.code) == (missing.status, missing.code):
            return missing.facts
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
        """Send the configured body once; a 2xx answer must say what is expected of it."""
        how = self._config.perform.get(operation)
        if how is None:
            return super().perform(operation, subject, request, key=key, call_id=call_id)
        known = {"subject": subject, "key": key, "request": request}
        try:
            path = _path(how.path, known)
            body = _filled(dict(request) if how.body is None else how.body, known, whole=how.body is None)
            # Before it leaves: what the request lacks would leave its own answer unread.
            expected = _filled(how.expect, known)
        except (BadAddress, LookupError) as error:
            return Refused("bad_subject", str(error), FaultKind.INVALID_DATA)
        # The same request gives the same bytes: a system that compares bodies under one key must see no difference.
        content = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
        headers = {"Content-Type": "application/json", "X-Request-Id": call_id}
        if self._config.keys is not None:
            headers[self._config.keys.header] = key
        try:
            answer = self._http.send(how.method, path, headers, content, within=self._perform_within, send_by=send_by)
        except NotSent as failure:
            return NotApplied(failure.code, str(failure))
        except NoAnswer as failure:
            return Unknown(failure.code, str(failure))
        if not 200 <= answer.status < 300:
            return self._outcome(self._plain(answer))
        return self._confirmed(how, answer, expected)

    def lookup(self, *, key: str, call_id: str) -> LookupOutcome:
        how = self._config.lookup
        if how is None:
            return super().lookup(key=key, call_id=call_id)
        try:
            path = _path(how.path, {"key": key})
            answer = self._http.get(path, call_id=call_id, within=self._read_within)
            if answer.status == 200:
                told = answer.json()
                _require(told, _filled(how.expect, {"key": key}))
                id = _at(told, how.external_id) if how.external_id else ""
                found = {name: _at(told, path) for name, path in how.detail.items()}
                detail = {name: optional_text(found, name) for name in found}
                return Confirmed(text({"id": id}, "id") if how.external_id else "", detail)
        except (NotSent, NoAnswer) as failure:
            return Unknown(failure.code, str(failure))
        except (BadAnswer, BadAddress) as failure:
            return Unknown("bad_answer", str(failure))
        answer = self._plain(answer)
        if (answer.status, answer.code) == (how.absent.status, how.absent.code):
            return NotApplied(answer.code, "the system knows no operation under this key")
        return Unknown(answer.code or f"http_{answer.status}", f"it answered {answer.status}", retry_after(answer))

    def _confirmed(self, how: Perform, answer: Answer, expected: Mapping[str, Any]) -> Outcome:
        try:
            told = answer.json() if answer.body or expected or how.external_id else NOTHING
            _require(told, expected)
            external_id = text({"id": _at(told, how.external_id)}, "id") if how.external_id else ""
        except BadAnswer as failure:
            return Unknown("bad_answer", str(failure))
        keys = self._config.keys
        return Confirmed(external_id, {"replayed": keys is not None and keys.replayed_header.lower() in answer.headers})

    def _outcome(self, answer: Answer) -> Outcome:
        for rule in self._config.outcomes:
            if _fits(rule, answer):
                return _ruled(rule, answer)
        if answer.status in (409, 503):
            return Unknown(answer.code or f"http_{answer.status}", f"it answered {answer.status}")
        return outcome_of_error(answer)

    def _plain(self, answer: Answer) -> Answer:
        """The answer with its stable code where ours has it."""
        try:
            code = _at(answer.json(), self._config.error_code)
        except BadAnswer:
            code = None
        return Answer(
            answer.status, answer.headers, json.dumps({"code": code} if isinstance(code, str) else {}).encode()
        )


def _fits(rule: Rule, answer: Answer) -> bool:
    if rule.status != answer.status or rule.code not in (None, answer.code):
        return False
    return rule.names_wait is None or rule.names_wait == (retry_after(answer) is not None)


def _ruled(rule: Rule, answer: Answer) -> Outcome:
    code, message = rule.say or answer.code or f"http_{answer.status}", f"it answered {answer.status}"
    match rule.means:
        case "refused":
            return Refused(code, message, rule.fault)
        case "not_applied":
            return NotApplied(code, message, retry_after(answer))
    return Unknown(code, message)


def _fact(told: Mapping[str, Any], fact: FactPart) -> Any:
    """Raises BadAnswer."""
    found = _at(told, fact.path)
    if found in (None, "") and fact.optional:
        return None
    named = {fact.path: found}
    match fact.kind:
        case "flag" if isinstance(found, bool):
            return found
        case "number" if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
        case "flag" | "number":
            raise BadAnswer(f'the field "{fact.path}" is no {fact.kind}')
        case "amount":
            return amount(named, fact.path)
    if fact.map:
        return fact.map[text(named, fact.path, allowed=frozenset(fact.map))]
    return text(named, fact.path, allowed=frozenset(fact.one_of) or None)


def _require(told: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Raises BadAnswer when the answer is about something else."""
    for path, wanted in expected.items():
        found = _at(told, path)
        if found != wanted or isinstance(found, bool) != isinstance(wanted, bool):
            raise BadAnswer(f'the field "{path}" says something else')


def _at(told: Any, path: str) -> Any:
    """The value at a dotted path, None without one."""
    for step in path.split("."):
        told = told.get(step) if isinstance(told, Mapping) else None
    return told


def _path(template: str, known: Mapping[str, Any]) -> str:
    """Each place is one part, quoted: a subject can never name another address. Raises BadAddress."""
    parts = []
    for part in template[1:].split("/"):
        place = PLACE.fullmatch(part)
        parts.append(path_of(str(known[place[1]]))[1:] if place else quote(part, safe="~:@!$&'()*+,;="))
    return "/" + "/".join(parts)


def _filled(value: Any, known: Mapping[str, Any], *, whole: bool = False) -> Any:
    """The template with its places filled in; a text that is one place keeps the kind of what stands there.

    Raises LookupError for a field that the request lacks. `whole`: no template, taken as it is.
    """
    if whole:
        return value
    if isinstance(value, str):
        only = PLACE.fullmatch(value)
        if only:
            return _named(only[1], known)
        return PLACE.sub(lambda place: str(_named(place[1], known)), value)
    if isinstance(value, Mapping):
        return {name: _filled(one, known) for name, one in value.items()}
    return [_filled(one, known) for one in value] if isinstance(value, list) else value


def _named(name: str, known: Mapping[str, Any]) -> Any:
    found: Any = known
    for step in name.split("."):
        if not isinstance(found, Mapping) or step not in found:
            raise LookupError(f"the request has no {name}")
        found = found[step]
    return found
