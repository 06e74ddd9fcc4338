"""Orders for many cases: a frozen list, one turn a case, and the rights that hold at its turn."""

from .mutation import Change, Mutation

HERE = "tests/operations/test_bulk.py"

MUTATIONS = (
    Mutation(
        name="a bulk takes a case as it finds it",
        protects="frozen list of a bulk",
        file="operations/bulk_running.py",
        old="        seen_version=item.case_version,\n        reason=bulk.reason,\n        action=",
        new="        seen_version=item.case.version,\n        reason=bulk.reason,\n        action=",
        caught_by=(f"{HERE}::test_a_case_that_moved_on_since_the_preview_is_left_alone_though_it_stopped_again",),
        why="a case that somebody settled and that stopped for another reason would be ordered unseen",
    ),
    Mutation(
        name="a case may join a list later",
        protects="frozen list of a bulk",
        file="operations/migrations/0005_bulks.py",
        old="IF NEW.position NOT BETWEEN 1 AND (SELECT total FROM operations_bulk WHERE id = NEW.bulk_id) THEN",
        new="IF false THEN",
        caught_by=(f"{HERE}::test_the_database_itself_adds_no_case_to_a_list_and_writes_a_result_once",),
        why="the person typed the count of another list",
    ),
    Mutation(
        name="a bulk starts with any count",
        protects="frozen list of a bulk",
        file="operations/bulk.py",
        old="            if count != sum(planned.values()):\n",
        new="            if False:\n",
        caught_by=(f"{HERE}::test_a_bulk_starts_with_the_count_a_reason_and_a_rate_and_only_once",),
        why="a slip of the hand would start what nobody had looked at",
    ),
    Mutation(
        name="two workers may have one case in their hands",
        protects="one turn a case in a bulk",
        file="operations/bulk_running.py",
        old='rows.select_for_update(of=("self",), skip_locked=True).first()',
        new="rows.first()",
        caught_by=(f"{HERE}::test_two_workers_at_the_same_list_give_every_case_one_turn",),
        why="whoever takes over would meet the late one at the same case",
    ),
    Mutation(
        name="a bulk goes by the rights of the moment it was ordered",
        protects="rights at the turn of a case",
        file="operations/bulk_running.py",
        old="            access.require(person, item.case.organisation_id, right)\n",
        new="            pass\n",
        # The service of a single case asks once more.
        doors=(
            Change(
                "operations/ordering.py",
                "        access.require(person, case.organisation_id, right)\n    check_version(",
                "        pass\n    check_version(",
            ),
        ),
        caught_by=(f"{HERE}::test_a_right_that_is_lost_on_the_way_stops_every_case_after_it",),
        why="who was sent away would go on ordering for hours",
    ),
    Mutation(
        name="a paused bulk goes on",
        protects="pausing a bulk",
        file="operations/bulk_running.py",
        old="            if cursor.fetchone() != (Bulk.Status.RUNNING,):\n",
        new="            if cursor.fetchone() is None:\n",
        caught_by=(f"{HERE}::test_a_paused_bulk_rests_and_goes_on_where_it_was",),
        why="nobody could stop what turned out to be wrong",
    ),
)
