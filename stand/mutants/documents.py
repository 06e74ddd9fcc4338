"""Documents: one for a key, whole or not there, opened by who may, and nothing in them that runs."""

from .mutation import Mutation

STORE = "tests/documents/test_store.py"
FILES = "tests/documents/test_files.py"
OPENING = "tests/documents/test_opening.py"
CHOOSING = "tests/documents/test_choosing.py"

MUTATIONS = (
    Mutation(
        name="a document is registered before its files are whole",
        protects="a registered document has its files",
        file="documents/making.py",
        old="            made.drop()\n            raise\n",
        new="            pass\n",
        caught_by=(f"{STORE}::test_a_full_store_registers_nothing_and_leaves_nothing",),
        why="a full disk would leave a document that nobody can open",
    ),
    Mutation(
        name="a look-up knows only rows",
        protects="a finished file is adopted",
        file="documents/adapter.py",
        old="        if manifest is None or not _is_whole(store, manifest):\n            return NotApplied(",
        new="        if True:\n            return NotApplied(",
        caught_by=(f"{STORE}::test_a_file_renamed_before_its_row_is_adopted",),
        why="what was made before a stop would not be found",
    ),
    Mutation(
        name="a damaged file is adopted",
        protects="adoption by digest",
        file="documents/storage.py",
        old="path.stat().st_size == size and (not sha256 or digest_of_file(path) == sha256)",
        new="path.stat().st_size == size",
        caught_by=(f"{STORE}::test_a_file_that_is_not_what_was_put_there_is_not_adopted",),
        why="people would be given a file that is not what its document says",
    ),
    Mutation(
        name="a manifest is believed whatever files it names",
        protects="adoption of one's own files only",
        file="documents/adapter.py",
        old="    return found if ours else None\n",
        new="    return found\n",
        caught_by=(f"{STORE}::test_a_manifest_that_cannot_be_read_or_names_other_files_counts_for_nothing",),
        why="people of one department would be given the files of another",
    ),
    Mutation(
        name="a file is given out whatever became of it",
        protects="a document is its registered bytes",
        file="documents/opening.py",
        old='    if found is None or not store.is_whole(found["name"], size=found["size"], sha256=found["sha256"]):\n',
        new="    if found is None:\n",
        caught_by=(f"{OPENING}::test_a_file_that_is_not_the_one_that_was_registered_is_given_to_nobody",),
        why="people would rely on what nobody made",
    ),
    Mutation(
        name="any bytes are a data set",
        protects="a document is made from the chosen data",
        file="documents/datasets.py",
        old="        if digest_of_file(path) != digest:\n",
        new="        if False:\n",
        caught_by=(f"{STORE}::test_a_data_set_that_is_not_what_its_name_says_is_refused",),
        why="a document would name a data set that it does not show",
    ),
    Mutation(
        name="whoever sees a case opens its document",
        protects="access at every opening",
        file="documents/access.py",
        old="    return access.get_visible(documents, public_id, principal, Right.OPEN_DOCUMENTS)\n",
        new="    return documents.get(public_id=public_id)\n",
        caught_by=(f"{OPENING}::test_access_is_asked_at_every_opening_and_each_is_on_record",),
        why="a revoked grant would go on opening documents",
    ),
    Mutation(
        name="an opening leaves no trace",
        protects="every opening is on record",
        file="documents/opening.py",
        old="        _record(document, person, form)\n",
        new="        pass\n",
        caught_by=(f"{OPENING}::test_access_is_asked_at_every_opening_and_each_is_on_record",),
        why="nobody could say who read what",
    ),
    Mutation(
        name="a formula in a workbook runs",
        protects="text stays text",
        file="documents/workbook.py",
        old="            table.write_string(number, place, text[:LONGEST_CELL])\n",
        new="            table.write_formula(number, place, text[:LONGEST_CELL])\n",
        caught_by=(f"{FILES}::test_a_formula_in_a_ticket_is_text_in_every_form",),
        why="a ticket's text could reach out of the reader's computer",
    ),
    Mutation(
        name="a data set shows today",
        protects="data as of the period's end",
        file="documents/choosing.py",
        old="e.version IS NOT NULL AND e.at < %(end)s",
        new="e.version IS NOT NULL",
        caught_by=(f"{CHOOSING}::test_a_data_set_shows_the_department_as_it_stood_when_the_period_ended",),
        why="the same report asked for later would say something else",
    ),
)
