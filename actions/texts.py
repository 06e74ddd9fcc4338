"""The words of a notice, from a template in the recipient's language. The first line is the subject."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation


@dataclass(frozen=True, slots=True)
class NoticeText:
    subject: str
    body: str


def notice_text(request: Mapping[str, Any], *, reference: str) -> NoticeText:
    """Render `templates/notices/<template>.txt`. Raises TemplateDoesNotExist."""
    with translation.override(request["language"]):
        context = dict(request["params"]) | {"reference": reference, "base": settings.CASEFLOW_BASE_URL.rstrip("/")}
        rendered = render_to_string(f"notices/{request['template']}.txt", context)
    subject, _, body = rendered.strip().partition("\n")
    return NoticeText(subject.strip(), body.strip())
