"""Choosing who proposes in an organisation's cases of one process: an act of an administrator, put on record."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from accounts.models import Organisation
from accounts.principal import Actor
from audit.services import record_organisation_event
from caseflow.domain.errors import BadInput
from caseflow.domain.process import Process
from cases.processes import all_processes
from cases.rows import database_now
from integrations.chat import list_providers

from .model_models import ProposerChoice
from .model_proposers import KINDS, model_proposer
from .prompting import list_versions
from .proposers import find_local

MAX_NAME = 64  #: characters


@dataclass(frozen=True, slots=True)
class Chosen:
    """Who proposes now, and whether anything was changed."""

    choice: ProposerChoice
    changed: bool


def choose_proposer(
    *,
    organisation: Organisation,
    process: str,
    proposer: str,
    rules_take_over: bool,
    by: Actor,
    os_account: str = "",
) -> Chosen:
    """Cases in which nothing is proposed yet are proposed for as chosen; proposals that stand are left as they are.

    The caller has checked the right. Raises BadInput for a process or proposer that is not there.
    """
    _check(process, proposer)
    with transaction.atomic():
        Organisation.objects.select_for_update().get(pk=organisation.pk)
        row = ProposerChoice.objects.filter(organisation=organisation, process=process).first()
        before = (row.proposer, row.rules_take_over) if row else ("", False)
        if before == (proposer, rules_take_over) and row is not None:
            return Chosen(row, False)
        row = row or ProposerChoice(organisation=organisation, process=process)
        row.proposer, row.rules_take_over, row.changed_at = proposer, rules_take_over, database_now()
        row.save()
        record_organisation_event(
            organisation.pk,
            "proposer.chosen",
            actor=by,
            facts={
                "process": process,
                "was": before[0],
                "proposer": proposer,
                "rules_took_over_before": before[1],
                "rules_take_over": rules_take_over,
                **({"os_account": os_account} if os_account else {}),
            },
        )
    return Chosen(row, True)


def list_choosable(process: Process) -> list[str]:
    """Every name that may be chosen for this process: the rules, and each provider by each prompt."""
    names = ["rules"]
    for provider in list_providers():
        for kind, wanted in KINDS.items():
            versions = [version for version in list_versions(process) if version.startswith(f"{wanted}-")]
            if versions:
                names += [f"{kind}:{provider}", *(f"{kind}:{provider}@{version}" for version in versions)]
    return names


def _check(process: str, proposer: str) -> None:
    found = [one for one in all_processes().values() if one.slug == process]
    if not found:
        raise BadInput(code="unknown_process", path="$.process", problem="no process has this name")
    if len(proposer) > MAX_NAME or not all(_serves(one, proposer) for one in found):
        problem = "it has no such kind, provider or prompt"
        raise BadInput(code="unknown_proposer", path="$.proposer", problem=problem)


def _serves(process: Process, proposer: str) -> bool:
    if find_local(proposer) is not None:
        return True
    try:
        model_proposer(proposer).prompt_for(process)
    except (KeyError, ValueError):
        return False
    return True
