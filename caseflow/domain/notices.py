"""What staff are told of by mail, each as they choose (console.md §1, 29). Texts are English sources."""

from __future__ import annotations

from enum import StrEnum

from .words import Word
from .words import gettext_noop as _


class StaffNotice(StrEnum):
    WAITS = "waits"  #: a proposal waits for this person's decision
    EXPIRES = "expires"  #: and its time is nearly over
    RETURNED = "returned"  #: a proposal was returned for review
    UNKNOWN = "unknown"  #: the result of a change has been unknown for too long


#: The label of the choice, and what the mail says; `{id}` is a public id, and nothing else of the case is told.
STAFF_NOTICES: dict[StaffNotice, Word] = {
    StaffNotice.WAITS: Word(_("A proposal waits for my decision"), _("Proposal {id} waits for your decision.")),
    StaffNotice.EXPIRES: Word(
        _("The time for my decision is nearly over"), _("The time to decide on proposal {id} is nearly over.")
    ),
    StaffNotice.RETURNED: Word(_("A proposal was returned for review"), _("Proposal {id} was returned for review.")),
    StaffNotice.UNKNOWN: Word(
        _("The result of a change stays unknown"), _("The result of change {id} is still unknown. Do not repeat it.")
    ),
}
