"""`manage.py explain_case T-4821`: a case on one screen. Exit codes: 0 done, 1 not in sight, 2 usage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.commands import USAGE, acting_person, add_json, add_person, refusal, shown, storable, write_json
from accounts.models import Language
from caseflow.console import vocabulary
from caseflow.console.moments import moment_text
from caseflow.console.words import state_word
from caseflow.domain.errors import CaseflowError, NotFound
from caseflow.explaining import changes_of, explain, find_cases


class Command(BaseCommand):
    help = "Explains a case: where it stands and why, what was proposed, decided and done. Personal text stays hidden."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", metavar="CASE", help="C-… or the ticket's own id, such as T-4821")
        parser.add_argument("--organisation", metavar="SLUG", default="", help="where two have a ticket of this name")
        add_person(parser)
        add_json(parser, "everything as one JSON object")
        parser.add_argument("--language", choices=Language.values, help="the person's own if left out")

    def handle(self, *args: Any, case: str, **options: Any) -> None:
        person = acting_person(options["person"])
        organisation = storable(options["organisation"], "--organisation")
        try:
            found = find_cases(person, storable(case, "CASE"), organisation)
            if not found:
                raise NotFound
        except CaseflowError as error:
            raise refusal(error) from error
        if len(found) > 1:
            names = ", ".join(f"{one.public_id} ({one.organisation.slug}, {one.source})" for one in found)
            raise CommandError(f"several cases are called {shown(case)}: {names}", returncode=USAGE)
        with (
            translation.override(options["language"] or person.language),
            timezone.override(ZoneInfo(person.time_zone)),
        ):
            explained = explain(found[0])
            if options["json"]:
                write_json(self, explained)
            else:
                self.stdout.write("\n".join(shown(line) for line in lines_of(explained)))


def lines_of(case: Mapping[str, Any]) -> Iterator[str]:
    """The explanation as lines of text, in the active language and time zone."""
    yield from _head(case)
    yield from _known(case)
    for proposal in case["proposals"]:
        yield from _proposal(proposal)
    for action in case["actions"]:
        yield from _action(action)
    for recovery in case["recoveries"]:
        yield from _recovery(recovery)
    if case["planned"]:
        yield from ("", _("What comes next"))
        for task in case["planned"]:
            tries = _("attempts: %(count)d") % {"count": task["attempts"]}
            yield "  " + _joined(_moment(task["due_at"]), task["says"], task["subject"], tries, _error(task, "last_"))
    yield from ("", _("History"))
    for entry in case["timeline"]:
        yield from _entry(entry)
    if not case["timeline_complete"]:
        yield "  " + _("Older entries are left out.")


def _head(case: Mapping[str, Any]) -> Iterator[str]:
    yield _joined(case["external_id"], case["case"], case["title"], case["organisation"])
    yield f"{case['state']['label']} ({case['state']['code']}): {case['state']['help']}"
    if case["reason"]:
        yield _("Reason: %(reason)s") % {"reason": f"{case['reason']['label']} ({case['reason']['code']})"}
        if case["reason"]["help"]:
            yield _("Next step: %(step)s") % {"step": case["reason"]["help"]}
    reason = case["reason"]["label"] if case["reason"] else ""
    if case["ending"] and case["ending"]["says"] not in ("", reason):
        yield case["ending"]["says"]
    if case["outcome"]:
        yield _("Outcome: %(outcome)s") % {"outcome": f"{case['outcome']['says']} ({case['outcome']['code']})"}
    yield _("Version %(version)d since %(moment)s; opened %(opened)s") % {
        "version": case["version"],
        "moment": _moment(case["since"]),
        "opened": _moment(case["opened_at"]),
    }
    if case["wait_until"]:
        yield _("Waits until %(moment)s") % {"moment": _moment(case["wait_until"])}
    for pause in case["pauses"]:
        yield _joined(pause["says"], pause["id"], pause["reason"], pause["by"], _moment(pause["since"]))
        yield "  " + (
            _("It goes on by itself at %(moment)s, or as soon as somebody resumes.")
            % {"moment": _moment(pause["until"])}
            if pause["until"]
            else _("It goes on as soon as somebody resumes; nothing is lost meanwhile.")
        )
    if case["source_url"]:
        yield case["source_url"]
    account = case["account"]
    yield ""
    if account["cause"]:
        yield _("Why it stands here: %(text)s") % {"text": account["cause"]}
    yield _("What is true: %(text)s") % {"text": account["truth"]}
    if account["next"]:
        yield _("What comes next: %(text)s") % {"text": account["next"]}


def _known(case: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", _("What was told"))
    for name, value in case["told"].items():
        yield f"  {vocabulary.field_label(name)}: {_value(name, value)}"
    if case["facts"]:
        yield from ("", _("What the outside systems say"))
    for fact in case["facts"]:
        yield f"  {_joined(fact['label'], fact['system'], _moment(fact['observed_at']), fact['call'])}"
        for name, value in fact["value"].items():
            path = f"{fact['name']}.{name}"
            yield f"    {vocabulary.path_label(path)}: {_value(path, value)}"


def _proposal(proposal: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield _joined(
        _("Proposal %(number)d") % {"number": proposal["number"]},
        proposal["id"],
        _moment(proposal["at"]),
        _("valid until %(moment)s") % {"moment": _moment(proposal["valid_until"])} if proposal["valid_until"] else "",
    )
    for sentence in (proposal["says"], proposal["request"]):
        if sentence:
            yield f"  {sentence}"
    yield f"  {_('Digest')}: {proposal['digest']}"
    for decision in proposal["decisions"]:
        reason = _("reason recorded as personal text") if decision["has_reason"] else ""
        yield "  " + _joined(decision["says"], decision["person"], _moment(decision["at"]), reason)


def _recovery(order: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield _joined(order["says"], order["came_of_it"], order["id"], order["action"], order["action_status"])
    yield "  " + _("Ordered by %(person)s, %(moment)s") % {
        "person": order["asked_by"],
        "moment": _moment(order["asked_at"]),
    }
    if order["authorised_by"]:
        yield "  " + _("Signed by %(person)s, %(moment)s") % {
            "person": order["authorised_by"],
            "moment": _moment(order["authorised_at"]),
        }
    yield "  " + _joined(_("reason recorded as personal text"), order["result"], order["stage"], order["outcome"])


def _action(action: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    # The subject of a notice is the name of the fact that holds the address.
    subject = vocabulary.path_label(action["subject"]) if action["kind"] == "notice" else action["subject"]
    yield _joined(action["says"], subject, action["id"])
    status = action["status"]
    yield f"  {status['label']} ({status['code']}): {action['confirmed_by'] or status['help']}"
    yield "  " + _joined(f"{_('Key')}: {action['key']}", action["external_id"], action["code"])
    for call in action["calls"]:
        yield "  " + _call(call)


def _call(call: Mapping[str, Any]) -> str:
    answer = call["answer"] or _("no answer yet")
    return _joined(_moment(call["begun_at"]), call["says"], call["call"], answer, call["code"], call["message"])


def _entry(entry: Mapping[str, Any]) -> Iterator[str]:
    at = _moment(entry["at"])
    if entry["type"] == "event":
        arrow = " → ".join(state_word(state).label for state in (entry["from"], entry["to"]) if state)
        yield f"  {entry['number']:>3} " + _joined(at, entry["says"], entry["by"], arrow)
        for path, then, now in changes_of(entry["facts"]):
            yield f"        {vocabulary.path_label(path)}: {_value(path, then)} → {_value(path, now)}"
    elif entry["type"] == "attempt":
        number = _("attempt %(number)d") % {"number": entry["number"]}
        yield "      " + _joined(at, entry["says"], number, entry["came_of_it"], entry["worker"], _error(entry))
    else:
        yield "      " + _call(entry) + f" · {entry['action']}"


def _error(entry: Mapping[str, Any], prefix: str = "") -> str:
    names = ("last_error", "last_error_text") if prefix else ("error", "error_text")
    return ": ".join(filter(None, (entry[name] for name in names)))


def _value(path: str, value: Any) -> str:
    if isinstance(value, Mapping) and value.get("masked"):
        return _("hidden: personal data")
    return vocabulary.value_text(path, value)


def _moment(moment: str | None) -> str:
    return moment_text(datetime.fromisoformat(moment)) if moment else ""


def _joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))
