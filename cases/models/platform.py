"""Rows of the platform itself: regular work, recorded stops, who works, which installation this database belongs to."""

from __future__ import annotations

from django.db import models


class Schedule(models.Model):
    """Regular work: the dispatcher publishes `stage` whenever `next_at` has come, in the same transaction."""

    name = models.CharField(max_length=120, unique=True)
    stage = models.CharField(max_length=64)
    subject = models.CharField(max_length=64, default="")
    queue = models.CharField(max_length=16, default="quick")
    organisation = models.ForeignKey("accounts.Organisation", on_delete=models.PROTECT, null=True, related_name="+")
    every = models.DurationField(help_text="From one due moment to the next.")
    next_at = models.DateTimeField()
    is_active = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.name


class Pause(models.Model):
    """A recorded stop of a process, an outside system, an organisation or everything.

    Live while not ended and not past `until`, by the database's clock. With an organisation it holds up only what
    belongs to that one. Written by `cases.pausing` only, behind the gate.
    """

    runtime_rights = "SELECT, INSERT, UPDATE (until, ended_at, ended_by_id)"
    organisation_path = "organisation"

    class Kind(models.TextChoices):
        PROCESS = "process"
        SYSTEM = "system"
        ORGANISATION = "organisation"
        ALL = "all"

    public_id = models.CharField(max_length=16, unique=True)
    kind = models.CharField(max_length=16, choices=Kind)
    key = models.CharField(max_length=80, default="", help_text="Process slug or system name, '' for the other kinds.")
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, null=True, related_name="+", help_text="Only there."
    )
    reason = models.CharField(max_length=500, help_text="In words, or the code of what paused it by itself.")
    by = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()
    until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "key", "organisation"],
                condition=models.Q(ended_at__isnull=True),
                nulls_distinct=False,
                name="pause_one_live",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["process", "system"]) & ~models.Q(key="")
                | models.Q(kind="organisation", key="", organisation__isnull=False)
                | models.Q(kind="all", key="", organisation__isnull=True),
                name="pause_says_of_what",
            ),
        ]
        indexes = [models.Index(fields=["-at"], name="pause_newest")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}".strip()


class Installation(models.Model):
    """Which installation this database belongs to. A copy under other settings, or a restored one, sends nothing."""

    only = models.BooleanField(primary_key=True, default=True)
    installation_id = models.UUIDField()
    restored = models.BooleanField(default=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(only=True), name="installation_is_one")]

    def __str__(self) -> str:
        return str(self.installation_id)


class WorkerBeat(models.Model):
    """The last heartbeat of one process that works or rings; written by itself, dated by the database's clock."""

    class Kind(models.TextChoices):
        WORKER = "worker"
        DISPATCHER = "dispatcher"

    class State(models.TextChoices):
        """What `cases.selectors.list_beats` makes of a row."""

        LIVE = "live"
        RED = "red"
        SILENT = "silent"
        STOPPED = "stopped"

    kind = models.CharField(max_length=16, choices=Kind)
    name = models.CharField(max_length=40, help_text="The role it was started as.")
    host = models.CharField(max_length=120)
    pid = models.PositiveIntegerField()
    booted_at = models.DateTimeField()
    beat_at = models.DateTimeField()
    last_fetch_at = models.DateTimeField(null=True, help_text="Of all queues the longest ago; a dispatcher's sweep.")
    live_since = models.DateTimeField(null=True, help_text="Without a break; nothing when it is not live.")
    is_live = models.BooleanField()
    reason = models.CharField(max_length=500, default="", help_text="Why it is not live, or what it waits for.")
    stopped_at = models.DateTimeField(null=True, help_text="It ended because it was told to.")
    versions = models.JSONField(help_text="Of Python, the libraries and the processes it has.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["host", "pid"], name="workerbeat_one_process")]

    def __str__(self) -> str:
        return f"{self.name} {self.host}:{self.pid}"
