"""Rights and the roles that bundle them, per organisation (the table of design §9)."""

from __future__ import annotations

from enum import StrEnum


class Right(StrEnum):
    """The codenames of permissions on an organisation (or a department, for documents)."""

    OPEN_CASE = "open_case"
    SEE_CASES = "see_cases"
    REVEAL = "reveal_personal"
    SUPPLY_DATA = "supply_data"
    DECIDE = "decide_proposal"
    RECOVER = "order_recovery"
    AUTHORISE_RECOVERY = "authorise_recovery"
    OPEN_DOCUMENTS = "open_documents"
    READ_AUDIT = "read_audit"
    ADMINISTER = "administer_organisation"


#: What the one role above organisations may do. It is held by a person, not in an organisation, and shows no case.
PLATFORM = "operate_platform"


class Role(StrEnum):
    """What a person may be in an organisation."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"
    RECOVERER = "recoverer"
    REPORT_READER = "report_reader"
    AUDITOR = "auditor"
    ORG_ADMIN = "org_admin"


RIGHTS_OF_ROLE: dict[Role, frozenset[Right]] = {
    Role.VIEWER: frozenset({Right.SEE_CASES}),
    Role.OPERATOR: frozenset(
        {
            Right.OPEN_CASE,
            Right.SEE_CASES,
            Right.REVEAL,
            Right.SUPPLY_DATA,
            Right.RECOVER,
            Right.AUTHORISE_RECOVERY,
        }
    ),
    Role.APPROVER: frozenset({Right.SEE_CASES, Right.REVEAL, Right.DECIDE, Right.AUTHORISE_RECOVERY}),
    Role.RECOVERER: frozenset({Right.SEE_CASES, Right.RECOVER}),
    Role.REPORT_READER: frozenset({Right.OPEN_DOCUMENTS}),
    Role.AUDITOR: frozenset({Right.SEE_CASES, Right.READ_AUDIT}),
    Role.ORG_ADMIN: frozenset({Right.SEE_CASES, Right.ADMINISTER}),
}

#: Rights that may also be granted for one department alone.
RIGHTS_OF_DEPARTMENTS = frozenset({Right.OPEN_DOCUMENTS})

#: A service account holds single rights; it never decides, recovers or signs (design §9).
RIGHTS_OF_SERVICES = frozenset({Right.OPEN_CASE, Right.SUPPLY_DATA, Right.SEE_CASES})
