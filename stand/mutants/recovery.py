"""Recoveries: what binds an order to what was seen, to evidence, and to a second person."""

from .mutation import Change, Mutation

HERE = "tests/operations/test_recovering.py"
TABLE = "tests/operations/test_recovery_table.py"
REFUSED = f"{TABLE}::test_what_is_not_in_the_table_is_refused_and_changes_nothing_but_the_history"

MUTATIONS = (
    Mutation(
        name="a recovery may be ordered for any version",
        protects="expected version of a recovery",
        file="operations/ordering.py",
        old="    if seen_version != case.version:\n",
        new="    if False:\n",
        caught_by=(REFUSED,),
        why="an order meant for a case that stopped would hit one that moves again",
    ),
    Mutation(
        name="one person is two",
        protects="second person of a recovery",
        file="operations/authorising.py",
        old="    if recovery.asked_by_id == person.pk:\n",
        new="    if False:\n",
        caught_by=(f"{HERE}::test_who_ordered_it_does_not_sign_it",),
        why="one person alone could say that money had moved",
    ),
    Mutation(
        name="the database lets one person be two",
        protects="second person of a recovery",
        file="operations/migrations/0003_recoveries.py",
        old='condition=models.Q(("authorised_by", models.F("asked_by")), _negated=True)',
        new='condition=models.Q(("authorised_by", 0), _negated=True)',
        caught_by=(f"{HERE}::test_the_database_itself_keeps_one_person_from_being_two",),
        why="whatever a release forgets, two signatures are two people's",
    ),
    Mutation(
        name="the order of somebody who lost the right still counts",
        protects="rights at the signature of a recovery",
        file="operations/authorising.py",
        old="    if not all(access.has_right(recovery.asked_by,",
        new="    if False and not all(access.has_right(recovery.asked_by,",
        caught_by=(f"{HERE}::test_a_signature_under_the_order_of_somebody_who_lost_the_right_counts_for_nothing",),
        why="the order of somebody who was sent away would still count as one of two",
    ),
    Mutation(
        name="a signature counts whatever it saw",
        protects="status seen at the signature",
        file="operations/ordering.py",
        old='    if status not in ("", doubt.status):\n',
        new="    if False:\n",
        caught_by=(f"{HERE}::test_the_signature_carries_the_status_it_saw",),
        why="what the service said meanwhile would be written over by hand (failures.md §6, 10)",
    ),
    Mutation(
        name="a repeat needs no evidence",
        protects="evidence of a recovery",
        file="caseflow/domain/recovery.py",
        old="(_BEGUN, Need.IN_DOUBT, Need.UNANSWERED, Need.DENIED, Need.KEY_LIVES)",
        new="(_BEGUN, Need.IN_DOUBT, Need.UNANSWERED, Need.KEY_LIVES)",
        caught_by=(f"{HERE}::test_a_repeat_without_evidence_is_refused_and_says_what_is_missing",),
        why="a person in a hurry would send what may have happened",
    ),
    Mutation(
        name="a repeat does not mind how old the key is",
        protects="evidence of a recovery",
        file="caseflow/domain/recovery.py",
        old="Need.DENIED, Need.KEY_LIVES)",
        new="Need.DENIED)",
        caught_by=(f"{HERE}::test_a_repeat_after_the_life_of_the_key_is_refused",),
        why="what a system has forgotten is a new request to it",
    ),
    Mutation(
        name="a look-up that came too early is accepted",
        protects="evidence of a recovery",
        file="caseflow/domain/recovery.py",
        old="(Need.IN_DOUBT, Need.UNANSWERED, Need.DENIED, Need.DENIED_FOR_GOOD)",
        new="(Need.IN_DOUBT, Need.UNANSWERED, Need.DENIED)",
        caught_by=(f"{HERE}::test_not_applied_is_not_accepted_while_the_request_may_still_land",),
        why="the request could land after a new one was approved",
    ),
    Mutation(
        name="not done may be said at once",
        protects="evidence of a recovery",
        file="caseflow/domain/recovery.py",
        old="        needs.append(Need.CANNOT_LAND)\n",
        new="        pass\n",
        caught_by=(f"{HERE}::test_nobody_may_say_not_done_while_the_request_may_still_land",),
        why="two people would see an old state and be right for a minute",
    ),
    Mutation(
        name="a result by hand needs no written evidence",
        protects="evidence of a recovery",
        file="operations/ordering.py",
        old="needed=rule.evidence is Evidence.WRITTEN)",
        new="needed=False)",
        caught_by=(f"{HERE}::test_a_result_by_hand_names_action_status_result_and_evidence",),
        why="nobody could check afterwards what the two people had looked at",
    ),
    Mutation(
        name="a case may be checked again while an effect is in doubt",
        protects="doubt guard of recoveries",
        file="caseflow/domain/recovery.py",
        old='        Rule(Kind.OBSERVE_AGAIN, _STOPPED, (_SETTLED,), starts="observe"),\n',
        new='        Rule(Kind.OBSERVE_AGAIN, _STOPPED, (), starts="observe"),\n',
        # The table of the states has the same guard once more.
        doors=(
            Change(
                "caseflow/domain/lifecycle.py",
                "_E.OBSERVE_AGAIN, _S.CHECKING, _OBSERVE, _SETTLED)",
                "_E.OBSERVE_AGAIN, _S.CHECKING, _OBSERVE)",
            ),
        ),
        caught_by=(REFUSED,),
        why="a second plan would be made beside a change that may have happened",
    ),
    Mutation(
        name="a case may be closed while an effect is in doubt",
        protects="doubt guard of recoveries",
        file="caseflow/domain/recovery.py",
        old="        Rule(Kind.CLOSE, OPEN, (_SETTLED, _UNDONE)),\n",
        new="        Rule(Kind.CLOSE, OPEN, ()),\n",
        doors=(
            Change(
                "caseflow/domain/lifecycle.py",
                "_E.CLOSED_BY_PERSON, _S.CLOSED_NO_CHANGE, (), _UNTOUCHED, Outcome.NO_CHANGE)",
                "_E.CLOSED_BY_PERSON, _S.CLOSED_NO_CHANGE, (), frozenset(), Outcome.NO_CHANGE)",
            ),
        ),
        caught_by=(REFUSED,),
        why="the history would say that nothing was changed outside, and nobody would know",
    ),
)
