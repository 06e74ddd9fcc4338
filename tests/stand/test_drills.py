"""The drills fail on a single effect too many, and on every promise that is not kept."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from stand.open_work import doubled
from stand.restore import __main__ as restore
from stand.upgrade import __main__ as upgrade
from stand.upgrade.earlier import other_versions

CLEAN = {"writes_before_resumed": 0, "mails_before_resumed": 0, "doubled": [], "audit": "verifies"}
RESTORED: dict[str, Any] = CLEAN | {
    "invariants": "clean",
    "audit_at_the_end": "verifies",
    "named_by_the_ledger": ["sent after the backup: CANCELLED and had an effect"],
    "resume_before_results_were_checked": "refused",
    "unknown_became": ["CONFIRMED"],
    "resumed": True,
    "reconcile_left": 0,
    "activations": {"unsent": 1, "unknown": 1},
    "staff_mails_after": 2,
    "recorded": ["installation.restored", "installation.resumed"],
    "ends": {"unsent": "COMPLETED"},
}
UPGRADED: dict[str, Any] = {
    "stood": upgrade.STANDS,
    "sent_before": 0,
    "unknown_stayed": ["UNKNOWN"],
    "ends": upgrade.ENDS,
    "activations": upgrade.ACTIVATED,
    "doubled": [],
    "invariants": "clean",
    "audit": "verifies",
    "next_version": {"handed_back": True, "opened_as": 2, "waiting_data_is_now": 2, "events": 1},
    "migrated_beside": {"ends": {"COMPLETED": 5}, "activations": 5},
}


def test_a_restore_passes_only_when_nothing_left_before_a_person_resumed() -> None:
    assert restore.is_right(RESTORED)
    wrongs = {
        "writes_before_resumed": 1,
        "mails_before_resumed": 1,
        "doubled": ["key"],
        "activations": {"unsent": 2, "unknown": 1},
        "resume_before_results_were_checked": "ended with 0",
        "named_by_the_ledger": [],
        "recorded": ["installation.resumed"],
        "ends": {"unsent": "NEEDS_ATTENTION"},
    }
    for name, wrong in wrongs.items():
        assert not restore.is_right(RESTORED | {name: wrong}), name


def test_an_upgrade_passes_only_when_the_doubt_stayed_one_and_the_approved_action_was_sent_once() -> None:
    assert upgrade.is_right(UPGRADED)
    wrongs: dict[str, Any] = {
        "unknown_stayed": ["CONFIRMED"],
        "sent_before": 1,
        "activations": upgrade.ACTIVATED | {"unsent": 2},
        "ends": upgrade.ENDS | {"unknown": "NEEDS_ATTENTION"},
        "invariants": "violated",
        "next_version": UPGRADED["next_version"] | {"handed_back": False},
        "migrated_beside": UPGRADED["migrated_beside"] | {"activations": 6},
    }
    for name, wrong in wrongs.items():
        assert not upgrade.is_right(UPGRADED | {name: wrong}), name


def test_what_the_ledger_of_the_outside_world_names_is_told_apart_from_any_other_violation() -> None:
    def found(name: str, case: str, problem: str) -> list[str]:
        examples = [{"case": case, "problem": problem}]
        return restore.named({"invariants": [{"name": name, "examples": examples}]}, "C-1")

    expected = RESTORED["named_by_the_ledger"]
    assert found("ledger_agrees", "C-1", "key is CANCELLED and had an effect") == expected
    assert found("ledger_agrees", "C-2", "key is CANCELLED and had an effect") != expected
    assert found("histories_are_paths", "C-1", "step 2 is version 3") != expected


def test_two_effects_under_one_key_or_on_one_subscription_are_found() -> None:
    one = {"key": "a", "subject": "S-1", "system": "subscriptions"}
    letter = {"key": "b", "subject": "u@example.org", "system": "mail"}
    assert doubled([one, letter, letter | {"key": "c"}]) == []
    assert doubled([one, one | {"key": "d"}]) == ["S-1"]
    assert doubled([letter, letter]) == ["b"]


def test_a_lock_that_names_other_versions_than_are_installed_is_told(tmp_path: Path) -> None:
    lock = tmp_path / "lock.txt"
    here = version("django")
    lock.write_text(f"django=={here} \\\n    --hash=sha256:00\nredis==0.1 \\\n    --hash=sha256:11\nno-such==1.0\n")
    assert other_versions(lock) == [f"redis 0.1, here {version('redis')}", "no-such 1.0, here none"]
