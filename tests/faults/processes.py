"""Kinds of cases that only the fault settings install: the real process, in a hurry or with poorer outside systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from caseflow.domain.process import ApprovalPolicy, Effect, Facts, IntakeBody, Plan
from caseflow.domain.retry import RetryPolicy
from caseflow.processes.restore_access import RestoreAccess
from integrations.mail import Mail
from integrations.subscriptions import Subscriptions

LAST = 3  #: the last attempt that a policy in a hurry allows

HURRY = RetryPolicy(base=timedelta(milliseconds=300), cap=timedelta(seconds=1), limit=LAST)


class BlindMail(Mail):
    """A mail server that cannot be asked what became of a message, and takes every message as a new one."""

    name = "blind_mail"
    honours_keys = False
    can_lookup = False


class ForgetfulSubscriptions(Subscriptions):
    """A system that honours a key for seconds only."""

    name = "forgetful_subscriptions"
    key_life = timedelta(seconds=5)
    settles_after = timedelta(seconds=15)


class RestoreQuickly(RestoreAccess):
    """Three attempts, close together, so that the last one comes soon."""

    slug = "restore_quickly"
    retry = {"observe": HURRY, "propose": HURRY, "execute": HURRY, "reconcile": HURRY}


class RestoreBriefly(RestoreQuickly):
    """A proposal that is soon too old."""

    slug = "restore_briefly"
    approval = ApprovalPolicy(validity=timedelta(seconds=3))


class RestoreBlindly(RestoreQuickly):
    """Its notices go through a channel without look-up."""

    slug = "restore_blindly"

    def plan(self, *, decision: str, facts: Facts, intake: IntakeBody, effects: Sequence[Effect]) -> Plan:
        plan = super().plan(decision=decision, facts=facts, intake=intake, effects=effects)
        return replace(plan, notices=[replace(notice, system="blind_mail") for notice in plan.notices])


class RestoreWithModel(RestoreQuickly):
    """A model proposes."""

    slug = "restore_with_model"
    proposer = "model"
    retry = {**RestoreQuickly.retry, "ask_model": HURRY}


class RestoreForgetfully(RestoreAccess):
    """Its effects go to a system that forgets keys."""

    slug = "restore_forgetfully"

    def plan(self, *, decision: str, facts: Facts, intake: IntakeBody, effects: Sequence[Effect]) -> Plan:
        plan = super().plan(decision=decision, facts=facts, intake=intake, effects=effects)
        return replace(plan, effects=[replace(effect, system="forgetful_subscriptions") for effect in plan.effects])


PROCESSES = [RestoreQuickly, RestoreBriefly, RestoreBlindly, RestoreWithModel, RestoreForgetfully]
ADAPTERS = [BlindMail, ForgetfulSubscriptions]
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "caseflow.settings_faults",
    "CASEFLOW_MORE_PROCESSES": ",".join(f"{__name__}.{process.__name__}" for process in PROCESSES),
    "CASEFLOW_MORE_ADAPTERS": ",".join(f"{adapter.name}={__name__}.{adapter.__name__}" for adapter in ADAPTERS),
}
