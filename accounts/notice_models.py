"""Notices to staff: one message per person, kind and subject, sent by mail as well as it can be (console.md §1, 29)."""

from __future__ import annotations

from django.db import models

from caseflow.domain.notices import StaffNotice as Kind


class StaffNotice(models.Model):
    """That somebody was told something once. Written before the mail leaves, so nobody is told twice.

    It holds no text: what the mail says is made of the kind and the subject's public id.
    """

    runtime_rights = "SELECT, INSERT, UPDATE (sent_at, outcome)"
    organisation_path = "organisation"

    class Outcome(models.TextChoices):
        SENT = "sent"
        FAILED = "failed"

    person = models.ForeignKey("accounts.Person", on_delete=models.PROTECT, related_name="staff_notices")
    organisation = models.ForeignKey("accounts.Organisation", on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=16, choices=[(kind.value, kind.value) for kind in Kind])
    subject = models.CharField(max_length=16, help_text="Public id of a proposal or an action.")
    at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=8, default="", choices=Outcome)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "kind", "subject"], name="staff_notice_once")]
        indexes = [
            models.Index(fields=["at"], condition=models.Q(outcome=""), name="staff_notice_unsent"),
            models.Index(fields=["at"], condition=models.Q(outcome="failed"), name="staff_notice_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject} {self.person_id}"
