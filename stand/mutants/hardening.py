"""What keeps others out: the one door, the edge, where requests go, and what an installation starts with."""

from .mutation import Mutation

LEAKS = "tests/leaks/test_leaks.py::test_no_address_tells_anybody_what_is_not_theirs"
COMMANDS = "tests/leaks/test_commands.py::test_no_command_tells_anybody_what_is_not_theirs"
HEADERS = "tests/edge/test_headers.py"
LIMITS = "tests/edge/test_limits.py"
OUTGOING = "tests/integrations/test_outgoing.py"
PRODUCTION = "tests/commands/test_production.py"

MUTATIONS = (
    Mutation(
        name="everybody sees every row",
        protects="one door to rows",
        file="accounts/access.py",
        old="    return queryset.filter(reach)\n",
        new="    return queryset\n",
        caught_by=(f"{LEAKS}[other machine]",),
        why="one organisation would read the cases of another",
    ),
    Mutation(
        name="a repair shows what is out of sight",
        protects="repairs in sight only",
        file="operations/repairing.py",
        old='        return sorted({pk for rows in in_sight for pk in rows.values_list("pk", flat=True)})\n',
        new="        return None\n",
        caught_by=(f"{COMMANDS}[viewer]",),
        why="a command would name the cases of another organisation",
    ),
    Mutation(
        name="an answer goes out bare",
        protects="headers of every answer",
        file="caseflow/edge.py",
        old="            response.headers.setdefault(name, value)\n",
        new="            pass\n",
        caught_by=(f"{HEADERS}::test_the_step_to_https_is_protected_and_remembered",),
        why="a redirect or a static file could be framed and sniffed",
    ),
    Mutation(
        name="an address of any length",
        protects="length of a query",
        file="caseflow/edge.py",
        old='        if len(request.META.get("QUERY_STRING", "")) > LONGEST_QUERY:\n',
        new="        if False:\n",
        caught_by=(f"{LIMITS}::test_a_query_beyond_the_limit_is_refused",),
        why="where the web server has no limit of its own, there would be none",
    ),
    Mutation(
        name="a silent client keeps its thread",
        protects="limit of silence",
        file="caseflow/web_server.py",
        old='        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", SILENCE, 0))\n',
        new="        pass\n",
        caught_by=(f"{LIMITS}::test_a_silent_client_holds_nobody_up",),
        why="eight connections that say nothing would stop the web server",
    ),
    Mutation(
        name="requests go anywhere",
        protects="list of outgoing hosts",
        file="integrations/outgoing.py",
        old='        if (host.lower().rstrip("."), port) not in self._allowed:\n',
        new="        if False:\n",
        caught_by=(f"{OUTGOING}::test_a_ledger_somewhere_else_is_not_read",),
        why="an address from elsewhere would be asked with our keys in hand",
    ),
    Mutation(
        name="the socket asks nobody",
        protects="list asked before each socket",
        file="integrations/http.py",
        old="        self._allowed.require(host, port)\n",
        new="",
        caught_by=(f"{OUTGOING}::test_what_is_not_on_the_list_is_refused_before_its_name_is_looked_up",),
        why="an address put together later would pass by the check of the first one",
    ),
    Mutation(
        name="it starts all the same",
        protects="wrong settings refused",
        file="caseflow/production.py",
        old="    if problems:\n",
        new="    if False:\n",
        caught_by=(f"{PRODUCTION}::test_the_web_server_does_not_start_either",),
        why="an installation would run with the settings of a test and nobody would know",
    ),
    Mutation(
        name="failpoints are fit for production",
        protects="failpoints refused",
        file="caseflow/production.py",
        old="    for name in OF_TESTS:\n",
        new="    for name in ():\n",
        caught_by=(f"{PRODUCTION}::test_each_single_wrong_setting_is_named_and_nothing_else",),
        why="a file in a folder could stop every worker",
    ),
    Mutation(
        name="personal words in the log of an error",
        protects="no personal text in logs",
        file="cases/intake.py",
        old="    ticket = check_ticket(\n",
        new='    __import__("logging").getLogger("cases").warning("opening %s", intake)\n    ticket = check_ticket(\n',
        caught_by=(
            "tests/flows/test_no_personal_data_gets_out.py"
            "::test_a_case_from_its_ticket_to_its_end_leaves_no_personal_word_where_it_does_not_belong",
        ),
        why="a log is read by more people than a case",
    ),
)
