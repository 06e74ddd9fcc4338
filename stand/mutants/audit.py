"""The trail: one line in the order of commits, seals outside, texts that are shown and erased on record."""

from .mutation import Change, Mutation

STREAM = "tests/audit/test_organisation_stream.py"
VERIFY = "tests/audit/test_verify_audit.py"
SEALS = "tests/audit/test_seals.py"
REVEALING = "tests/cases/test_revealing.py"
PURGE = "tests/operations/test_purge.py"
TRAIL = "tests/console/test_trail.py"

LISTS = "tests/console/test_exports.py"

MUTATIONS = (
    Mutation(
        name="a list is taken out whatever became of the right to it",
        protects="right asked at the end of an export",
        file="operations/exporting.py",
        old="    if not counted.keys() <= seen:\n",
        new="    if False:\n",
        caught_by=(f"{LISTS}::test_a_right_that_ends_meanwhile_ends_the_export",),
        why="who is sent away would leave with the whole list",
    ),
    Mutation(
        name="a list is taken out and nobody knows",
        protects="record of an export",
        file="operations/exporting.py",
        old='        record_access(organisation, "export.made", actor=actor_of(principal), facts=facts)\n',
        new="        pass\n",
        caught_by=(f"{LISTS}::test_the_other_lists_as_files_are_their_filtered_rows",),
        why="nobody could say afterwards what left the house",
    ),
    Mutation(
        name="a file of cases holds the whole list",
        protects="filtered rows of an export",
        file="caseflow/console/listing.py",
        old="    rows = found.filter(state=filters.state)\n",
        new="    rows = found\n",
        caught_by=(
            f"{LISTS}::test_a_file_of_cases_is_the_filtered_list_on_all_its_pages_and_nothing_else"
            "[state=NEEDS_ATTENTION]",
        ),
        why="the person would hand on more than they had looked at",
    ),
    Mutation(
        name="a cell of a workbook may be a formula",
        protects="cells without formulas",
        file="caseflow/spreadsheets.py",
        old="                sheet.write_string(line, place, cell_text(row[name])[:LONGEST_CELL])\n",
        new="                sheet.write_formula(line, place, cell_text(row[name])[:LONGEST_CELL])\n",
        caught_by=(f"{LISTS}::test_no_cell_of_either_form_is_a_formula",),
        why="a ticket could run something on the desk of whoever opens the file",
    ),
    Mutation(
        name="sealers work side by side",
        protects="one sealer",
        file="audit/linking.py",
        old='        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [SEALERS])\n',
        new="",
        caught_by=(f"{STREAM}::test_many_sealers_beside_many_writers_number_every_event_once",),
        why="two sealers would give the same number and one of them would fail again and again",
    ),
    Mutation(
        name="the sealer goes by the highest row it knows",
        protects="sealing by status",
        file="audit/linking.py",
        old="ORDER BY w.event_id LIMIT %s\n",
        new="WHERE e.id > coalesce((SELECT max(event_id) FROM audit_organisationlink), 0)\n"
        "ORDER BY w.event_id LIMIT %s\n",
        caught_by=(f"{STREAM}::test_an_event_that_is_committed_late_comes_later_although_its_row_is_older",),
        why="an event whose transaction took longer would never get a place in the chain",
    ),
    Mutation(
        name="a link need not follow",
        protects="organisation chain",
        file="audit/migrations/0002_organisation_streams.py",
        old="     OR NEW.hash <> sha256(previous || int8send(event.at_us) || event.body) THEN\n",
        new="     THEN\n",
        caught_by=(f"{STREAM}::test_the_product_cannot_write_a_link_that_does_not_follow",),
        why="whoever has the product's password could write a chain of their own",
    ),
    Mutation(
        name="a stream may be shorter than it was sealed",
        protects="verification against seals",
        file="audit/verifying.py",
        old="    if seal and number < seal.count:\n",
        new="    if seal and False:\n",
        doors=(
            Change(
                "audit/verifying.py", "    elif seal and at_seal != seal.hash and not broken:\n", "    elif False:\n"
            ),
        ),
        caught_by=(f"{VERIFY}::test_a_tail_cut_off_with_the_head_set_back_shows_against_the_seal_only",),
        why="the newest events could be cut off unseen",
    ),
    Mutation(
        name="a stream may be another than was sealed",
        protects="verification against seals",
        file="audit/verifying.py",
        old="    elif seal and at_seal != seal.hash and not broken:\n",
        new="    elif False:\n",
        caught_by=(f"{VERIFY}::test_a_stream_written_anew_with_right_hashes_shows_against_the_seal_only",),
        why="whoever rewrites a whole stream with right hashes would not be found",
    ),
    Mutation(
        name="columns beside the hashed body are not looked at",
        protects="chain verification",
        file="audit/verifying.py",
        old="    if told == shown and event.at == event.at_us and not strayed:\n",
        new="    if not strayed:\n",
        caught_by=(f"{VERIFY}::test_a_column_that_says_something_else_than_the_hashed_body_is_named",),
        why="lists and filters would show what the chain never said",
    ),
    Mutation(
        name="a signature is not checked",
        protects="signature of a seal",
        file="audit/seals.py",
        old='        key.verify(base64.b64decode(signed["signature"], validate=True), PURPOSE + first)\n',
        new="",
        caught_by=(f"{SEALS}::test_a_seal_by_another_key_a_changed_one_and_a_missing_one_are_named",),
        why="whoever can write a file could write a seal",
    ),
    Mutation(
        name="what does not extend the seals is sealed",
        protects="signature of a seal",
        file="caseflow/management/commands/seal_audit.py",
        old="        if grown and not problems:\n",
        new="        if grown:\n",
        caught_by=(f"{VERIFY}::test_a_stream_written_anew_with_right_hashes_shows_against_the_seal_only",),
        why="a forgery would be signed, and nothing would show it afterwards",
    ),
    Mutation(
        name="anybody who sees a case reveals its texts",
        protects="right to reveal",
        file="cases/revealing.py",
        old="        access.require(person, case.organisation_id, Right.REVEAL)\n",
        new="        pass\n",
        caught_by=(f"{REVEALING}::test_who_may_not_reveal_sees_nothing_and_the_refusal_is_on_record",),
        why="a viewer would read what customers wrote",
    ),
    Mutation(
        name="a look leaves no trace",
        protects="record of a look",
        file="cases/revealing.py",
        old='        record_event(row, "personal.revealed", actor=actor, facts={"field": field})\n',
        new="        pass\n",
        caught_by=(f"{REVEALING}::test_who_may_reveal_sees_the_text_and_that_is_on_record",),
        why="nobody could say who read a customer's text",
    ),
    Mutation(
        name="a text of an open case can be erased",
        protects="erasing closed cases only",
        file="operations/purging.py",
        old="    if case.state not in CLOSED:\n",
        new="    if False:\n",
        caught_by=(f"{PURGE}::test_a_case_that_was_found_closed_and_is_open_keeps_its_texts",),
        why="a case that still works would lose what it works with",
    ),
    Mutation(
        name="whoever restarts tasks may erase texts",
        protects="right to erase",
        file="operations/management/commands/purge.py",
        old="    right = Right.ADMINISTER\n",
        new="    right = Right.RECOVER\n",
        caught_by=(f"{PURGE}::test_only_an_administrator_of_the_organisation_erases",),
        why="nothing brings an erased text back",
    ),
    Mutation(
        name="the data key stays",
        protects="erasing by deleting the key",
        file="operations/purging.py",
        old="    gone, _ = CaseKey.objects.filter(case_id=case_id).delete()\n",
        new="    gone = CaseKey.objects.filter(case_id=case_id).count()\n",
        caught_by=(f"{PURGE}::test_after_the_purge_no_dump_holds_the_text_or_what_could_open_it",),
        why="what is called erased could still be read",
    ),
    Mutation(
        name="an export goes on without the right",
        protects="right asked at the end of an export",
        file="operations/trail.py",
        old="    access.require(principal, organisation, Right.READ_AUDIT)\n    facts = ",
        new="    facts = ",
        caught_by=(f"{TRAIL}::test_a_right_revoked_during_an_export_ends_it",),
        why="somebody dismissed would still be handed the file",
    ),
    Mutation(
        name="an export leaves no trace",
        protects="record of an export",
        file="operations/trail.py",
        old='    record_access(organisation.pk, "export.made", actor=actor_of(principal), facts=facts)\n',
        new="",
        caught_by=(f"{TRAIL}::test_an_export_holds_what_the_filters_leave_and_is_on_record",),
        why="nobody could say who took the trail out",
    ),
    Mutation(
        name="a cell may be a formula",
        protects="cells without formulas",
        file="audit/exporting.py",
        old="""    return f"'{text}" if text.lstrip(" ").startswith(RISKY) else text\n""",
        new="    return text\n",
        caught_by=(f"{TRAIL}::test_no_cell_of_a_table_is_a_formula",),
        why="a text that came from outside would be run by an auditor's spreadsheet",
    ),
)
