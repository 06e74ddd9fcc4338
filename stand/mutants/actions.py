"""Effects: how they are sent and found, doubt, keys, the subject, withdrawal."""

from .mutation import Change, Mutation

EXECUTING = "tests/actions/test_executing.py"
DOUBT = "tests/actions/test_doubt.py"
WITHDRAWING = "tests/actions/test_withdrawing.py"
WEAK = "tests/actions/test_weak_systems.py"
HERE = "tests/actions/test_protections.py"

#: The point of no return asks for the age of the key, too.
ANY_KEY = Change("actions/beginning.py", "    if not key_lives:\n", "    if False:\n")

MUTATIONS = (
    Mutation(
        name="each attempt has a key of its own",
        protects="key for life",
        file="actions/sending.py",
        old="    spec = planned.spec\n",
        new="    from dataclasses import replace\n\n    spec = replace(planned.spec, key=begun.call_id)\n",
        caught_by=(
            f"{DOUBT}::test_a_request_dropped_before_it_was_applied_is_looked_up_and_sent_again_under_the_same_key",
        ),
        why="the outside system could not tell a repeat from a second effect",
    ),
    Mutation(
        name="the key of an action may be changed",
        protects="key for life",
        file="actions/migrations/0010_shorter_conditions.py",
        old='OR OLD."key" IS DISTINCT FROM (NEW."key") OR ',
        new="OR ",
        caught_by=(f"{EXECUTING}::test_the_key_of_an_action_never_changes",),
        why="a statement outside the code could give an effect a second key",
    ),
    Mutation(
        name="the request leaves before it is recorded",
        protects="call recorded before sending",
        file="actions/executing.py",
        old="    try:\n        begun = begin_call(lease, planned, purpose, readings)\n",
        new=(
            "    from .beginning import Begun\n\n"
            "    spec = planned.spec\n"
            '    early = perform(lease, planned, Begun("early"), to=spec.subject, request=spec.request)\n'
            "    try:\n        begun = begin_call(lease, planned, purpose, readings)\n"
        ),
        doors=(
            Change(
                "actions/executing.py",
                "    outcome = perform(lease, planned, begun, to=planned.spec.subject, request=planned.spec.request)\n",
                "    outcome = early\n",
            ),
        ),
        caught_by=(f"{EXECUTING}::test_the_action_is_reserved_and_the_call_recorded_before_the_request_leaves",),
        why="a crash after the request would leave no trace of it",
    ),
    Mutation(
        name="accepted is called confirmed",
        protects="read-back before CONFIRMED",
        file="actions/executing.py",
        old="        case Confirmed() if back is not None and not differences(planned.spec.confirms, back.facts):\n",
        new="        case Confirmed() if back is not None:\n",
        caught_by=(
            f"{EXECUTING}::test_a_requested_effect_is_never_called_done_while_the_read_back_shows_the_old_state",
        ),
        why="the customer would be told of a change that is not there",
    ),
    Mutation(
        name="two cases change one subject",
        protects="subject lock",
        file="actions/migrations/0002_initial.py",
        old='                fields=("organisation", "system", "operation", "subject"),\n',
        new='                fields=("organisation", "system", "operation", "subject", "case"),\n',
        doors=(
            Change(
                "actions/planned.py",
                "ON CONFLICT (organisation_id, system, operation, subject)\n",
                "ON CONFLICT (organisation_id, system, operation, subject, case_id)\n",
            ),
        ),
        caught_by=(f"{EXECUTING}::test_a_second_ticket_about_one_subscription_waits_and_then_activates_nothing_again",),
        why="a second ticket would send while the result of the first is unknown",
    ),
    Mutation(
        name="the subject is reserved after the reading",
        protects="reserve before reading",
        file="actions/executing.py",
        old="    return ask_for_planned(lease, effects_only=True, reserve=True)\n",
        new="    return ask_for_planned(lease, effects_only=True)\n",
        doors=(
            Change(
                "actions/executing.py",
                "    if planned.busy:\n        return _wait_for_subject(lease, planned)\n    if planned.in_doubt:\n",
                "    if planned.in_doubt:\n",
            ),
            Change(
                "actions/executing.py",
                "    readings = read_now(lease.case.definition, planned.intake, names, revision=planned.revision)\n"
                '    failpoint("execute.before_begin"',
                "    readings = read_now(lease.case.definition, planned.intake, names, revision=planned.revision)\n"
                "    from django.db import transaction\n\n"
                "    with transaction.atomic():\n"
                "        planned = ask_for_planned(lease, effects_only=True, reserve=True).answered()\n"
                "    if planned.busy:\n"
                "        return _wait_for_subject(lease, planned)\n"
                '    failpoint("execute.before_begin"',
            ),
        ),
        caught_by=(f"{EXECUTING}::test_before_the_send_the_action_is_reserved_before_the_facts_are_read",),
        why="two cases could both read `inactive` and then send one after the other",
    ),
    Mutation(
        name="who takes over sends at once",
        protects="look-up first on take-over",
        file="actions/executing.py",
        old="    if planned.in_doubt:\n        return _hand_to_reconcile(lease, planned)\n",
        new="    if planned.in_doubt:\n        return send(lease, planned, Purpose.REPEAT)\n",
        caught_by=(f"{DOUBT}::test_a_worker_killed_around_its_request_is_replaced_by_one_that_looks_before_it_sends",),
        why="a request that was already answered would be sent again",
    ),
    Mutation(
        name="a keyless system is asked after the lease",
        protects="lease at the send",
        file="actions/sending.py",
        old="send_by=sure_until(lease)\n",
        new="send_by=None\n",
        caught_by=(f"{WEAK}::test_who_overslept_the_lease_sends_nothing_to_a_keyless_system",),
        why="without a key nothing tells the late request of a sleeper from a second effect",
    ),
    Mutation(
        name="no answer is taken for nothing done",
        protects="doubt is no failure",
        file="integrations/operations_by_key.py",
        old=(
            "    except NoAnswer as failure:\n"
            "        return Unknown(failure.code, str(failure))\n"
            "    return answer if 200"
        ),
        new=(
            "    except NoAnswer as failure:\n"
            "        return NotApplied(failure.code, str(failure))\n"
            "    return answer if 200"
        ),
        caught_by=(
            f"{DOUBT}::test_a_lost_answer_is_unknown_and_settled_by_look_up_under_the_same_key_without_another_write",
        ),
        why="an effect that happened would be sent again or called refused",
    ),
    Mutation(
        name="a repeat that was not taken ends the doubt",
        protects="doubt is no failure",
        file="actions/executing.py",
        old="    if planned.unanswered_at is not None:\n        _still_unknown(",
        new="    if False:\n        _still_unknown(",
        caught_by=(f"{DOUBT}::test_a_late_request_that_lands_after_the_look_up_is_not_called_cancelled",),
        why="the first request may land after the second was turned away",
    ),
    Mutation(
        name="an old key is sent again",
        protects="life of a key",
        file="actions/reconciling.py",
        old="planned.key_age < adapter.key_life",
        new="planned.key_age < adapter.key_life * 100",
        doors=(ANY_KEY,),
        caught_by=(f"{DOUBT}::test_a_key_past_its_life_is_not_sent_again_by_itself",),
        why="a system that forgot the key would do it twice",
    ),
    Mutation(
        name="the send does not ask for the age of the key",
        protects="life of a key",
        file=ANY_KEY.file,
        old=ANY_KEY.old,
        new=ANY_KEY.new,
        caught_by=(f"{HERE}::test_a_key_whose_life_ends_between_the_look_up_and_the_send_is_not_sent_again",),
        why="a worker that slept after its look-up would send a key that the system has forgotten",
    ),
    Mutation(
        name="a lost receipt is a second letter",
        protects="look-up first on take-over",
        file="actions/notifying.py",
        old="    if planned.in_doubt:\n        return _look_up(lease, planned)\n",
        new="",
        caught_by=(
            "tests/actions/test_notifying.py::test_a_lost_receipt_is_looked_up_and_the_customer_gets_one_letter",
        ),
        why="a notice in doubt would be sent again without asking",
    ),
    Mutation(
        name="a later answer ends the doubt of an earlier request",
        protects="doubt guard on new proposals",
        file="actions/notifying.py",
        old="    doubt = isinstance(outcome, Unknown) or planned.unanswered_at is not None\n",
        new="    doubt = isinstance(outcome, Unknown)\n",
        caught_by=(
            "tests/actions/test_notifying.py::test_no_answer_to_a_later_request_ends_the_doubt_of_an_earlier_one",
        ),
        why="a letter that may have come would be called not sent, and sent once more under a key that has died",
    ),
    Mutation(
        name="a plan proposed again keeps its keys",
        protects="key for life",
        file="approvals/snapshots.py",
        old='        actions.append(action | {"id": name, "key": f"{process}:{name}"})\n',
        new="        actions.append(action)\n",
        caught_by=(
            f"{WITHDRAWING}::test_a_decision_withdrawn_in_time_sends_nothing_and_proposes_the_same_plan_under_new_ids",
        ),
        why="two approvals would share one effect and one history",
    ),
    Mutation(
        name="a withdrawal is never too late",
        protects="point of no return",
        file="actions/withdrawing.py",
        old="    if case.plan_begun:\n",
        new="    if False:\n",
        caught_by=(f"{WITHDRAWING}::test_once_the_call_began_it_is_too_late_and_the_answer_says_since_when",),
        why="a person would be told that nothing happens while the request is under way",
    ),
    Mutation(
        name="a withdrawal does not raise the fence",
        protects="fence in settlement",
        file="actions/withdrawing.py",
        old="SET status = 'cancelled', fence = fence + 1, ended_at",
        new="SET status = 'cancelled', ended_at",
        caught_by=(),
        why="the worker that holds the cancelled task may neither begin a call nor settle",
        equivalent=(
            "both ask for status 'leased' as well as for the fence, and a cancelled task is never leased again; the"
            " fence grows so that one of the two is enough"
        ),
    ),
)
