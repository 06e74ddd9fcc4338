"""Settings of the next release: one more version of a process beside the old one, which open cases still use."""

from caseflow import settings as current
from caseflow.settings import *  # noqa: F403

PROCESSES = [*current.PROCESSES, "tests.upgrade.next_process.RestoreAccessNext"]
