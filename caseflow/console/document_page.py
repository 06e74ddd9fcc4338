"""One document: its files and their digests, what it was made from and by what, who may open it, who did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from accounts import access
from accounts.models import Person
from actions.models import Action
from caseflow.domain.roles import Right
from documents.access import who_may_open
from documents.models import Document, DocumentOpening
from documents.selectors import list_editions, list_openings
from documents.wording import title


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """`made_by` is the action with its case, for who sees cases; `newest` another document that corrects this one."""

    title: str
    files: Sequence[dict[str, Any]]
    newest: Document | None
    made_by: Action | None
    may_open: Sequence[Person]
    openings: Sequence[DocumentOpening]
    administers: bool


def gather(person: Person, document: Document) -> DocumentPage:
    """Five queries."""
    rights = access.rights_in(person, document.organisation_id)
    made_by = None
    if Right.SEE_CASES in rights:
        made_by = Action.objects.select_related("case").filter(key=document.action_key).first()
    editions = list_editions(document.organisation_id, document.department_id, document.kind, document.period)
    newest = editions[-1]
    return DocumentPage(
        title=title(document.kind, document.department.name, document.period),
        files=document.files,
        newest=newest if newest.pk != document.pk else None,
        made_by=made_by,
        may_open=list(who_may_open(document.department)),
        openings=list_openings([document.pk]),
        administers=Right.ADMINISTER in rights,
    )
