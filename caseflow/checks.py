"""`manage.py check`: every process fits the engine, and everything it names exists (design §7).

Loaded by the project's AppConfig once every room has registered what it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, connections
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template
from django.utils.module_loading import import_string

from approvals.proposers import proposer_for
from caseflow.domain.lifecycle import CLOSED
from caseflow.domain.process import AmountQuorum, EffectSpec, EndingKind, NoticeSpec, Plan, Process, is_personal
from caseflow.production import wrong_settings
from caseflow.trying import possible_plans
from cases.stages import LEASE, RENEW_EVERY, Stage, all_stages
from integrations.chat import client_of, list_providers
from integrations.contract import Adapter
from integrations.registry import get_adapter

#: Started by the engine itself rather than by a row of a table.
OF_ENGINE = frozenset({"check", "propose", "reconcile"})


@register("caseflow")
def check_installation(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Adapters, stages and every process of the settings."""
    adapters, messages = resolved_adapters()
    processes, problems = resolved_processes()
    messages += problems
    messages += check_caps()
    messages += check_models()
    messages += check_stages(all_stages().values())
    for process in processes:
        messages += check_process(process, adapters)
    return messages


@register(Tags.security, deploy=True)
def check_production(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """What an installation that others reach would refuse to start with."""
    return [_error(40, f"{name} {sentence}") for name, sentence in wrong_settings()]


@register(Tags.database)
def check_versions(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Open cases need the very version of the process they were opened with."""
    known = {f"{process.slug}:{process.version}" for process in resolved_processes()[0]}
    messages: list[CheckMessage] = []
    for alias in databases or ():
        missing = sorted(_versions_in_use(alias) - known)
        messages += [
            _error(20, f"open cases use the process {key}, which the setting PROCESSES lacks") for key in missing
        ]
    return messages


def resolved_adapters() -> tuple[dict[str, Adapter], list[CheckMessage]]:
    """Adapter by name, and an error for each that cannot be made."""
    adapters: dict[str, Adapter] = {}
    messages: list[CheckMessage] = []
    for name in settings.ADAPTERS:
        try:
            adapters[name] = get_adapter(name)
        except Exception as error:  # whatever a wrong setting leads to
            messages.append(_error(1, f"the adapter {name} cannot be made: {error}"))
    return adapters, messages


def resolved_processes() -> tuple[list[Process], list[CheckMessage]]:
    """Every process of the settings, and an error for each that cannot be made or stands twice."""
    processes: dict[str, Process] = {}
    messages: list[CheckMessage] = []
    for path in settings.PROCESSES:
        try:
            process: Process = import_string(path)()
            key = f"{process.slug}:{process.version}"
        except Exception as error:  # an ambiguous table raises while its module is loaded
            messages.append(_error(2, f"the process {path} cannot be made: {error}"))
            continue
        if key in processes:
            messages.append(_error(3, f"two processes are called {key}"))
        processes[key] = process
    return list(processes.values()), messages


def check_caps() -> list[CheckMessage]:
    """A misspelt system would have no cap at all, and nobody would notice."""
    caps = [
        *settings.CASEFLOW_EFFECTS_PER_HOUR.items(),
        *settings.CASEFLOW_EFFECTS_PER_HOUR_AND_ORGANISATION.items(),
    ]
    return [
        _error(30, f"the cap {system}={number} is for no system, or for less than one effect per hour")
        for system, number in caps
        if system not in settings.ADAPTERS or number < 1
    ]


def check_models() -> list[CheckMessage]:
    """A provider of models that nobody could ask is found before a case waits for it."""
    try:
        providers = list_providers().values()
    except ValueError as error:
        return [_error(6, str(error))]
    messages: list[CheckMessage] = []
    for provider in providers:
        try:
            client_of(provider)
        except ValueError as error:
            messages.append(_error(6, f"the provider of models {provider.name} cannot be asked: {error}"))
    return messages


def check_stages(stages: Iterable[Stage]) -> list[CheckMessage]:
    """A lease outlives its renewal, and a stage's own limit is no shorter than one lease."""
    messages: list[CheckMessage] = []
    if LEASE <= RENEW_EVERY:
        messages.append(_error(4, f"leases of {LEASE} are renewed only every {RENEW_EVERY}"))
    for stage in stages:
        if stage.lease <= RENEW_EVERY:
            messages.append(_error(4, f"the lease of {stage.name} ends before it is renewed"))
        if stage.limit < stage.lease:
            messages.append(_error(5, f"the limit of {stage.name} is shorter than its lease"))
    return messages


def check_process(process: Process, adapters: Mapping[str, Adapter]) -> list[CheckMessage]:
    """Everything that can be said of one process without running a case."""
    parts = (_table, _intake, _facts, _people, _retries)
    messages = [message for part in parts for message in part(process)]
    messages += _readings(process, adapters)
    messages += _reconciling(process, adapters)
    messages += _plans(process, adapters)
    return messages


def _table(process: Process) -> Iterator[CheckMessage]:
    unreachable = sorted(process.table.unreachable())
    if unreachable:
        yield _error(6, f"no path leads to {', '.join(unreachable)}", process)
    for row in process.table:
        if row.source in CLOSED:
            yield _error(7, f"{row.event} leaves {row.source}, which is closed", process)
    named = {start.stage for row in process.table for start in row.starts}
    for stage in sorted((named | OF_ENGINE) - set(all_stages())):
        yield _error(8, f"its table starts the stage {stage}, which no room registers", process)


def _intake(process: Process) -> Iterator[CheckMessage]:
    fields = set(process.Intake.model_fields)
    for name in sorted(process.personal_intake - fields):
        yield _error(9, f"the personal field {name} is none of its intake", process)
    for source in process.facts:
        if source.subject not in fields:
            yield _error(
                10, f"the fact {source.name} asks for the intake's {source.subject}, which is not there", process
            )


def _facts(process: Process) -> Iterator[CheckMessage]:
    names = [source.name for source in process.facts]
    if len(names) != len(set(names)):
        yield _error(11, "two of its facts have one name", process)
    for path in sorted({*process.critical, *process.personal_facts, *process.told_facts}):
        if path.partition(".")[0] not in names:
            yield _error(12, f"the path {path} belongs to no fact of it", process)


def _people(process: Process) -> Iterator[CheckMessage]:
    try:
        proposer_for(process.proposer)
    except KeyError:
        yield _error(13, f"there is no proposer {process.proposer}", process)
    policy = process.approval
    if policy is None:
        return
    numbers = [policy.quorum, *(policy.by_amount.numbers if policy.by_amount else [])]
    if min(numbers) < 1:
        yield _error(22, f"a quorum of {min(numbers)} lets a plan through without a person", process)
    if policy.by_amount is not None:
        yield from _by_amount(process, policy.by_amount)


def _by_amount(process: Process, by_amount: AmountQuorum) -> Iterator[CheckMessage]:
    """What the quorum rests on is read again before the send, as everything that a decision depends on."""
    for path in (by_amount.amount, by_amount.currency):
        if path not in process.critical:
            yield _error(23, f"its quorum depends on {path}, which is not critical", process)
    for currency, steps in by_amount.steps.items():
        for start in steps:
            if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", start):
                yield _error(24, f"its quorum for {currency} begins at {start!r}, which is no amount", process)


def _retries(process: Process) -> Iterator[CheckMessage]:
    for name in sorted(set(process.retry) - set(all_stages())):
        yield _error(14, f"its retry policy is for the stage {name}, which no room registers", process)


def _readings(process: Process, adapters: Mapping[str, Adapter]) -> Iterator[CheckMessage]:
    for source in process.facts:
        if source.system not in adapters:
            yield _error(15, f"the fact {source.name} is read from {source.system}, which ADAPTERS lacks", process)
        elif source.name not in adapters[source.system].readable:
            yield _error(16, f"the adapter {source.system} reads nothing called {source.name}", process)


def _reconciling(process: Process, adapters: Mapping[str, Adapter]) -> Iterator[CheckMessage]:
    """Doubt must be allowed to last until an unanswered request can no longer land."""
    stages = all_stages()
    if "reconcile" not in stages:
        return
    deadline = process.retry.get("reconcile", stages["reconcile"].policy).deadline
    for name, adapter in adapters.items():
        if adapter.operations and deadline <= adapter.settles_after:
            yield _error(
                17, f"reconciling gives up after {deadline}, {name} settles after {adapter.settles_after}", process
            )


def _plans(process: Process, adapters: Mapping[str, Adapter]) -> list[CheckMessage]:
    """Every plan the process can make names only what is there."""
    messages: dict[str, CheckMessage] = {}
    try:
        for decision, plan in possible_plans(process):
            for message in _plan(process, decision, plan, adapters):
                messages.setdefault(str(message), message)
    except Exception as error:  # a plan that calculates with its facts cannot be tried without real ones
        problem = f"its plans could not be tried: {type(error).__name__}: {error}"
        warning = Warning(f"{process.slug} {process.version}: {problem}.", id="caseflow.W001")
        return [*messages.values(), warning]
    return list(messages.values())


def _plan(process: Process, decision: str, plan: Plan, adapters: Mapping[str, Adapter]) -> Iterator[CheckMessage]:
    if decision not in process.endings:
        yield _error(21, f"it may decide {decision}, which is none of its endings", process)
        return
    acts = process.endings[decision].kind is EndingKind.ACT
    if bool(plan.effects) != acts:
        does = "acts without an effect" if acts else "does not act but has effects"
        yield _error(18, f"the plan of {decision} {does}", process)
    yield from _named_by(process, decision, plan, adapters)


def _named_by(process: Process, decision: str, plan: Plan, adapters: Mapping[str, Adapter]) -> Iterator[CheckMessage]:
    facts = {source.name for source in process.facts}
    specs: list[EffectSpec | NoticeSpec] = [*plan.effects, *plan.notices]
    for spec in specs:
        if spec.system not in adapters:
            yield _error(15, f"the plan of {decision} needs {spec.system}, which ADAPTERS lacks", process)
        elif spec.operation not in adapters[spec.system].operations:
            yield _error(16, f"the adapter {spec.system} does not do {spec.operation}, as {decision} needs", process)
        confirms = spec.confirms if isinstance(spec, EffectSpec) else {}
        for path in sorted({*spec.preconditions, *confirms}):
            if path.partition(".")[0] not in facts:
                yield _error(12, f"the plan of {decision} names {path}, which belongs to no fact", process)
        if isinstance(spec, NoticeSpec):
            yield from _notice(process, decision, spec)


def _notice(process: Process, decision: str, notice: NoticeSpec) -> Iterator[CheckMessage]:
    if not is_personal(process, notice.to):
        yield _error(12, f"the notice of {decision} goes to {notice.to}, which is no personal fact of it", process)
    try:
        get_template(f"notices/{notice.template}.txt")
    except (TemplateDoesNotExist, TemplateSyntaxError) as error:
        yield _error(19, f"the notice of {decision} has no usable template {notice.template}: {error}", process)


def _versions_in_use(alias: str) -> set[str]:
    """'slug:version' of every open case; none before the first migration."""
    statement = "SELECT DISTINCT process || ':' || process_version FROM cases_case WHERE closed_at IS NULL"
    try:
        connection = connections[alias]
        if "cases_case" not in connection.introspection.table_names():
            return set()
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return {key for (key,) in cursor.fetchall()}
    except DatabaseError:
        return set()  # whoever runs the command is told by the command itself


def _error(number: int, problem: str, process: Process | None = None) -> Error:
    about = f"{process.slug} {process.version}: " if process else ""
    return Error(f"{about}{problem}.", id=f"caseflow.E{number:03d}")
