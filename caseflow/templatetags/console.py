"""Small things that many pages show: a state, a moment, an age, an icon, a copy button, a process's own phrase."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.template.loader import select_template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from approvals.models import Proposal
from caseflow.console import moments, vocabulary, words
from caseflow.console.history import Happened
from caseflow.console.icons import ICONS
from caseflow.console.model_words import proposer_text
from caseflow.console.path import path_of
from cases.wording import event_text

register = template.Library()


@register.simple_tag
def icon(name: str) -> SafeString:
    """Decoration beside a word, so it is hidden from screen readers."""
    drawing = mark_safe(ICONS[name])
    return format_html(
        '<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">{}</svg>',
        drawing,
    )


@register.simple_tag
def drawing(name: str) -> SafeString:
    """The lines of an icon alone, for a picture that places them itself."""
    return mark_safe(ICONS[name])


@register.inclusion_tag("console/components/word.html")
def state(code: str) -> dict[str, Any]:
    return {"word": words.state_word(code)}


@register.inclusion_tag("console/components/word.html")
def action_status(code: str) -> dict[str, Any]:
    return {"word": words.action_word(code)}


@register.inclusion_tag("console/components/word.html")
def word(shown: words.Shown) -> dict[str, Any]:
    return {"word": shown}


@register.inclusion_tag("console/components/glossary.html")
def glossary_link(kind: str, shown: words.Shown) -> dict[str, Any]:
    """From a word to where the help explains it; `kind` is state, action or reason."""
    return {"kind": kind, "code": shown.code, "label": shown.label}


@register.filter
def state_help(code: str) -> str:
    return words.state_word(code).help


@register.simple_tag
def reason(case: Any) -> words.Shown:
    return words.reason_of(case)


@register.inclusion_tag("console/components/personal.html", takes_context=True)
def personal(context: Mapping[str, Any], field: str) -> dict[str, Any]:
    """A personal text: hidden, with a button for who may see it; in clear where it was just asked for; or erased."""
    known = context["known"]
    return {
        "case": context["case"],
        "csrf_token": context.get("csrf_token"),
        "field": field,
        "label": vocabulary.personal_label(field),
        "text": known.revealed.get(field),
        "erased": known.erased,
        "may_reveal": known.may_reveal,
    }


@register.filter
def proposed_by(proposal: Proposal) -> str:
    return proposer_text(proposal)


@register.filter
def slug_of(kind: str) -> str:
    """The kind of an order as its address says it."""
    return kind.replace("_", "-")


@register.filter
def event_word(kind: str) -> str:
    return event_text(kind, {})


@register.filter
def outcome(code: str) -> str:
    return str(words.OUTCOMES.get(code, code))


@register.filter
def decision_word(code: str) -> str:
    return str(words.DECISIONS.get(code, code))


@register.filter
def next_step(code: str) -> str:
    return str(words.NEXT_STEPS.get(code, code))


@register.filter
def stage_word(code: str) -> str:
    return str(words.STAGES.get(code, code))


@register.filter
def call_kind(code: str) -> str:
    return str(words.CALL_KINDS.get(code, code))


@register.filter
def call_outcome(code: str) -> str:
    return str(words.CALL_OUTCOMES.get(code, code))


@register.filter
def operation(action: Any) -> str:
    return vocabulary.operation_label(action.system, action.operation)


@register.simple_tag
def process_title(case: Any) -> str:
    return words.process_title(case.process, case.process_version)


@register.simple_tag
def request_of(proposal: Any) -> str:
    """What a proposal asks for, in the process's own sentence."""
    case = proposal.case
    sentence = words.request_sentence(case.process, case.process_version, proposal.decision, case.subject)
    return sentence or proposal.decision


@register.simple_tag
def ending_of(case: Any, decision: str) -> str:
    return words.ending_sentence(case.process, case.process_version, decision) or decision


@register.filter
def moment(value: datetime | None) -> SafeString | str:
    """Absolute, in the reader's zone with the zone named; UTC stands behind it."""
    return _time(value, moments.moment_text(value)) if value else "–"


@register.filter
def bare_moment(value: datetime | None) -> SafeString | str:
    """For tables that name the zone once."""
    return _time(value, moments.bare_moment_text(value)) if value else "–"


@register.filter
def age(value: datetime | None) -> SafeString | str:
    """How long ago, short; the moment stands behind it."""
    if not value:
        return "–"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        value.isoformat(),
        moments.moment_text(value),
        moments.span_text(timezone.now() - value),
    )


@register.filter
def time_left(value: datetime | None) -> str:
    return moments.span_text(value - timezone.now()) if value else "–"


@register.filter
def span(value: timedelta | None) -> str:
    return moments.span_text(value) if value is not None else ""


@register.filter
def took(value: timedelta | None) -> str:
    return moments.took_text(value) if value is not None else "–"


@register.filter
def yes_no(value: bool) -> str:
    return gettext("yes") if value else gettext("no")


@register.filter
def beside(cells: Sequence[Any], heads: Sequence[str]) -> list[tuple[Any, str]]:
    """Each cell of a row with the head of its column."""
    return list(zip(cells, heads, strict=True))


@register.filter
def is_past(value: datetime | None) -> bool:
    return value is not None and value <= timezone.now()


@register.filter
def is_web_link(value: str) -> bool:
    """Whether an address that came with a ticket may be followed: nothing but http and https."""
    return value.lower().startswith(("http://", "https://"))


@register.filter
def seconds_left(value: datetime | None) -> int:
    return max(0, int((value - timezone.now()).total_seconds())) if value else 0


@register.inclusion_tag("console/components/copyable.html")
def copyable(text: str | int, what: str = "", short: int = 0) -> dict[str, Any]:
    """An id with a copy button; `short` shows that many characters of a long one."""
    text = str(text)
    return {"text": text, "shown": f"{text[:short]}…" if short and len(text) > short else text, "what": what}


@register.inclusion_tag("console/processes/path.html")
def path_diagram(case: Any, history: Iterable[Happened]) -> dict[str, Any]:
    """The way a case went, small; asks the database nothing."""
    return {"path": path_of(history, case.state)}


@register.simple_tag
def phrase(page: Any, name: str) -> str:
    """A process's own words while deciding, from `templates/console/processes/<slug>/<name>.txt`, or the default."""
    found = select_template([f"console/processes/{who}/{name}.txt" for who in (page.case.process, "default")])
    context: Mapping[str, Any] = {
        "subject": page.subject,
        "case": page.case.external_id,
        "proposal": page.proposal.public_id,
    }
    return mark_safe(found.render(dict(context)).strip())


def _time(value: datetime, text: str) -> SafeString:
    return format_html(
        '<time class="moment" datetime="{}" title="{}">{}</time>', value.isoformat(), moments.utc_text(value), text
    )
