"""A plan that is stored with its facts: what it stands on, and what is left to the stage `propose` (ADR 16)."""

from .model import LOST, SUPPLIED
from .mutation import Mutation

AT_ONCE = "tests/approvals/test_at_once.py"

MUTATIONS = (
    Mutation(
        name="whose facts are being stored is not looked at for lost deciders",
        protects="a plan waits for nobody",
        file="approvals/deciders.py",
        old="t.stage IN ('observe', 'propose', 'ask_model')",
        new="t.stage IN ('propose', 'ask_model')",
        caught_by=("tests/approvals/test_no_decider.py::test_a_right_taken_while_a_plan_is_being_stored_is_seen",),
        why="a plan stored with its facts would wait for people who lost the right meanwhile",
    ),
    Mutation(
        name="a plan is stored with its facts though data came meanwhile",
        protects="subject of a plan",
        file="approvals/at_once.py",
        old="        if ground.proposer == self.proposer.name and ground.revision == self.revision:\n",
        new="        if ground.proposer == self.proposer.name:\n",
        caught_by=(SUPPLIED,),
        why="a person would approve a plan for the subject that was told before",
    ),
    Mutation(
        name="rules plan although a model was chosen",
        protects="who proposes is chosen",
        file="approvals/at_once.py",
        old="        if ground.proposer == self.proposer.name and ground.revision == self.revision:\n",
        new="        if ground.revision == self.revision:\n",
        caught_by=(LOST,),
        why="an organisation that lets a model propose would get the plans of the rules",
    ),
    Mutation(
        name="facts that nobody reads any more have to be fresh",
        protects="a case is read until it can be planned",
        file="approvals/proposing.py",
        old="    observations = [by_name[name] for name in sorted(by_name) if name in read]\n",
        new="    observations = [by_name[name] for name in sorted(by_name)]\n",
        caught_by=(f"{AT_ONCE}::test_facts_that_only_another_version_of_the_process_reads_count_no_more",),
        why="a case moved to a version that reads less would be read and planned in turn without end",
    ),
    Mutation(
        name="a rule changes what was read",
        protects="a plan stands on what was read",
        file="approvals/at_once.py",
        old="    facts = json.loads(json.dumps(readings.facts))",
        new="    facts = readings.facts",
        caught_by=(f"{AT_ONCE}::test_a_rule_that_changes_the_facts_it_is_given_changes_no_reading",),
        why="the history would say that a system told what a rule made of it",
    ),
    Mutation(
        name="a plan that goes on after an effect is made without knowing of it",
        protects="no confirmed effect again",
        file="approvals/at_once.py",
        old="    if case is None or has_effects(case):\n",
        new="    if case is None:\n",
        caught_by=(f"{AT_ONCE}::test_a_case_whose_effect_began_is_planned_by_itself",),
        why="the rules would not be told what this case has done already",
    ),
    Mutation(
        name="facts are lost with a plan that cannot be stored",
        protects="what was read is kept",
        file="cases/checking.py",
        old='            log.exception("the plan of task %s could not be stored with its facts", lease.task_id)\n',
        new="            raise\n",
        caught_by=(f"{AT_ONCE}::test_facts_whose_plan_cannot_be_stored_are_kept_and_the_plan_is_tried_by_itself",),
        why="the outside systems would be asked again at every try of a plan that never can be stored",
    ),
    Mutation(
        name="the wait for the lock makes a reading younger",
        protects="age of a reading",
        file="cases/observing.py",
        old="coalesce(%s::timestamptz, now())",
        new="coalesce(%s::timestamptz, clock_timestamp())",
        caught_by=(
            "tests/cases/test_settling.py::test_a_reading_stored_with_the_lock_is_as_old_as_when_its_transaction_began",
        ),
        why="facts that waited behind another's lock would be dated by its end",
    ),
    Mutation(
        name="deciders are counted beforehand however many took part",
        protects="a plan waits for nobody",
        file="approvals/deciders.py",
        old="    if told is None or len(excluded) > CAUSERS:\n",
        new="    if told is None:\n",
        caught_by=(
            "tests/approvals/test_no_decider.py"
            "::test_of_more_causers_than_were_thought_of_beforehand_none_is_counted_and_nobody_else_overlooked",
        ),
        why="a case with many helpers would be called without deciders though somebody may decide",
    ),
)
