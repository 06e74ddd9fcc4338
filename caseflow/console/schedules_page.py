"""Forms about reports: when they are due, which is asked for, why one is corrected."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.granting import list_people
from accounts.models import Department, Organisation, Person, time_zones
from caseflow.domain.periods import MAX_CRON, Length
from caseflow.processes.department_report import KINDS
from documents.wording import kind_title
from operations.models import ReportSchedule
from operations.reporting import GRACE, MAX_REASON
from operations.scheduling import MAX_GRACE, Wanted

LENGTHS = {
    Length.DAY: _("every day"),
    Length.WEEK: _("every week"),
    Length.MONTH: _("every month"),
}
_MINUTE = timedelta(minutes=1)


class CorrectionForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the history as personal text."),
    )


class AskForm(forms.Form):
    """Which report of which department."""

    department = forms.ChoiceField(label=_("Department"))
    kind = forms.ChoiceField(label=_("About"), choices=lambda: [(kind, kind_title(kind)) for kind in KINDS])
    period = forms.CharField(
        label=_("Period"),
        max_length=10,
        help_text=_("A day 2026-10-01, a week 2026-W40 or a month 2026-10 that is over."),
    )

    def __init__(self, organisation: Organisation, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        departments = Department.objects.filter(organisation=organisation).order_by("name", "pk")
        self.fields["department"].choices = list(departments.values_list("slug", "name"))  # type: ignore[attr-defined]


class ScheduleForm(AskForm):
    """When a department's report is due, and who is told."""

    length = forms.ChoiceField(label=_("How often"), choices=[(length.value, word) for length, word in LENGTHS.items()])
    at = forms.CharField(
        label=_("Time of day"),
        required=False,
        max_length=5,
        widget=forms.TextInput(attrs={"placeholder": "08:00"}),
        help_text=_("Such as 08:00, after the end of the period. Or a cron line below."),
    )
    cron = forms.CharField(
        label=_("Cron line"),
        required=False,
        max_length=MAX_CRON,
        help_text=_("Five fields, such as 0 8 * * 1-5: the first such moment after the end of the period."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    zone = forms.ChoiceField(label=_("time zone"), choices=lambda: [(name, name) for name in time_zones()])
    grace = forms.IntegerField(
        label=_("Minutes until it is late"),
        min_value=0,
        max_value=int(MAX_GRACE / _MINUTE),
        initial=int(GRACE / _MINUTE),
    )
    recipients = forms.MultipleChoiceField(
        label=_("Recipients"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "Each gets a message with a link. Who may not open the document then is not told, and you are asked."
        ),
    )
    field_order = ["department", "kind", "length", "at", "cron", "zone", "grace", "recipients"]

    def __init__(self, organisation: Organisation, *args: Any, **kwargs: Any) -> None:
        super().__init__(organisation, *args, **kwargs)
        del self.fields["period"]
        people = list_people(organisation).filter(is_active=True)
        choices = [(person.username, person.get_full_name()) for person in people]
        self.fields["recipients"].choices = choices  # type: ignore[attr-defined]

    @property
    def wanted(self) -> Wanted:
        said = self.cleaned_data
        return Wanted(
            department=said["department"],
            kind=said["kind"],
            length=said["length"],
            at=said["at"],
            cron=said["cron"],
            zone=said["zone"],
            grace_minutes=said["grace"],
            recipients=said["recipients"],
        )


def initial_of(schedule: ReportSchedule | None, organisation: Organisation) -> dict[str, Any]:
    """What a form begins with: the schedule as it is, or the organisation's zone."""
    if schedule is None:
        return {"zone": organisation.time_zone, "at": "08:00"}
    people = Person.objects.filter(pk__in=schedule.recipients)
    return {
        "department": schedule.department.slug,
        "kind": schedule.kind,
        "length": schedule.length,
        "at": schedule.at.strftime("%H:%M") if schedule.at else "",
        "cron": schedule.cron,
        "zone": schedule.zone,
        "grace": int(schedule.grace / _MINUTE),
        "recipients": list(people.values_list("username", flat=True)),
    }
