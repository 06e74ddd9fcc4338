"""Intake, the one writer of a case, its guards, its history and its personal texts."""

from .mutation import Change, Mutation

ADVANCING = "tests/cases/test_advancing.py"
INTAKE = "tests/cases/test_intake.py"
HERE = "tests/cases/test_protections.py"

MUTATIONS = (
    Mutation(
        name="a ticket may open two cases",
        protects="unique intake",
        file="cases/migrations/0001_initial.py",
        old='fields=("organisation", "source", "external_id_normal"), name="case_one_per_external_id"',
        new='fields=("organisation", "source", "external_id_normal", "public_id"), name="case_one_per_external_id"',
        doors=(
            Change("cases/intake.py", "  ON CONFLICT (organisation_id, source, external_id_normal) DO NOTHING\n", ""),
        ),
        caught_by=(f"{INTAKE}::test_twenty_at_the_same_instant_get_one_case",),
        why="without the constraint each delivery of a ticket is a case of its own",
    ),
    Mutation(
        name="other content passes as the same ticket",
        protects="conflict at intake",
        file="cases/intake.py",
        old="    if case.intake_digest != ticket.digest:\n",
        new="    if False:\n",
        caught_by=(f"{INTAKE}::test_the_same_ticket_with_other_content_is_refused_and_names_the_case",),
        why="a second ticket under a used number would be dropped in silence",
    ),
    Mutation(
        name="the first task is stored after the ticket",
        protects="task written in the same transaction",
        file="cases/intake.py",
        old='    publish_soon(CaseRow.of_case(case), [NewTask("check")])\n',
        new='    transaction.on_commit(lambda: publish_soon(CaseRow.of_case(case), [NewTask("check")]))\n',
        caught_by=(f"{HERE}::test_a_ticket_and_the_order_to_check_it_are_stored_by_one_transaction",),
        why="a crash between two commits leaves a case that nobody works on",
    ),
    Mutation(
        name="any version of the case will do",
        protects="version check",
        file="cases/advancing.py",
        old="AND version = %(expected)s",
        new="AND %(expected)s IS NOT NULL",
        # The database would find that the event speaks of another version than the row has.
        doors=(
            Change(
                "cases/migrations/0002_explained.py",
                "  IF said ->> 'kind' IS DISTINCT FROM",
                "  RETURN NULL;\n  IF said ->> 'kind' IS DISTINCT FROM",
            ),
        ),
        caught_by=(f"{ADVANCING}::test_a_case_that_came_back_to_the_same_state_is_not_the_case_that_was_looked_at",),
        why="a case that came back to the same state would be moved on an old reading",
    ),
    Mutation(
        name="a move that nobody waits for may be none",
        protects="version check",
        file="cases/advancing.py",
        old='_MOVED = {True: "moved", False: "t LEFT JOIN moved ON true"}',
        new='_MOVED = {True: "moved", False: "moved"}',
        caught_by=(
            "tests/cases/test_advancing.py"
            "::test_a_move_that_is_not_waited_for_is_refused_where_the_case_is_not_as_it_was_held",
        ),
        why="a move of a case that went on meanwhile would be committed with everything around it but the move",
    ),
    Mutation(
        name="a move that nobody waits for heeds no guard",
        protects="guards of transitions",
        file="cases/advancing.py",
        old="    refused = [guard for guard in row.guards if not _HOLDS[guard](case, adds or {})]\n",
        new="    refused = []\n",
        caught_by=("tests/cases/test_advancing.py::test_a_move_that_is_not_waited_for_heeds_the_guards",),
        why="what a guard forbids would fail as a broken row instead of being refused and recorded",
    ),
    Mutation(
        name="no guard of the table counts",
        protects="guards of transitions",
        file="cases/advancing.py",
        old='guards = "".join(f" AND {_GUARDS[guard]}" for guard in sorted(row.guards))',
        new='guards = ""',
        caught_by=(f"{ADVANCING}::test_a_case_with_an_effect_in_doubt_cannot_be_closed_by_anybody",),
        why="a case would be closed over an effect whose result is unknown",
    ),
    Mutation(
        name="a doubt does not stop a proposal",
        protects="doubt guard on new proposals",
        file="caseflow/domain/lifecycle.py",
        old="_T(_S.CHECKING, _E.PROPOSAL_READY, _S.WAITING_APPROVAL, _WAIT_FOR_PERSON, _SETTLED)",
        new="_T(_S.CHECKING, _E.PROPOSAL_READY, _S.WAITING_APPROVAL, _WAIT_FOR_PERSON)",
        caught_by=("tests/approvals/test_protections.py::test_a_case_whose_effect_is_in_doubt_gets_no_new_proposal",),
        why="a second plan would be offered while the first may still have happened",
    ),
    Mutation(
        name="a doubt does not stop an approval",
        protects="doubt guard on new proposals",
        file="caseflow/domain/lifecycle.py",
        old='_T(_S.WAITING_APPROVAL, _E.QUORUM_REACHED, _S.EXECUTING, _given("execute"), _SETTLED)',
        new='_T(_S.WAITING_APPROVAL, _E.QUORUM_REACHED, _S.EXECUTING, _given("execute"))',
        caught_by=("tests/approvals/test_protections.py::test_a_plan_is_not_approved_while_an_effect_is_in_doubt",),
        why="the last door before a second send",
    ),
    Mutation(
        name="a doubt stops nothing",
        protects="doubt guard on new proposals",
        file="caseflow/domain/lifecycle.py",
        old="_SETTLED = frozenset({Guard.NO_EFFECTS_OPEN})",
        new="_SETTLED: frozenset[Guard] = frozenset()",
        caught_by=(
            "tests/operations/test_compensation.py"
            "::test_asking_again_while_an_effect_is_in_doubt_is_refused_and_recorded",
        ),
        why="a person could have a case in doubt proposed afresh",
        doors=(
            Change(
                "caseflow/domain/recovery.py",
                "Guard.NO_EFFECTS_OPEN: lambda at: at.effects_open == 0,",
                "Guard.NO_EFFECTS_OPEN: lambda at: True,",
            ),
        ),
    ),
    Mutation(
        name="a state needs no audit event",
        protects="explained states",
        file="cases/migrations/0002_explained.py",
        old="  IF TG_OP = 'UPDATE' AND (NEW.version <> OLD.version + 1",
        new="  RETURN NULL;\n  IF TG_OP = 'UPDATE' AND (NEW.version <> OLD.version + 1",
        caught_by=(f"{ADVANCING}::test_a_state_written_past_the_one_writer_is_refused_when_it_is_stored",),
        why="whoever writes past the one writer would leave a case that nobody can explain",
    ),
    Mutation(
        name="protecting triggers can be set aside",
        protects="append-only history",
        file="caseflow/rights.py",
        old="    connection = connections[using]\n    enable_always(sender, using)\n",
        new="    connection = connections[using]\n",
        caught_by=(
            "tests/audit/test_append_only.py::test_nobody_changes_or_removes_a_row_not_even_past_ordinary_triggers",
        ),
        why="under session_replication_role an ordinary trigger is silent",
    ),
    Mutation(
        name="the claim is stored in clear text",
        protects="personal text is sealed",
        file="cases/revisions.py",
        old='body[name] = {"personal": field, "digest": digest_of_personal(intake[name])}',
        new='body[name] = {"personal": field, "digest": digest_of_personal(intake[name]), "text": intake[name]}',
        caught_by=(f"{INTAKE}::test_no_table_holds_the_claim_the_address_or_a_reason_in_clear_text",),
        why="a copy of the database would hold what customers wrote",
    ),
)
