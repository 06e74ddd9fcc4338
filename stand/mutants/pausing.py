"""Pauses and caps."""

from .mutation import Change, Mutation

AGAINST = "tests/operations/test_pause_against_send.py"
CAPPING = "tests/actions/test_capping.py"
CLAIMING = "tests/cases/test_claiming.py"
EXECUTING = "tests/actions/test_executing.py"
PAUSING = "tests/operations/test_pausing.py"

MUTATIONS = (
    Mutation(
        name="pausing does not take the gate",
        protects="gate against a pause",
        file="cases/pausing.py",
        old="    gate.hold_exclusive()\n    return store_pause(",
        new="    return store_pause(",
        doors=(
            Change(
                "operations/pausing.py",
                "            gate.hold_exclusive()\n            require(by, kind, organisation_id)\n",
                "            require(by, kind, organisation_id)\n",
            ),
        ),
        caught_by=(f"{AGAINST}::test_who_pauses_or_resumes_waits_for_the_sends_that_are_beginning",),
        why="a send that is beginning would be stored after the pause had returned",
    ),
    Mutation(
        name="a pause of one organisation stops all sends",
        protects="pause check",
        file="actions/beginning.py",
        old="          AND (pause.organisation_id IS NULL OR pause.organisation_id = a.organisation_id)\n",
        new="",
        caught_by=(f"{EXECUTING}::test_a_pause_of_another_system_or_of_another_organisation_holds_nothing",),
        why="an operator of one organisation would stop the work of the others",
    ),
    Mutation(
        name="a pause of one organisation stops all work",
        protects="pause check",
        file="cases/publishing.py",
        old="(p.organisation_id IS NULL OR p.organisation_id = {organisation})",
        new="({organisation} IS NOT NULL)",
        caught_by=(f"{CLAIMING}::test_a_pause_past_its_end_and_a_pause_of_somebody_else_hold_nothing",),
        why="an operator of one organisation would stop the work of the others",
    ),
    Mutation(
        name="a pause uses up the patience of what waits",
        protects="pause check",
        file="cases/claiming.py",
        old="ELSE task.deadline_at + {_HELD} END",
        new="ELSE task.deadline_at END",
        caught_by=(f"{PAUSING}::test_a_long_pause_of_a_process_uses_up_no_time_of_what_was_tried_before",),
        why="a weekend's pause would send every case to a person",
    ),
    Mutation(
        name="anybody pauses",
        protects="right to pause",
        file="operations/pausing.py",
        old="    raise NotPermitted(right=OPERATE_PLATFORM)\n",
        new="    return\n",
        caught_by=(f"{PAUSING}::test_who_may_not_pause_is_refused_and_on_record",),
        why="anybody who can sign in would stop the platform, or let it go on",
    ),
    Mutation(
        name="a capped system has no cap",
        protects="cap of effects",
        file="actions/beginning.py",
        old="        if reached:\n",
        new="        if False:\n",
        caught_by=(f"{CAPPING}::test_of_eight_senders_at_once_just_as_many_send_as_the_cap_allows",),
        why="a mistake in a process would change everything there is within an hour",
    ),
    Mutation(
        name="many count for a capped system side by side",
        protects="cap of effects",
        file="actions/capping.py",
        old='    return gate.shared_alone(f"effects {system}") if caps else gate.shared()\n',
        new="    return gate.shared()\n",
        caught_by=(f"{CAPPING}::test_who_counts_for_a_capped_system_counts_alone",),
        why="each of many senders would count before the others had stored theirs",
    ),
    Mutation(
        name="what was resumed meanwhile is put to sleep",
        protects="resuming rings",
        file="cases/pausing.py",
        old="    if pause is None:\n        return timedelta(0)\n",
        new="    if pause is None:\n        return SHORTEST_WAIT\n",
        caught_by=(f"{PAUSING}::test_a_person_who_resumes_while_a_send_is_being_put_to_sleep_finds_it_awake",),
        why="a send that was just refused would not hear of the end of its pause",
    ),
    Mutation(
        name="whoever resumes wakes nobody",
        protects="resuming rings",
        file="cases/pausing.py",
        old="    transaction.on_commit(lambda: wake_held(pause.organisation_id))\n",
        new="",
        caught_by=(f"{PAUSING}::test_whoever_resumes_rings_and_what_was_held_at_the_last_moment_is_due_at_once",),
        why="what was held would sleep on for minutes after the end of a pause",
    ),
)
