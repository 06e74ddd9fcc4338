"""Holds, notes and mail to staff: what is said of people is true, by right, and said once."""

from .mutation import Mutation

HOLDING = "tests/cases/test_holding.py"
TELLING = "tests/operations/test_telling_staff.py"

MUTATIONS = (
    Mutation(
        name="anybody takes a case",
        protects="right to hold a case",
        file="cases/holding.py",
        old="    case = lock_case(case_id)\n    access.require(person, case.organisation_id, Right.SUPPLY_DATA)\n"
        "    if case.state",
        new="    case = lock_case(case_id)\n    if case.state",
        caught_by=(f"{HOLDING}::test_without_the_right_nothing_is_held_given_released_or_noted",),
        why="somebody who may only look would tell colleagues to keep away",
    ),
    Mutation(
        name="a case is taken from its holder in silence",
        protects="one holder of a case",
        file="cases/holding.py",
        old="    if held is not None and held.person_id != person.pk:\n        raise HeldByAnother"
        "(person=held.person.get_full_name(), until=held.until.isoformat())\n    if held is not None:\n",
        new="    if held is not None and held.person_id == person.pk:\n",
        caught_by=(f"{HOLDING}::test_a_case_is_taken_once_and_held_longer_by_its_holder_only",),
        why="two people would work on one case, each sure to be alone",
    ),
    Mutation(
        name="a copy writes to the staff",
        protects="mail of a copy",
        file="operations/telling_staff.py",
        old="    if settings.CASEFLOW_STAFF_MAIL and not installation_stand().held:\n",
        new="    if settings.CASEFLOW_STAFF_MAIL:\n",
        caught_by=(f"{TELLING}::test_a_copy_a_restored_one_and_one_without_mail_tell_nobody",),
        why="a staging clone would call people to decisions that are none",
    ),
    Mutation(
        name="staff are told again and again",
        protects="one mail a subject",
        file="operations/telling_staff.py",
        old='filter(pk=row.pk, outcome="").update(outcome=StaffNotice.Outcome.SENT)\n',
        new='filter(pk=row.pk, outcome="").count()\n',
        caught_by=(f"{TELLING}::test_everybody_who_may_decide_is_told_once_that_a_proposal_waits",),
        why="a notice that comes every five minutes is read by nobody",
    ),
)
