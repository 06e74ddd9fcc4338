"""The next version of a process, as a release brings it: the same rules under a new number."""

from __future__ import annotations

from caseflow.processes.restore_access import RestoreAccess


class RestoreAccessNext(RestoreAccess):
    version = RestoreAccess.version + 1
