"""All parameters: which outside systems, how much may go wrong at once, and what is taken out.

What may go wrong together is bounded; within the bounds every order of every step is tried. The bounds are chosen so
that all of it takes seconds.
"""

from __future__ import annotations

from dataclasses import replace

from .states import Bounds, Outside, Protections, Setting

KEYS = Outside()
LOOK_UP_ONLY = Outside(honours_keys=False, lookup_forgets=False)
NEITHER = Outside(honours_keys=False, can_lookup=False)
EARLY = Outside(answers_early=True)
LASTING_LOOK_UP = Outside(lookup_forgets=False)


def _two_cases(outside: Outside, bounds: Bounds) -> Setting:
    """Approved already, about the same subject."""
    return Setting(replace(bounds, proposals=1), replace(outside, effect_shows=True), cases=2, approved=True)


#: With every protection in place, nothing may break in any of them.
WHOLE = {
    "keys: a crash, a lost answer, a refusal, a recovery": Setting(
        Bounds(crashes=1, losses=1, refusals=1, recoveries=1), KEYS
    ),
    "keys: a sleeper, a lost answer, a refusal, a recovery": Setting(
        Bounds(stalls=1, losses=1, refusals=1, recoveries=1, proposals=1), LASTING_LOOK_UP
    ),
    "keys: persons, and facts that change": Setting(Bounds(acts=2, closes=1, changes=1, lapses=1), KEYS),
    "keys: persons, and a sleeper": Setting(Bounds(acts=1, closes=1, stalls=1), KEYS),
    "keys: a message lost, one doubled, a crash": Setting(
        Bounds(drops=1, repeats=1, crashes=1, losses=1, proposals=1), KEYS
    ),
    "keys: many lost answers": Setting(Bounds(losses=5), KEYS),
    "keys: many crashes": Setting(Bounds(crashes=4, proposals=1), KEYS),
    "keys: two cases, a crash": _two_cases(KEYS, Bounds(crashes=1, lapses=2)),
    "look-up only: a crash, a lost answer, refusals, a recovery": Setting(
        Bounds(crashes=1, losses=1, refusals=2, recoveries=1), LOOK_UP_ONLY
    ),
    "look-up only: a sleeper, a lost answer, a recovery": Setting(
        Bounds(stalls=1, losses=1, recoveries=1), LOOK_UP_ONLY
    ),
    "neither: a sleeper, a lost answer, a refusal, a recovery": Setting(
        Bounds(stalls=1, losses=1, refusals=1, recoveries=1), NEITHER
    ),
    "neither: two cases, a sleeper": _two_cases(NEITHER, Bounds(stalls=1, lapses=2)),
    "accepts before it applies: a sleeper, a lost answer": Setting(Bounds(stalls=1, losses=1, proposals=1), EARLY),
}

DOUBLED = "two effects under one key"
TWICE = "two effects of one plan"
SUBJECT = "two effects on one subject"
AGAIN = "a second automatic call in doubt, to a system without keys"
FALSE_NO = "an action is REFUSED and was applied"
WITHDRAWN = "a call began for a plan that was withdrawn"
CLOSED = "a call began for a case that was closed or taken back"
PAUSED = "a call began during a pause"
UNDECIDED = "a call began without a decision on this plan"
COUNTS = "the guard columns of the case do not say what its actions are"
UNBOUNDED = "a task was begun more often than its limits allow"
STUCK = "from here the case never comes to rest by itself"


def without(setting: Setting, *names: str) -> Setting:
    """The same without some protections. Raises TypeError for an unknown one."""
    return replace(setting, protections=replace(Protections(), **dict.fromkeys(names, False)))


#: (protection taken out, where) and what then happens.
MISSED = [
    ("look_up_first", Setting(Bounds(crashes=1), KEYS), DOUBLED),
    ("look_up_first", Setting(Bounds(crashes=1), LOOK_UP_ONLY), AGAIN),
    ("look_up_first", Setting(Bounds(crashes=1), NEITHER), AGAIN),
    ("subject_lock", _two_cases(KEYS, Bounds()), SUBJECT),
    ("reserve_before_reading", _two_cases(KEYS, Bounds()), SUBJECT),
    ("fence_check", Setting(Bounds(stalls=1), LOOK_UP_ONLY), COUNTS),
    ("version_check", Setting(Bounds(closes=1), KEYS), CLOSED),
    ("key_for_life", Setting(Bounds(crashes=1), KEYS), TWICE),
    ("re_read", Setting(Bounds(changes=1), KEYS), "a call began on facts that had changed before the attempt"),
    ("begin_locks", Setting(Bounds(acts=1), KEYS), PAUSED),
    ("pause_check", Setting(Bounds(acts=1), KEYS), PAUSED),
    (
        "doubt_guard",
        Setting(Bounds(losses=2, recoveries=1), NEITHER),
        "there is a new plan while an effect of the plan before is open",
    ),
    ("count_before_work", Setting(Bounds(crashes=4, proposals=1), KEYS), UNBOUNDED),
    ("every_try_counts", Setting(Bounds(losses=4), KEYS), UNBOUNDED),
    ("ring_again", Setting(Bounds(drops=1), KEYS), STUCK),
    ("ring_again", Setting(Bounds(crashes=1), KEYS), STUCK),
    ("read_back", Setting(Bounds(), EARLY), "an action is CONFIRMED and was never applied"),
    ("send_within_lease", Setting(Bounds(stalls=1, recoveries=1), LOOK_UP_ONLY), FALSE_NO),
    ("send_within_lease", Setting(Bounds(stalls=1, losses=1), KEYS), DOUBLED),
    ("wait_for_newest_call", Setting(Bounds(losses=1, refusals=1, recoveries=1), LOOK_UP_ONLY), FALSE_NO),
    ("judge_at_look_up", Setting(Bounds(losses=1, recoveries=1), LOOK_UP_ONLY), FALSE_NO),
    ("doubt_survives_refusal", Setting(Bounds(losses=1, refusals=1), KEYS), FALSE_NO),
    ("subject_over_expired_key", Setting(Bounds(losses=1, recoveries=1), KEYS), FALSE_NO),
    ("unread_subject_proves_nothing", Setting(Bounds(losses=2, recoveries=1), KEYS), FALSE_NO),
]

#: (an outer door, the one behind it, where) and what happens when both are open; the outer one alone may be.
DOORS = [
    ("withdraw_cancels_tasks", "version_check", Setting(Bounds(acts=1), KEYS, approved=True), WITHDRAWN),
    ("match_at_decision", "match_at_begin", Setting(Bounds(acts=1), KEYS), UNDECIDED),
    ("match_at_begin", "match_at_decision", Setting(Bounds(acts=1), KEYS), UNDECIDED),
]
