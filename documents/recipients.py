"""Who is to be told of a document: whether each may open it now, where to write to, in which language.

An adapter like the others: to the engine people and their grants are facts of an outside system.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from accounts.models import Person
from caseflow.domain.outcomes import FaultKind, ReadFailed
from integrations.contract import Owner, System

from .access import who_may_open
from .obliged import find_obliged


class Recipients(System):
    """Reads only. `access` is {"p17": "open" | "none"}; `addresses` and `languages` leave out who has none."""

    name = "documents.recipients"
    owner = Owner(team="Administrators of the organisation", contact="the page “People” of the console")
    readable: ClassVar[frozenset[str]] = frozenset({"access", "addresses", "languages"})

    def read(self, name: str, subject: str, *, call_id: str) -> Mapping[str, Any]:
        """Three queries, for any number of recipients. Raises ReadFailed for a subject that no case has."""
        if name not in self.readable:
            return super().read(name, subject, call_id=call_id)
        obliged = find_obliged(subject)
        if obliged is None:
            raise ReadFailed(
                system=self.name,
                kind=FaultKind.PERMANENT,
                code="unknown_subject",
                message=f"nobody is to be told of {subject!r}",
            )
        wanted = list(obliged.told["recipients"])
        if name == "access":
            may_open = set(who_may_open(obliged.department).filter(pk__in=wanted).values_list("pk", flat=True))
            return {f"p{person}": "open" if person in may_open else "none" for person in wanted}
        # Of the dismissed, too: that they may not open it is what holds their message back, and that can be repaired.
        people = Person.objects.filter(pk__in=wanted)
        if name == "addresses":
            return {f"p{pk}": email for pk, email in people.exclude(email="").values_list("pk", "email")}
        return {f"p{pk}": language for pk, language in people.values_list("pk", "language")}
