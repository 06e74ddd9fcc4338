"""Proposals and decisions: what may be proposed, and what a person's word counts for."""

from .mutation import Mutation

DECIDING = "tests/approvals/test_deciding.py"
PROPOSING = "tests/approvals/test_proposing.py"
HERE = "tests/approvals/test_protections.py"
BROKEN = "test_a_proposers_word_that_breaks_a_rule_becomes_no_proposal_but_a_person_is_asked"

MUTATIONS = (
    Mutation(
        name="any digest passes",
        protects="digest check at decision",
        file="approvals/deciding.py",
        old="    if said.digest != proposal.digest:\n",
        new="    if False:\n",
        caught_by=(f"{DECIDING}::test_a_decision_on_another_digest_sends_nothing_and_says_what_differs",),
        why="a person would approve something they did not see",
    ),
    Mutation(
        name="any version that was seen passes",
        protects="version check",
        file="approvals/deciding.py",
        old="    if said.version != case.version:\n",
        new="    if False:\n",
        caught_by=(f"{DECIDING}::test_a_decision_on_another_version_of_the_case_sends_nothing",),
        why="a person would decide on a page from before the case moved",
    ),
    Mutation(
        name="newer facts do not matter to a decision",
        protects="re-read of facts",
        file="approvals/deciding.py",
        old="    if changed:\n",
        new="    if False:\n",
        caught_by=(
            f"{DECIDING}::test_a_fact_that_was_read_anew_while_the_version_stayed_refuses_the_decision_and_shows_both",
        ),
        why="a refund that is known already would not stop the approval",
    ),
    Mutation(
        name="an approval may come late",
        protects="validity of a proposal",
        file="approvals/deciding.py",
        old="proposal.valid_until <= now:",
        new="False:",
        caught_by=(f"{DECIDING}::test_a_minute_past_the_end_of_validity_nothing_can_be_decided_and_a_person_is_asked",),
        why="a plan would be approved on facts of last week",
    ),
    Mutation(
        name="the approver's machine says what time it is",
        protects="database clock",
        file="approvals/deciding.py",
        old="    return now, has_told, ",
        new="    return datetime.now(now.tzinfo), has_told, ",
        caught_by=(f"{HERE}::test_a_web_server_whose_clock_is_behind_does_not_lengthen_the_time_to_decide",),
        why="a web server whose clock is behind would accept what has expired",
    ),
    Mutation(
        name="who caused it may decide",
        protects="four eyes",
        file="approvals/deciding.py",
        old="    if _policy(case).four_eyes and",
        new="    if False and",
        caught_by=(f"{DECIDING}::test_who_opened_the_case_does_not_decide_on_it",),
        why="one person alone could move money",
    ),
    Mutation(
        name="one approval is enough",
        protects="quorum",
        file="approvals/deciding.py",
        old="approvals >= quorum",
        new="approvals >= 1",
        caught_by=(f"{DECIDING}::test_below_the_quorum_nothing_moves_and_the_second_approver_decides",),
        why="the second pair of eyes would be decoration",
    ),
    Mutation(
        name="nobody looks whether it was decided",
        protects="one decisive decision",
        file="approvals/deciding.py",
        old="    decisive = next((decision for decision in earlier if decision.decisive), None)\n",
        new="    decisive = None\n",
        caught_by=(f"{DECIDING}::test_of_two_approvals_at_the_same_instant_one_decides_and_the_other_is_told_by_whom",),
        why="the second of two approvers would not be told that it was decided, and by whom",
    ),
    Mutation(
        name="two at once may both decide",
        protects="one decisive decision",
        file="approvals/deciding.py",
        old="    (locked,), found = rows_of_each(locking(seen.id), ",
        new=(
            "    reading = locking(seen.id)[0].replace(' FOR NO KEY UPDATE', ''), [seen.id]\n"
            "    (locked,), found = rows_of_each(reading, "
        ),
        caught_by=(f"{DECIDING}::test_of_two_approvals_at_the_same_instant_one_decides_and_the_other_is_told_by_whom",),
        why="without the lock both read that nobody has decided",
    ),
    Mutation(
        name="the database keeps two decisive decisions",
        protects="one decisive decision",
        file="approvals/migrations/0002_initial.py",
        old='                fields=("proposal",),\n                name="decision_one_decisive",\n',
        new='                fields=("proposal", "person", "kind"),\n                name="decision_one_decisive",\n',
        caught_by=(f"{HERE}::test_the_database_itself_keeps_a_second_decisive_decision_out",),
        why="whatever a release forgets, one proposal is decided once",
    ),
    Mutation(
        name="the order to send is stored after the approval",
        protects="task written in the same transaction",
        file="approvals/deciding.py",
        old="    tasks = publication(moved, started_by(transition.starts, follow))\n",
        new=(
            "    from cases.publishing import publish\n\n"
            "    tasks = publication(moved, [])\n"
            "    transaction.on_commit(lambda: publish(moved, started_by(transition.starts, follow)))\n"
        ),
        caught_by=(f"{HERE}::test_an_approval_and_the_order_to_send_are_stored_by_one_transaction",),
        why="a crash between two commits leaves an approval that nobody carries out",
    ),
    Mutation(
        name="evidence need not exist",
        protects="rules for proposals",
        file="approvals/rules.py",
        old="        if value_at(facts, path) is None:\n",
        new="        if False:\n",
        caught_by=(f"{PROPOSING}::{BROKEN}",),
        why="a proposer could cite a fact that nobody read",
    ),
    Mutation(
        name="the proposer decides what is allowed",
        protects="rules for proposals",
        file="approvals/rules.py",
        old="    if proposed.decision != ruled.decision:\n",
        new="    if False:\n",
        caught_by=(f"{PROPOSING}::{BROKEN}",),
        why="a model's word would replace the business rule",
    ),
)
