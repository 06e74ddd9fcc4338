"""Trips to the database: what waits is neither lost nor overtaken, and a broken exchange ends its connection."""

from .mutation import Change, Mutation

WAITING = "tests/database/test_waiting.py"
TELLING = "tests/database/test_telling.py"
LOSING = "tests/database/test_losing.py"
CANONICAL = "tests/domain/test_canonical.py"

MUTATIONS = (
    Mutation(
        name="a COMMIT leaves behind what waits",
        protects="what waits is sent",
        file="caseflow/database/trips.py",
        old="            self._together([*self._taken(), _COMMIT], telling)\n",
        new="            self._together([*self._taken()[:0], _COMMIT], telling)\n",
        caught_by=(f"{WAITING}::test_what_waits_leaves_with_the_commit_in_the_order_it_was_said",),
        why="a result would be settled without the event that tells of it",
    ),
    Mutation(
        name="what waits is lost while the next is prepared",
        protects="what waits is sent",
        file="caseflow/database/trips.py",
        old=(
            "        said = self._said(statement, values, then)"
            "  # first: what is prepared for it sends what waited until now\n"
            "        self.waiting.append(said)\n"
        ),
        new="        self.waiting.append(self._said(statement, values, then))\n",
        caught_by=(f"{WAITING}::test_a_statement_prepared_for_the_first_time_loses_and_overtakes_nothing_that_waits",),
        why="the first case of a new process would lose a statement, and no other",
    ),
    Mutation(
        name="what waits leaves in another order",
        protects="order of statements",
        file="caseflow/database/trips.py",
        old="        return waiting\n",
        new="        return waiting[::-1]\n",
        caught_by=(f"{WAITING}::test_what_waits_leaves_with_the_commit_in_the_order_it_was_said",),
        why="a check would look before the lock it stands behind is there",
    ),
    Mutation(
        name="a cursor of Django's overtakes what waits",
        protects="order of statements",
        file="caseflow/database/base.py",
        old="waiting:\n            with self.wrap_database_errors:\n",
        new="waiting and False:\n            with self.wrap_database_errors:\n",
        caught_by=(f"{WAITING}::test_a_cursor_of_django_comes_after_what_waits",),
        why="a query would not see what was stored before it",
    ),
    Mutation(
        name="a rollback leaves what waits to the next transaction",
        protects="a rollback takes everything back",
        file="caseflow/database/base.py",
        old="        self._forget()\n        super()._rollback()",
        new="        super()._rollback()",
        caught_by=(f"{WAITING}::test_a_rollback_forgets_what_waits",),
        why="what was refused would be stored with another case",
    ),
    Mutation(
        name="a savepoint sends what it takes back",
        protects="a rollback takes everything back",
        file="caseflow/database/base.py",
        old="            self._trips.waiting.clear()\n        super()._savepoint_rollback",
        new="            pass\n        super()._savepoint_rollback",
        caught_by=(f"{WAITING}::test_a_savepoint_keeps_what_waited_before_it_and_forgets_what_came_after",),
        why="an error behind a savepoint would end the whole transaction",
    ),
    Mutation(
        name="a bell is rung for what was taken back",
        protects="what is told was committed",
        file="caseflow/database/base.py",
        old="            self._trips.telling.clear()\n",
        new="",
        caught_by=(f"{TELLING}::test_nothing_is_told_where_nothing_was_committed",),
        why="what is said of one transaction would be told behind the next",
    ),
    Mutation(
        name="what fails as its transaction ends is taken for the end of the trip",
        protects="what is told was committed",
        file="caseflow/database/trips.py",
        old="                answers[-1] = last  #",
        new="                pass  #",
        caught_by=(f"{TELLING}::test_what_cannot_be_told_is_logged_and_what_was_committed_stays",),
        why="what was refused would go unnoticed",
    ),
    Mutation(
        name="a bell that cannot be rung is an error of its transaction",
        protects="what is told was committed",
        file="caseflow/database/trips.py",
        old="            if answer.status != pq.ExecStatus.COMMAND_OK:\n",
        new="            if self._rows(said, answer):\n",
        caught_by=(f"{TELLING}::test_what_cannot_be_told_is_logged_and_what_was_committed_stays",),
        why="whoever decided would be told of a failure though the decision is stored",
    ),
    Mutation(
        name="a trip begins no transaction",
        protects="a rollback takes everything back",
        file="caseflow/database/trips.py",
        old="        return not self.connection.autocommit and self._pgconn",
        new="        return False and self._pgconn",
        caught_by=(f"{WAITING}::test_whoever_begins_a_transaction_the_rollback_takes_everything_back[by a trip]",),
        why="each statement would be stored alone",
    ),
    Mutation(
        name="values go out in the form of another statement's",
        protects="values of a statement",
        file="caseflow/database/trips.py",
        old="        return _Said(query, types, dumped, formats, name, then)\n",
        new="        return _Said(query, types, dumped, adaptation.formats, name, then)\n",
        caught_by=(
            f"{WAITING}::test_the_values_of_a_statement_are_its_own_although_another_is_run_while_it_is_prepared",
        ),
        why="a number would be read as text, or a statement refused",
    ),
    Mutation(
        name="a connection is kept after half an answer",
        protects="an interrupted exchange ends its connection",
        file="caseflow/database/trips.py",
        old="            self._pgconn.finish()\n            raise\n",
        new="            raise\n",
        caught_by=(f"{LOSING}::test_an_interrupted_trip_closes_its_connection_and_the_next_use_connects_anew",),
        why="the next statement would be answered with the rows of the last one",
    ),
    Mutation(
        name="nobody looks behind an interrupted COMMIT",
        protects="an interrupted exchange ends its connection",
        file="caseflow/database/base.py",
        old="            if self.connection.closed:\n",
        new="            if False:\n",
        caught_by=(f"{LOSING}::test_an_interrupted_trip_closes_its_connection_and_the_next_use_connects_anew",),
        why="a worker whose time was over would go on with a connection that is none",
    ),
    Mutation(
        name="a statement that is gone is asked for again",
        protects="statements are prepared anew",
        file="caseflow/database/trips.py",
        old="        if error.sqlstate in _PREPARE_ANEW:\n",
        new="        if False:\n",
        caught_by=(
            f"{LOSING}::test_a_table_that_has_changed_fails_once_and_is_prepared_anew",
            f"{LOSING}::test_what_the_server_has_thrown_away_fails_once_and_is_prepared_anew",
        ),
        why="after a migration every worker would fail until it is started again",
    ),
    Mutation(
        name="a connection is never asked whether it is there",
        protects="a dead connection is replaced",
        file="caseflow/database/base.py",
        old="        if here and time.monotonic() - self._answered < ANSWERED_JUST_NOW:\n",
        new="        if here:\n",
        caught_by=(f"{LOSING}::test_a_connection_is_asked_whether_it_is_there_unless_it_has_just_answered",),
        why="every worker would fail once after a restart of the database",
    ),
    Mutation(
        name="a connection that said farewell just now is taken for usable",
        protects="a dead connection is replaced",
        file="caseflow/database/base.py",
        old="            if not said.poll(0):\n                return True\n",
        new="            return True\n",
        caught_by=(f"{LOSING}::test_a_connection_that_has_just_answered_and_was_ended_is_not_taken_for_usable",),
        why="a page after a restart of the database would be an error",
    ),
    Mutation(
        name="what a left transaction said is committed by the next one",
        protects="a rollback takes everything back",
        file="caseflow/database/base.py",
        old='            raise ProgrammingError("statements wait for the COMMIT of a transaction that is left")\n',
        new="",
        doors=(
            Change(
                "caseflow/database/base.py", "was left.\n            self._forget()\n", "was left.\n            pass\n"
            ),
        ),
        caught_by=(f"{LOSING}::test_what_waits_when_its_transaction_is_left_without_a_commit_is_stored_by_nobody",),
        why="a stranger's COMMIT would store half of what was interrupted",
    ),
    Mutation(
        name="text is written in the form it came in",
        protects="one way to write a value",
        file="caseflow/domain/canonical.py",
        old='(not unicodedata.is_normalized("NFC", written) or _SURROGATE.search(written))',
        new="_SURROGATE.search(written)",
        caught_by=(
            f"{CANONICAL}::test_the_short_way_writes_and_refuses_what_the_walk_does",
            f"{CANONICAL}::test_the_order_of_keys_and_the_form_of_letters_do_not_matter",
        ),
        why="the same content would have two digests",
    ),
    Mutation(
        name="names of any letters take the short way",
        protects="one way to write a value",
        file="caseflow/domain/canonical.py",
        old=" or not key.isascii()",
        new="",
        caught_by=(
            f"{CANONICAL}::test_the_short_way_writes_and_refuses_what_the_walk_does",
            f"{CANONICAL}::test_every_value_is_written_as_rfc_8785_says",
        ),
        why="nobody else would come to our digest of a content with rare letters in its names",
    ),
    Mutation(
        name="a NUL takes the short way",
        protects="one way to write a value",
        file="caseflow/domain/canonical.py",
        old='    return "\\\\u0000" not in written  # so NUL is written\n',
        new="    return True\n",
        caught_by=(
            f"{CANONICAL}::test_the_short_way_writes_and_refuses_what_the_walk_does",
            f"{CANONICAL}::test_one_bad_leaf_anywhere_refuses_the_whole_and_is_named",
        ),
        why="an event would be signed that the database cannot read as JSON",
    ),
)
