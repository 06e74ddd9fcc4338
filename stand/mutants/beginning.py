"""What `begin_call` asks before a request leaves: digest, approvals, facts, lease, locks, the gate."""

from .mutation import Change, Mutation

EXECUTING = "tests/actions/test_executing.py"
DOUBT = "tests/actions/test_doubt.py"
WITHDRAWING = "tests/actions/test_withdrawing.py"
HERE = "tests/actions/test_protections.py"

#: The trigger behind the code: an action moves only along its own table.
ANY_MOVE = Change(
    "actions/migrations/0010_shorter_conditions.py",
    'condition="WHEN (OLD.status <> NEW.status AND ',
    'condition="WHEN (false AND ',
)
MUTATIONS = (
    Mutation(
        name="changed bytes are carried out",
        protects="digest check in begin_call",
        file="actions/beginning.py",
        old="    if not digest_holds:\n",
        new="    if False:\n",
        caught_by=(f"{HERE}::test_a_plan_changed_in_a_word_that_no_fact_rests_on_is_not_carried_out",),
        why="what is sent would be something else than what was approved",
    ),
    Mutation(
        name="an approval of another digest is good enough",
        protects="digest check in begin_call",
        file="actions/beginning.py",
        old=" AND d.digest = p.digest FROM approvals_decision d",
        new=" FROM approvals_decision d",
        doors=(
            Change(
                "actions/beginning.py",
                'filter(proposal_id=proposal_id, digest=F("proposal__digest"))',
                "filter(proposal_id=proposal_id)",
            ),
        ),
        caught_by=(f"{EXECUTING}::test_a_plan_and_its_digest_changed_together_after_the_approval_are_not_carried_out",),
        why="a plan changed together with its digest is whole, but nobody approved it",
    ),
    Mutation(
        name="changed facts do not stop the send",
        protects="re-read of facts",
        file="actions/beginning.py",
        old="    if changed:\n",
        new="    if False:\n",
        caught_by=(f"{EXECUTING}::test_a_payment_refunded_while_the_case_waited_sends_nothing_and_ends_as_refunded",),
        why="access would be restored for a payment that was refunded meanwhile",
    ),
    Mutation(
        name="facts may be old",
        protects="re-read of facts",
        file="actions/beginning.py",
        old="    if datetime.now(UTC) - min(fact.observed_at for fact in readings.readings) > FRESH:\n",
        new="    if False:\n",
        caught_by=(f"{WITHDRAWING}::test_the_facts_are_as_fresh_as_the_send_or_it_does_not_begin",),
        why="a worker that slept after its re-read would send on what was true before",
    ),
    Mutation(
        name="the send does not wait for a withdrawal",
        protects="lock in begin_call against withdrawal",
        file="actions/beginning.py",
        old="        gate_of(caps, planned.spec.system), locking(case.id), checking, *counting\n",
        new=(
            "        gate_of(caps, planned.spec.system),\n"
            '        (locking(case.id)[0].replace("FOR NO KEY UPDATE", ""), [case.id]),\n'
            "        checking,\n"
            "        *counting,\n"
        ),
        doors=(ANY_MOVE,),
        caught_by=(f"{HERE}::test_a_send_waits_for_a_withdrawal_that_is_being_stored_and_then_sends_nothing",),
        why="a withdrawal that is being stored would be overtaken by the request it takes back",
    ),
    Mutation(
        name="the send does not take the gate",
        protects="gate against a pause",
        file="actions/beginning.py",
        old="        gate_of(caps, planned.spec.system), locking(case.id), checking, *counting\n",
        new='        ("SELECT 1", ()), locking(case.id), checking, *counting\n',
        caught_by=(f"{WITHDRAWING}::test_a_stop_that_holds_the_gate_first_is_seen_by_the_send_that_waits_for_it",),
        why="a request could leave after the pause was stored",
    ),
    Mutation(
        name="the send takes the gate after its checks",
        protects="gate against a pause",
        file="actions/beginning.py",
        old=(
            "    _gate, (locked,), (found,), *approvals = rows_of_each(\n"
            "        gate_of(caps, planned.spec.system), locking(case.id), checking, *counting\n"
        ),
        new=(
            "    (locked,), (found,), *approvals, _gate = rows_of_each(\n"
            "        locking(case.id), checking, *counting, gate_of(caps, planned.spec.system)\n"
        ),
        caught_by=(f"{WITHDRAWING}::test_a_stop_that_holds_the_gate_first_is_seen_by_the_send_that_waits_for_it",),
        why="the send would wait for a stop it does not see",
    ),
    Mutation(
        name="the send locks the case after its checks",
        protects="lock in begin_call against withdrawal",
        file="actions/beginning.py",
        old=(
            "    _gate, (locked,), (found,), *approvals = rows_of_each(\n"
            "        gate_of(caps, planned.spec.system), locking(case.id), checking, *counting\n"
        ),
        new=(
            "    _gate, (found,), (locked,), *approvals = rows_of_each(\n"
            "        gate_of(caps, planned.spec.system), checking, locking(case.id), *counting\n"
        ),
        # What moved is told by the case's version, too.
        doors=(
            ANY_MOVE,
            Change(
                "actions/beginning.py",
                "    if case.version != lease.generation or case.state not in states:\n",
                "    if False:\n",
            ),
        ),
        caught_by=(f"{HERE}::test_a_send_waits_for_a_withdrawal_that_is_being_stored_and_then_sends_nothing",),
        why="the checks would look at what the withdrawal is about to change",
    ),
    Mutation(
        name="a change of roles does not take the gate",
        protects="gate against a pause",
        file="accounts/services.py",
        old="    hold_exclusive()\n    group_id = _group_ids(",
        new="    group_id = _group_ids(",
        caught_by=(f"{HERE}::test_a_role_is_not_taken_away_while_a_send_is_beginning",),
        why="a request could leave on the word of somebody who was dismissed before",
    ),
    Mutation(
        name="a pause does not hold the send",
        protects="pause check",
        file="actions/beginning.py",
        old="    if paused:\n",
        new="    if False:\n",
        caught_by=(f"{EXECUTING}::test_a_pause_holds_the_request_and_resuming_lets_it_go",),
        why="a pause set during the re-read would not be seen",
    ),
    Mutation(
        name="an old approval is good enough",
        protects="time to execute",
        file="actions/beginning.py",
        old="    if purpose is Purpose.FIRST and not approved:\n",
        new="    if False:\n",
        caught_by=(f"{EXECUTING}::test_an_approval_that_was_not_used_in_time_sends_nothing_and_is_asked_for_again",),
        why="a plan would be carried out long after somebody agreed to it",
    ),
    Mutation(
        name="a dismissed approver counts",
        protects="right at the send",
        file="actions/beginning.py",
        old="    return CaseRow.of(locked), found, sum(map(len, approvals))\n",
        new="    return CaseRow.of(locked), found, quorum_of(planned.snapshot)\n",
        caught_by=(f"{EXECUTING}::test_an_approver_who_lost_the_right_before_the_send_is_not_counted",),
        why="the approval of somebody who was dismissed would still send",
    ),
    Mutation(
        name="a copy of the database sends",
        protects="installation",
        file="actions/beginning.py",
        old="    if not at_home:\n",
        new="    if False:\n",
        caught_by=(f"{EXECUTING}::test_a_copy_of_the_database_under_other_settings_sends_nothing",),
        why="a restored backup would do everything a second time",
    ),
    Mutation(
        name="the send asks for no lease",
        protects="lease at the send",
        file="actions/beginning.py",
        old="    if not holds:\n",
        new="    if False:\n",
        caught_by=(f"{DOUBT}::test_a_worker_that_slept_past_its_lease_before_the_send_sends_nothing",),
        why="a worker that slept past its lease would send beside its successor",
    ),
    Mutation(
        name="the send does not look where the case is",
        protects="version check",
        file="actions/beginning.py",
        old="    if case.version != lease.generation or case.state not in states:\n",
        new="    if False:\n",
        caught_by=(f"{HERE}::test_a_case_closed_between_the_re_read_and_the_send_sends_nothing",),
        why="a case that a person closed would still be changed outside",
    ),
)
