"""A model as a stage: what it is told, what its answer counts for, what a request costs, and who goes on without it."""

from .mutation import Mutation

BAD = "tests/model_stage/test_bad_answers.py"
AWAY = "tests/model_stage/test_away.py"
KEPT = "tests/model_stage/test_what_is_kept.py"
CRASH = "tests/model_stage/test_crashes_and_asking_again.py"
STAYS_BAD = f"{BAD}::test_an_answer_that_stays_bad_after_two_repairs_is_a_persons_and_plans_nothing"
CANARY = f"{KEPT}::test_no_personal_value_reaches_the_endpoint_and_placeholders_come_back_only_on_screen"
DISGUISED = f"{KEPT}::test_no_character_that_looks_like_another_or_like_nothing_carries_a_personal_value_out"
SUPPLIED = f"{CRASH}::test_data_supplied_while_a_proposer_is_asked_has_the_new_subject_read_before_anything_is_planned"
LOST = f"{CRASH}::test_a_worker_lost_with_the_answer_asks_again_and_both_requests_are_costed"
ASKED = f"{CRASH}::test_asking_again_is_an_act_on_record_that_makes_a_new_proposal_and_its_person_a_causer"

MUTATIONS = (
    Mutation(
        name="data supplied while a proposer is asked is not looked for",
        protects="subject of a plan",
        file="approvals/proposing.py",
        old="    if settling.late or row_of(_NEWEST_REVISION, [settling.case.id]) == (ground.revision,):\n",
        new="    if True:\n",
        caught_by=(SUPPLIED,),
        why="a person would approve a plan for the subject that was told before",
    ),
    Mutation(
        name="words are hidden as they are written",
        protects="placeholders for personal values",
        file="approvals/telling.py",
        old="        text = _seen(text)\n",
        new="",
        caught_by=(DISGUISED,),
        why="an address with a character in it that nobody sees would leave the house",
    ),
    Mutation(
        name="a model's evidence is taken at its word",
        protects="evidence of a model",
        file="approvals/answer_rules.py",
        old="        elif type(known) is not type(one.value) or known != one.value:\n",
        new="        elif False:\n",
        caught_by=(STAYS_BAD,),
        why="a proposal would rest on a value that no system ever said",
    ),
    Mutation(
        name="a model may name facts that nobody read",
        protects="evidence of a model",
        file="approvals/answer_rules.py",
        old="        if known is None or value_at(ground.facts, one.path) is None:\n",
        new="        if False:\n",
        caught_by=(STAYS_BAD,),
        why="evidence would be invented",
    ),
    Mutation(
        name="words around the object are cut away",
        protects="form of a model's answer",
        file="approvals/answer_rules.py",
        old='    found = parse_json(text.encode("utf-8", "replace"), max_bytes=MAX_ANSWER)\n',
        new='    text = text[text.find("{") : text.rfind("}") + 1]\n'
        '    found = parse_json(text.encode("utf-8", "replace"), max_bytes=MAX_ANSWER)\n',
        caught_by=(STAYS_BAD,),
        why="whatever is in braces first would be the answer, also an injected one",
    ),
    Mutation(
        name="a model decides beside the rule",
        protects="rule beside a model",
        file="approvals/answer_rules.py",
        old="        if said.decision != ground.ruled.decision:\n",
        new="        if False:\n",
        caught_by=(STAYS_BAD,),
        why="an injected decision would be answered with the rule's in silence, and nobody would know",
    ),
    Mutation(
        name="a model may say that no approval is needed",
        protects="approval beside a model",
        file="approvals/answer_rules.py",
        old="process.approval is not None and not said.requires_approval:\n",
        new="False:\n",
        caught_by=(STAYS_BAD,),
        why="an answer that tries to switch the approval off would pass as a good one",
    ),
    Mutation(
        name="a model may speak of another subject",
        protects="subject and amounts of a model",
        file="approvals/answer_rules.py",
        old="    if said.subject != process.subject(ground.intake):\n",
        new="    if False:\n",
        caught_by=(STAYS_BAD,),
        why="its words would be about somebody else's subscription",
    ),
    Mutation(
        name="a model may name amounts of its own",
        protects="subject and amounts of a model",
        file="approvals/answer_rules.py",
        old="        elif number not in numbers and not (number == int(number) and number < SMALL):\n",
        new="        elif False:\n",
        caught_by=(STAYS_BAD,),
        why="an approver would read of money that stands in no fact",
    ),
    Mutation(
        name="a model is repaired for ever",
        protects="limit of repairs",
        file="approvals/asking.py",
        old="    asked = replace(proposer, repairs=REPAIRS - material.invalid)\n",
        new="    asked = proposer\n",
        caught_by=(f"{CRASH}::test_repairs_are_counted_over_workers_that_are_lost",),
        why="each lost worker would give a bad model three answers more, all of them paid",
    ),
    Mutation(
        name="facts are read again for ever",
        protects="limit of further checks",
        file="approvals/asking.py",
        old="    elif answer.missing and material.missing >= CHECKS:\n",
        new="    elif False:\n",
        caught_by=(f"{BAD}::test_a_model_that_misses_facts_has_them_read_again_and_then_a_person_looks",),
        why="a case would be checked without end and reach no person",
    ),
    Mutation(
        name="rules take over unasked",
        protects="leave to take over",
        file="approvals/asking.py",
        old="    if not (material.rules_take_over or proposer.explains):\n",
        new="    if False:\n",
        caught_by=(f"{AWAY}::test_without_leave_the_rules_never_take_over_and_the_case_stops_for_a_person",),
        why="an organisation that wants its model would get plans of the rules and not know",
    ),
    Mutation(
        name="a provider in trouble is asked on and on",
        protects="circuit of a provider",
        file="approvals/asking.py",
        old="    if alone is not None:\n",
        new="    if False:\n",
        caught_by=(f"{AWAY}::test_an_open_circuit_lets_one_request_try_and_its_answer_closes_it",),
        why="every case would wait for a time-out of its own, and the provider would never come to rest",
    ),
    Mutation(
        name="everybody tries a provider at once",
        protects="circuit of a provider",
        file="approvals/circuits.py",
        old="            if cursor.rowcount:\n                return None\n            return timedelta(seconds=1)\n",
        new="            return None\n",
        caught_by=(f"{AWAY}::test_an_open_circuit_lets_one_request_try_and_its_answer_closes_it",),
        why="each worker that comes by would be the one request",
    ),
    Mutation(
        name="a request is kept only with its answer",
        protects="every request to a model is costed",
        file="approvals/journals.py",
        old='                ended_at=now, outcome=ModelCall.Outcome.LOST, cost=F("cost_limit")\n',
        new='                ended_at=now, outcome=ModelCall.Outcome.LOST, cost=F("cost_limit") * 0\n',
        caught_by=(LOST,),
        why="what a lost worker spent would be nobody's cost",
    ),
    Mutation(
        name="a late worker asks on",
        protects="lease of who asks a model",
        file="approvals/journals.py",
        old="            if not holds.exists():\n",
        new="            if False:\n",
        caught_by=(f"{CRASH}::test_a_worker_that_lost_its_lease_asks_nothing_more_and_its_proposal_is_refused",),
        why="a worker that woke up late would pay for answers that nobody may use",
    ),
    Mutation(
        name="personal facts go out as they are",
        protects="placeholders for personal values",
        file="approvals/telling.py",
        old='    return f"[{path}]"\n',
        new='    return hidden.placeholders[f"[{path}]"]\n',
        caught_by=(CANARY,),
        why="the address of a customer would stand in the log of a provider",
    ),
    Mutation(
        name="claims go out as they are",
        protects="placeholders for personal values",
        file="approvals/telling.py",
        old="            words.append(hidden.without(_text_of(intake.get(name), texts))[:MAX_CLAIM])\n",
        new="            words.append(_text_of(intake.get(name), texts)[:MAX_CLAIM])\n",
        caught_by=(CANARY,),
        why="cards and phones that customers write would leave the house",
    ),
    Mutation(
        name="words may close the fence around them",
        protects="fence around a claim",
        file="approvals/telling.py",
        old='    return text.replace("<<<", "‹‹‹").replace(">>>", "›››")\n',
        new="    return text\n",
        caught_by=(CANARY,),
        why="what a customer writes could look like an instruction of ours",
    ),
    Mutation(
        name="every fact is told",
        protects="list of what a model is told",
        file="approvals/telling.py",
        old="    told = {path: _told_fact(process, path, facts, hidden) for path in process.told_facts}\n",
        new="    told = {\n"
        '        f"{name}.{key}": _told_fact(process, f"{name}.{key}", facts, hidden)\n'
        "        for name, values in facts.items()\n"
        "        for key in values\n"
        "    }\n",
        caught_by=(f"{KEPT}::test_only_facts_on_the_list_are_told",),
        why="a fact that somebody adds later would go out without anybody deciding so",
    ),
    Mutation(
        name="who asked again may decide",
        protects="causers ask again",
        file="approvals/proposing.py",
        old="            Event.ASKED_AGAIN,\n",
        new="",
        caught_by=(ASKED,),
        why="one person could ask until the answer suits and then approve it",
    ),
    Mutation(
        name="asking again has no end",
        protects="limit of asking again",
        file="caseflow/domain/recovery.py",
        old="(_SETTLED, Need.ASKED_SELDOM)",
        new="(_SETTLED,)",
        caught_by=(f"{CRASH}::test_an_approved_proposal_is_not_asked_about_again_and_nobody_asks_without_end",),
        why="a case could be sent round for ever, each time for money",
    ),
    Mutation(
        name="anybody who sees a case reads the model's words",
        protects="the model's words are personal text",
        file="caseflow/console/model_words.py",
        old="    if advice.explanation_field and may_reveal:\n",
        new="    if advice.explanation_field:\n",
        caught_by=(
            "tests/console/test_models.py::"
            "test_the_models_words_are_escaped_marked_as_its_own_and_kept_from_who_may_not_see_claims",
        ),
        why="a quotation of a claim would be shown to who may not see claims",
    ),
)
