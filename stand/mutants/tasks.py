"""Tasks: ringing, claiming, leases, settling."""

from .mutation import Change, Mutation

CLAIMING = "tests/cases/test_claiming.py"
DISPATCHING = "tests/cases/test_dispatching.py"
HERE = "tests/cases/test_protections.py"
RHYTHM = "tests/cases/test_rhythm.py"

MUTATIONS = (
    Mutation(
        name="the attempt counts with its result",
        protects="attempt counted before work",
        file="cases/working.py",
        old=(
            "            if lease is None or lease.exhausted or lease.definition.begin is None:\n"
            "                return lease\n            return lease.definition.begin(lease)\n"
        ),
        new=(
            "            if lease is None or lease.exhausted:\n"
            "                return lease\n            return lease.definition.run(lease)\n"
        ),
        caught_by=(f"{CLAIMING}::test_a_task_that_kills_its_worker_five_times_stops_and_asks_for_a_person",),
        why="a task that kills its worker would take its own count back and never stop",
    ),
    Mutation(
        name="slow work is rung for in bunches",
        protects="nothing waits behind slow work",
        file="cases/dispatching.py",
        old="size = BUNCH if queue == QUICK and queue in full else 1",
        new="size = BUNCH if queue in full else 1",
        caught_by=(
            f"{DISPATCHING}::test_behind_a_full_window_one_bell_is_rung_for_several_quick_tasks_and_for_nothing_else",
        ),
        why="a model that answers after a minute would hold up three others that a free thread could ask",
    ),
    Mutation(
        name="a lost worker is not counted",
        protects="attempt counted before work",
        file="cases/claiming.py",
        old="task.lost + (v.status = 'leased')::int",
        new="task.lost",
        caught_by=(f"{CLAIMING}::test_a_task_that_kills_its_worker_five_times_stops_and_asks_for_a_person",),
        why="the limit of lost workers would never be reached",
    ),
    Mutation(
        name="any holder of a leased task settles",
        protects="fence in settlement",
        file="cases/settling.py",
        old="SELECT t.fence = %s AND t.status = 'leased', clock_timestamp(), {SELECTED}",
        new="SELECT %s IS NOT NULL AND t.status = 'leased', clock_timestamp(), {SELECTED}",
        caught_by=(f"{HERE}::test_a_replaced_worker_settles_nothing_while_its_successor_still_works",),
        why="the result of a worker that slept would be stored beside its successor's",
    ),
    Mutation(
        name="settling asks for no lease",
        protects="fence in settlement",
        file="cases/settling.py",
        old="        if not found or not found[0][0]:\n",
        new="        if not found:\n",
        caught_by=(f"{CLAIMING}::test_what_a_silent_worker_settles_after_it_was_replaced_changes_nothing",),
        why="finished work would be settled a second time",
    ),
    Mutation(
        name="what follows is stored after the result",
        protects="task written in the same transaction",
        file="cases/settling.py",
        old="        beside = publication(moved, follow, ending=ending, **self._claiming)\n",
        new=(
            "        beside = publication(moved, [], ending=ending, **self._claiming)\n"
            "        transaction.on_commit(lambda: publish(moved, follow))\n"
        ),
        caught_by=(f"{HERE}::test_a_result_and_the_work_that_follows_are_stored_by_one_transaction",),
        why="a crash between two commits leaves a case that stands still for ever",
    ),
    Mutation(
        name="the dispatcher remembers how far it was",
        protects="selection by status",
        file="cases/dispatching.py",
        old="      AND (t.organisation_key, t.available_at) <= (lines.organisation_key, now.at)\n",
        new=(
            "      AND (t.organisation_key, t.available_at) <= (lines.organisation_key, now.at)\n"
            "      AND t.id > (SELECT coalesce(max(r.id), 0) FROM cases_task r WHERE r.rung_at IS NOT NULL)\n"
        ),
        caught_by=(f"{DISPATCHING}::test_a_slow_transaction_with_a_lower_number_is_not_passed_over",),
        why="a transaction that commits late has a low number and would be passed over",
    ),
    Mutation(
        name="a lost bell is not rung again",
        protects="bells are only bells",
        file="cases/dispatching.py",
        old="        status = 'due' AND rung_at <",
        new="        false AND rung_at <",
        caught_by=(f"{DISPATCHING}::test_nothing_is_lost_when_a_dispatcher_dies_between_marking_and_ringing",),
        why="a message that was lost would be a task that was lost",
    ),
    Mutation(
        name="a dispatcher at rest looks for new tasks alone",
        protects="bells are only bells",
        file="cases/dispatching.py",
        old="       OR coalesce((SELECT min(leased_until) FROM cases_task WHERE status = 'leased') < now.at, false),\n",
        new="       AND false,\n",
        caught_by=(f"{DISPATCHING}::test_one_look_tells_what_a_sweep_has_to_do",),
        why="the task of a worker that died would wait until something else falls due",
    ),
    Mutation(
        name="a dispatcher that is told all the time never looks",
        protects="bells are only bells",
        file="cases/management/commands/run_dispatcher.py",
        old=(
            "        if (behind_full or swept.rung or told)"
            " and self._clock() - self._looked_at < IDLE.total_seconds():\n"
        ),
        new="        if behind_full or swept.rung or told:\n",
        caught_by=(
            f"{DISPATCHING}::"
            "test_a_dispatcher_that_is_told_of_something_all_the_time_looks_for_lost_bells_all_the_same",
        ),
        why="with a full window of lost bells and new tickets coming in, nothing would ever move again",
    ),
    Mutation(
        name="a dispatcher listens while it rests behind a full window",
        protects="bells are only bells",
        file="cases/management/commands/run_dispatcher.py",
        old="            self._stopped.wait(max(0.0, self._began + rest - self._clock()))\n",
        new="            self._listener.wait(max(0.0, self._began + rest - self._clock()))\n",
        caught_by=(f"{RHYTHM}::test_behind_a_full_window_nothing_that_is_told_ends_the_rest_but_the_order_to_stop",),
        why="each notice would cost a sweep that has nothing to ring for, and the order to stop would have to wait",
    ),
    Mutation(
        name="a rest behind a full window has no end",
        protects="bells are only bells",
        file="cases/dispatching.py",
        old="    return min(longest, max(shortest, seconds * window / 4 / max(taken, 1)))\n",
        new="    return max(shortest, seconds * window / 4 / max(taken, 1))\n",
        caught_by=(f"{RHYTHM}::test_workers_that_take_nothing_or_little_are_looked_after_all_the_same",),
        why="workers that come back after a stop would run dry beside due tasks",
    ),
    Mutation(
        name="workers that became faster are rung for as before",
        protects="bells are only bells",
        file="cases/dispatching.py",
        old="    if taken > window // 2:\n        return shortest\n",
        new="",
        caught_by=(f"{RHYTHM}::test_workers_that_have_become_faster_are_rung_for_at_the_shortest_distance",),
        why="workers would run dry beside due tasks",
    ),
    Mutation(
        name="a window that has just filled is taken for one that empties slowly",
        protects="bells are only bells",
        file="cases/management/commands/run_dispatcher.py",
        old="swept.free[queue] if queue in before else self._window for",
        new="swept.free[queue] for",
        caught_by=(f"{RHYTHM}::test_a_window_that_has_just_filled_may_empty_as_fast",),
        why="the first crowd after a quiet time would wait for the longest rest",
    ),
    Mutation(
        name="quick work waits for a crowd of slow work",
        protects="fairness between queues",
        file="cases/management/commands/run_dispatcher.py",
        old="        if QUICK not in swept.full or self._window <= FEW:\n",
        new="        if not swept.full:\n",
        caught_by=(f"{RHYTHM}::test_while_quick_work_has_room_a_crowd_of_slow_work_delays_nothing",),
        why="while models and files are busy, each decision of a person would wait before its request leaves",
    ),
    Mutation(
        name="a small window is always in no hurry",
        protects="fairness between queues",
        file="cases/management/commands/run_dispatcher.py",
        old="        if QUICK not in swept.full or self._window <= FEW:\n",
        new="        if QUICK not in swept.full:\n",
        caught_by=(f"{RHYTHM}::test_a_window_of_few_is_topped_up_as_promptly_as_ever",),
        why="with a window of one a worker would wait 20 ms after each task",
    ),
    Mutation(
        name="a look walks through the tasks",
        protects="bells are only bells",
        file="cases/dispatching.py",
        old=(
            "coalesce((SELECT min(available_at) FROM cases_task WHERE status = 'due' AND rung_at IS NULL) <= now.at,"
            " false),\n"
        ),
        new=("EXISTS (SELECT FROM cases_task WHERE status = 'due' AND rung_at IS NULL AND available_at <= now.at),\n"),
        caught_by=(f"{DISPATCHING}::test_a_look_reads_next_to_nothing_however_much_is_open_or_done",),
        why="every dispatcher would read all tasks once a second",
    ),
    Mutation(
        name="first come, first rung",
        protects="fairness between organisations",
        file="cases/dispatching.py",
        old="WHERE heads.queue = room.queue ORDER BY turn, available_at, id",
        new="WHERE heads.queue = room.queue ORDER BY available_at, id",
        caught_by=(f"{DISPATCHING}::test_a_flood_of_one_organisation_does_not_starve_another",),
        why="a flood of one organisation would starve another",
    ),
    Mutation(
        name="a line is found in the flood of another",
        protects="fairness between organisations",
        file="cases/dispatching.py",
        old=(
            "      AND t.organisation_key >= lines.organisation_key\n"
            "      AND (t.organisation_key, t.available_at) <= (lines.organisation_key, now.at)\n"
        ),
        new="      AND t.organisation_key = lines.organisation_key AND t.available_at <= now.at\n",
        caught_by=(f"{DISPATCHING}::test_nobody_walks_through_the_flood_of_one_organisation_to_the_line_of_another",),
        why="each sweep would cost as much as the longest flood is long",
    ),
    Mutation(
        name="one room for all queues",
        protects="fairness between queues",
        file="cases/dispatching.py",
        old="WHERE heads.queue = room.queue ORDER BY turn, available_at, id",
        new="ORDER BY turn, available_at, id",
        caught_by=(f"{DISPATCHING}::test_each_queue_has_a_window_of_its_own",),
        why="a flood of slow work would leave the quick queue no room, or be rung without bound",
    ),
    Mutation(
        name="paused work is rung",
        protects="pause check",
        file="cases/dispatching.py",
        old="      AND NOT paused.wholly AND split_part(t.process, ':', 1) <> ALL(paused.processes)\n",
        new="",
        caught_by=(f"{DISPATCHING}::test_what_is_paused_is_not_rung_and_takes_no_room",),
        why="what is paused would fill the window and hold up everybody else",
    ),
    Mutation(
        name="paused work is claimed",
        protects="pause check",
        file="cases/claiming.py",
        old="    WHEN mine.organisation_key <> 0\n",
        new="    WHEN false\n",
        caught_by=(f"{CLAIMING}::test_the_work_of_a_paused_process_or_organisation_is_not_begun",),
        why="a bell that was rung before the pause would still begin the work",
    ),
    Mutation(
        name="a worker goes on into paused work",
        protects="pause check",
        file="cases/publishing.py",
        old="n.claim AND NOT {paused}",
        new="n.claim AND ({paused} OR true)",
        caught_by=(f"{CLAIMING}::test_a_worker_takes_nothing_that_is_paused_or_due_later",),
        why="a worker that follows a case would not notice the pause",
    ),
    Mutation(
        name="the worker's clock judges leases",
        protects="database clock",
        file="cases/claiming.py",
        old="WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS at),",
        new="WITH clock AS MATERIALIZED (SELECT %(own_clock)s::timestamptz AS at),",
        doors=(
            Change(
                "cases/claiming.py",
                '        "worker": worker,\n        "hand_back"',
                '        "worker": worker,\n        "own_clock": datetime.now().astimezone(),\n        "hand_back"',
            ),
        ),
        caught_by=(f"{HERE}::test_a_worker_whose_clock_is_an_hour_ahead_takes_no_living_lease",),
        why="a machine whose clock is ahead would take tasks from workers that are alive",
    ),
    Mutation(
        name="work for an older version is done",
        protects="obsolete tasks",
        file="cases/claiming.py",
        old="     AND mine.generation < (SELECT version FROM cases_case WHERE id = mine.case_id) THEN 'obsolete'",
        new="     AND false THEN 'obsolete'",
        caught_by=(f"{CLAIMING}::test_a_task_of_an_older_version_of_the_case_is_closed_without_an_attempt",),
        why="a task left over from an earlier state would be worked on",
    ),
    Mutation(
        name="whoever held a lease renews it",
        protects="fence in renewal",
        file="cases/leases.py",
        old=" AND t.fence = held.fence",
        new="",
        caught_by=(f"{CLAIMING}::test_nobody_renews_a_lease_that_another_took_over",),
        why="two workers would believe that they hold the task",
    ),
    Mutation(
        name="a lease is renewed for ever",
        protects="limit of a lease",
        file="cases/leases.py",
        old="least(clock_timestamp() + %s * interval '1 second', t.lease_limit_at)",
        new="clock_timestamp() + %s * interval '1 second'",
        caught_by=(f"{CLAIMING}::test_a_living_worker_renews_its_lease_but_never_past_the_limit_of_the_stage",),
        why="a stage that hangs would hold its case as long as its process lives",
    ),
    Mutation(
        name="a late result moves the case",
        protects="late settlements",
        file="cases/settling.py",
        old="        if self._move is not None and self.row is not None and not self.late:\n",
        new="        if self._move is not None and self.row is not None:\n",
        caught_by=(
            "tests/cases/test_settling.py::test_an_event_that_comes_after_the_case_moved_on_is_recorded_as_late",
        ),
        why="a result found for an earlier version would move the present one",
    ),
    Mutation(
        name="the end of a task asks for no fence",
        protects="fence in settlement",
        file="cases/publishing.py",
        old="AND fence = %(fence)s AND leased_until IS NOT NULL),",
        new="AND leased_until IS NOT NULL),",
        caught_by=(),
        why="the same statement ends the task and publishes what follows",
        equivalent=(
            "the settlement locked this row and compared its fence earlier in the same transaction; the condition is"
            " kept so that the statement is right by itself"
        ),
    ),
)
