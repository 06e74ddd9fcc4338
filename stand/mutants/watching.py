"""What is told to machines and to logs: to whom, how much, and nothing that somebody wrote."""

from .mutation import Mutation

METRICS = "tests/watching/test_metrics.py"
LINES = "tests/watching/test_log_lines.py"
PROBES = "tests/watching/test_probes.py"

MUTATIONS = (
    Mutation(
        name="anybody reads the metrics",
        protects="token of the metrics",
        file="caseflow/metrics/views.py",
        old="    elif not _operates(request):\n",
        new="    elif False:\n",
        caught_by=(f"{METRICS}::test_a_scrape_is_for_a_token_or_who_looks_after_the_platform",),
        why="how much goes through every organisation together would be public",
    ),
    Mutation(
        name="any token reads the metrics",
        protects="token of the metrics",
        file="caseflow/metrics/views.py",
        old="        if not _is_ours(shown[len(BEARER) :].strip()):\n",
        new="        if False:\n",
        caught_by=(f"{METRICS}::test_a_scrape_is_for_a_token_or_who_looks_after_the_platform",),
        why="whoever shows something would be let in",
    ),
    Mutation(
        name="labels without an end",
        protects="bounded labels",
        file="caseflow/metrics/collecting.py",
        old="    if value not in seen and (len(seen) >= MOST_VALUES or not _CODE.fullmatch(value)):\n",
        new="    if False:\n",
        caught_by=(f"{METRICS}::test_codes_of_others_are_bounded",),
        why="an outside system that answers with sentences would fill the memory of Prometheus, and show them",
    ),
    Mutation(
        name="one slow part takes the scrape",
        protects="time of a part",
        file="caseflow/metrics/collecting.py",
        old='            cursor.execute(_LIMIT, [f"{PART_LIMIT * 1000:.0f}"])\n',
        new="            pass\n",
        caught_by=(f"{METRICS}::test_a_part_that_takes_too_long_is_named_and_the_others_are_told",),
        why="one bad plan would leave the whole platform unwatched",
    ),
    Mutation(
        name="an error quotes what somebody wrote",
        protects="errors without their texts",
        file="caseflow/logs.py",
        old='            **({"text": _first_line(one)} if messages or isinstance(one, MACHINERY) else {}),\n',
        new='            "text": _first_line(one),\n',
        caught_by=(f"{LINES}::test_an_error_is_told_by_types_and_places_without_what_it_quotes",),
        why="a claim that cannot be read as a number would stand in the log",
    ),
    Mutation(
        name="an error of the database shows the row",
        protects="errors without their texts",
        file="caseflow/logs.py",
        old='    return (str(error).splitlines() or [""])[0][:300]\n',
        new="    return str(error)\n",
        caught_by=(f"{LINES}::test_an_error_is_told_by_types_and_places_without_what_it_quotes",),
        why="DETAIL quotes the values that clash",
    ),
    Mutation(
        name="a line says whatever it is given",
        protects="listed fields of a line",
        file="caseflow/logs.py",
        old="        line |= {name: said[name] for name in FIELDS if name in said}\n",
        new="        line |= {name: said[name] for name in said if isinstance(said[name], str | int | float)}\n",
        caught_by=(f"{LINES}::test_an_error_is_told_by_types_and_places_without_what_it_quotes",),
        why="a claim that somebody adds to a line one day would be written",
    ),
    Mutation(
        name="a strange answer of Redis breaks the probe",
        protects="a probe that answers",
        file="caseflow/probes.py",
        old="    except Exception as error:\n",
        new="    except OSError as error:\n",
        caught_by=(f"{PROBES}::test_a_redis_that_answers_nonsense_or_nothing_is_named",),
        why="an error of the client library would be a 500 without the name of what is missing",
    ),
    Mutation(
        name="ready without its migrations",
        protects="a probe that means it",
        file="caseflow/probes.py",
        old='"migrations": UNKNOWN if applied is None else (PENDING if migrations_of_the_code() - applied else OK),\n',
        new='"migrations": UNKNOWN if applied is None else OK,\n',
        caught_by=(f"{PROBES}::test_a_migration_of_the_code_that_is_not_applied_is_named",),
        why="a new version would be sent requests before its tables are there",
    ),
)
