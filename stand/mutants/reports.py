"""Reports: owed once, told to who may open them, and opened by nobody from outside."""

from .mutation import Mutation

TELLING = "tests/reports/test_telling.py"
OBLIGATIONS = "tests/reports/test_obligations.py"

MUTATIONS = (
    Mutation(
        name="a message asks nothing of its recipient",
        protects="access at delivery",
        file="actions/beginning.py",
        old="        if purpose is not Purpose.NOTICE or planned.spec.preconditions:\n",
        new="        if purpose is not Purpose.NOTICE:\n",
        caught_by=(
            f"{TELLING}::test_access_is_read_when_the_message_leaves_and_not_when_it_was_planned",
            f"{TELLING}::test_of_two_without_access_the_first_repair_tells_one_and_the_other_still_waits",
        ),
        why="people would be told of documents that they may not open any more",
    ),
    Mutation(
        name="a held-back message counts as settled when it is sent again",
        protects="held-back messages are open again",
        file="actions/resending.py",
        old="        reopen_held_back(ids)\n",
        new="",
        caught_by=(f"{TELLING}::test_of_two_without_access_the_first_repair_tells_one_and_the_other_still_waits",),
        why="the first of several would move the case while the others are still on their way",
    ),
    Mutation(
        name="what such a case is about may be changed",
        protects="cases opened by ourselves only",
        file="cases/supplying.py",
        old="    if not process.from_outside:\n",
        new="    if False:\n",
        caught_by=(f"{TELLING}::test_what_such_a_case_is_about_is_not_changed_by_anybody",),
        why="a case could be turned to the documents of another organisation",
    ),
    Mutation(
        name="anybody opens a case of ours",
        protects="cases opened by ourselves only",
        file="cases/intake.py",
        old="    if from_outside and not ticket.process.from_outside:\n",
        new="    if False:\n",
        caught_by=(
            "tests/api/test_reports.py::test_who_may_not_open_cases_asks_for_none_and_nobody_opens_one_as_a_ticket",
        ),
        why="a ticket could name the documents of another organisation",
    ),
    Mutation(
        name="a ticket takes the name of a report to come",
        protects="cases opened by ourselves only",
        file="cases/intake.py",
        old="    if from_outside and ticket.source in own_sources():\n",
        new="    if False:\n",
        caught_by=(
            "tests/api/test_reports.py::test_who_may_not_open_cases_asks_for_none_and_nobody_opens_one_as_a_ticket",
        ),
        why="the report could never be opened",
    ),
    Mutation(
        name="one schedule stops all",
        protects="schedules fail alone",
        file="operations/report_opening.py",
        old="            failed.append(error)\n            continue\n",
        new="            raise\n",
        caught_by=(f"{OBLIGATIONS}::test_a_schedule_that_cannot_be_opened_keeps_no_other_from_its_report",),
        why="one organisation's fault would keep every other one from its reports",
    ),
    Mutation(
        name="an edition is corrected while it is made",
        protects="one edition under way",
        file="operations/reporting.py",
        old="        if newest.case.closed_at is None:\n",
        new="        if False:\n",
        caught_by=(f"{OBLIGATIONS}::test_a_corrected_edition_is_a_new_case_with_a_reason_and_stands_beside_the_first",),
        why="two editions would be made side by side, and people told of both",
    ),
)
