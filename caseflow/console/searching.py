"""Search by any id: one exact hit is gone to, everything else is shown in groups, and what is out of sight is missing.

A room that has objects with ids of their own adds a finder to FINDERS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from accounts import access
from accounts.models import Organisation, Person
from actions.finding import find_actions
from approvals.selectors import find_proposals
from caseflow.domain.identifiers import PUBLIC_ID
from caseflow.domain.roles import Right
from cases.finding import find_cases, find_cases_by_reading, is_name_of
from cases.models import Case
from documents.access import documents_in_sight
from documents.wording import title

from . import vocabulary, words
from .addresses import address_of, plain

SHOWN = 20  #: hits of one group
LONGEST = 200  #: characters of what is looked for


@dataclass(frozen=True, slots=True)
class Hit:
    """Something found. `exact` says that it was called by its whole id."""

    address: str
    title: str
    name: str
    about: str
    organisation: str
    word: words.Shown | None
    exact: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Hits of one kind; `more` is the address of all of them where there are more."""

    title: str
    hits: Sequence[Hit]
    more: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """`jump` is where the one exact hit is, or nothing."""

    text: str
    groups: Sequence[Group]
    has_reach: bool

    @property
    def number(self) -> int:
        return sum(len(group.hits) for group in self.groups)

    @property
    def jump(self) -> str:
        exact = {hit.address for group in self.groups for hit in group.hits if hit.exact}
        return exact.pop() if len(exact) == 1 else ""


#: Who looks, for what, and the organisations whose cases they see.
Finder = Callable[[Person, str, Sequence[Organisation]], Iterator[Hit]]


def search(person: Person, query: QueryDict) -> Found:
    """One query, and one for each finder."""
    text = plain(query, "q", LONGEST)
    seen = list(access.organisations_with(person, Right.SEE_CASES))
    groups = [_group(title, finder, person, text, seen) for title, finder in FINDERS] if text else []
    return Found(text, [group for group in groups if group.hits], bool(seen) or any(group.hits for group in groups))


def _group(title: Promise, finder: Finder, person: Person, text: str, seen: Sequence[Organisation]) -> Group:
    hits = list(finder(person, text, seen))
    more = reverse("console:cases") + address_of({"q": text}) if finder is _cases and len(hits) > SHOWN else ""
    return Group(str(title), hits[:SHOWN], more)


def _cases(person: Person, text: str, seen: Sequence[Organisation]) -> Iterator[Hit]:
    for case in access.within(find_cases(person, text), seen)[: SHOWN + 1]:
        yield _case_hit(case, exact=is_name_of(case, text))


def _readings(person: Person, text: str, seen: Sequence[Organisation]) -> Iterator[Hit]:
    for case in find_cases_by_reading(person, text)[: SHOWN + 1]:
        yield _case_hit(case, exact=True)


def _proposals(person: Person, text: str, seen: Sequence[Organisation]) -> Iterator[Hit]:
    for proposal in find_proposals(person, text)[: SHOWN + 1]:
        case = proposal.case
        yield Hit(
            address=reverse("console:proposal", args=[proposal.public_id]),
            title=words.request_sentence(case.process, case.process_version, proposal.decision, case.subject)
            or words.ending_sentence(case.process, case.process_version, proposal.decision)
            or proposal.decision,
            name=proposal.public_id,
            about=case.external_id,
            organisation=case.organisation.name,
            word=None,
            exact=True,
        )


def _actions(person: Person, text: str, seen: Sequence[Organisation]) -> Iterator[Hit]:
    for action in find_actions(person, text)[: SHOWN + 1]:
        yield Hit(
            address=reverse("console:action", args=[action.public_id]),
            title=vocabulary.operation_label(action.system, action.operation),
            name=action.public_id,
            about=action.case.external_id,
            organisation=action.case.organisation.name,
            word=words.action_word(action.status),
            exact=True,
        )


def _documents(person: Person, text: str, seen: Sequence[Organisation]) -> Iterator[Hit]:
    name = text.upper()
    if not (name.startswith("D-") and PUBLIC_ID.match(name)):
        return
    for document in documents_in_sight(person).filter(public_id=name):
        yield Hit(
            address=reverse("console:document", args=[document.public_id]),
            title=title(document.kind, document.department.name, document.period),
            name=document.public_id,
            about=document.subject,
            organisation=document.organisation.name,
            word=None,
            exact=True,
        )


def _case_hit(case: Case, *, exact: bool) -> Hit:
    return Hit(
        address=reverse("console:case", args=[case.public_id]),
        title=case.external_id,
        name=case.public_id,
        about=case.subject,
        organisation=case.organisation.name,
        word=words.state_word(case.state),
        exact=exact,
    )


FINDERS: Sequence[tuple[Promise, Finder]] = (
    (gettext_lazy("Cases"), _cases),
    (gettext_lazy("Cases for which this request read a fact"), _readings),
    (gettext_lazy("Proposals"), _proposals),
    (gettext_lazy("Actions"), _actions),
    (gettext_lazy("Documents"), _documents),
)
