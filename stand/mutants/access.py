"""Rights: who gives them, what takes them, and who is left to decide."""

from .mutation import Mutation

GRANTING = "tests/accounts/test_granting.py"
QUORUM = "tests/approvals/test_quorum.py"
NO_DECIDER = "tests/approvals/test_no_decider.py"
DEPARTMENTS = "tests/accounts/test_departments.py"
PLATFORM = "tests/accounts/test_platform.py"
ADMIN = "tests/accounts/test_admin.py"

MUTATIONS = (
    Mutation(
        name="an administrator helps themselves",
        protects="nobody grants to themselves",
        file="accounts/granting.py",
        old="    if asked.person.pk == asked.admin.pk:\n",
        new="    if False:\n",
        caught_by=(f"{GRANTING}::test_nobody_grants_a_role_to_themselves",),
        why="one person alone could become an approver and decide",
    ),
    Mutation(
        name="anybody grants",
        protects="right to grant",
        file="accounts/granting.py",
        old="            access.require(asked.admin, asked.organisation, Right.ADMINISTER)\n",
        new="",
        caught_by=(f"{GRANTING}::test_who_is_no_administrator_grants_and_revokes_nothing",),
        why="every role would be every other one",
    ),
    Mutation(
        name="the last administrator goes",
        protects="an administrator stays",
        file="accounts/granting.py",
        old="        if not others.exists():\n",
        new="        if False:\n",
        caught_by=(f"{GRANTING}::test_the_last_administrator_stays_until_there_is_another",),
        why="nobody could grant a role there any more",
    ),
    Mutation(
        name="a reader of one department reads them all",
        protects="documents of a department",
        file="accounts/access.py",
        old="    return reach.departments_of(principal, right)\n",
        new='    return Department.objects.values("pk")\n',
        caught_by=(f"{DEPARTMENTS}::test_a_reader_of_one_department_opens_its_documents_and_no_others",),
        why="a report would be open to everybody",
    ),
    Mutation(
        name="a dismissed person keeps the rights of a role",
        protects="rights end with the dismissal",
        file="accounts/reach.py",
        old="  JOIN {people} u ON u.id = m.person_id AND u.is_active JOIN {by_role",
        new="  JOIN {people} u ON u.id = m.person_id JOIN {by_role",
        caught_by=(
            "tests/accounts/test_access.py"
            "::test_a_dismissed_person_loses_every_right_at_once_even_where_an_older_object_is_at_hand",
        ),
        why="who was dismissed could go on deciding",
    ),
    Mutation(
        name="a dismissed operator watches on",
        protects="platform operator",
        file="accounts/access.py",
        old="    return PlatformOperator.objects.filter(person=principal.pk, person__is_active=True)\n",
        new="    return PlatformOperator.objects.filter(person=principal.pk)\n",
        caught_by=(f"{PLATFORM}::test_a_dismissed_platform_operator_is_none_at_once",),
        why="who was dismissed could pause every organisation",
    ),
    Mutation(
        name="a plan waits for nobody",
        protects="a waiting plan has deciders",
        file="approvals/proposing.py",
        old="    if lacks:\n",
        new="    if False:\n",
        caught_by=(f"{NO_DECIDER}::test_a_plan_that_nobody_may_decide_on_is_not_proposed",),
        why="the case would wait until it expires, and be said to have expired",
    ),
    Mutation(
        name="a right that is taken is not followed up",
        protects="a waiting plan has deciders",
        file="accounts/services.py",
        old="        tell_rights_taken(organisation.pk)\n",
        new="",
        caught_by=(f"{NO_DECIDER}::test_a_waiting_plan_whose_last_decider_loses_the_right_says_so",),
        why="plans would wait for people who may not decide any more",
    ),
    Mutation(
        name="plans that are being stored are passed over",
        protects="a waiting plan has deciders",
        file="approvals/deciders.py",
        old="  OR c.state = 'CHECKING' AND EXISTS (",
        new="  OR false AND EXISTS (",
        caught_by=(f"{NO_DECIDER}::test_a_right_taken_while_a_plan_is_being_stored_is_seen",),
        why="a plan could slip through between the two counts",
    ),
    Mutation(
        name="an approval outlives the right",
        protects="quorum",
        file="approvals/deciding.py",
        old=".filter(pk__in=givers).count()\n",
        new=".filter(pk__in=givers).count() * 0 + len(givers)\n",
        caught_by=(f"{QUORUM}::test_an_approval_whose_giver_lost_the_right_before_the_second_does_not_count",),
        why="a plan would be called approved that no send would accept",
    ),
    Mutation(
        name="the quorum is the rule of today",
        protects="quorum",
        file="approvals/deciding.py",
        old="quorum_of(plan)\n",
        new="_policy(case).quorum_for({})\n",
        caught_by=(f"{QUORUM}::test_a_later_rule_does_not_lower_what_a_proposal_asks_for",),
        why="a change of the process would change what was asked for while people decide",
    ),
    Mutation(
        name="a dismissal is nowhere written down",
        protects="admin on record",
        file="accounts/admin.py",
        old='record_for_person("person.enabled" if switched.pop("is_active") else "person.disabled", obj, by)',
        new='switched.pop("is_active")',
        caught_by=(f"{ADMIN}::test_switching_a_person_off_ends_their_rights_and_is_on_record_where_they_worked",),
        why="a superuser could switch an approver off unseen",
    ),
)
