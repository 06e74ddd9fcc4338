"""Who is here: people, organisations, departments, and the guardian rows that carry rights (design §9)."""

from __future__ import annotations

from typing import ClassVar
from zoneinfo import available_timezones

import pgtrigger
from django.contrib.auth.models import AbstractUser, Group
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from caseflow.domain.roles import Right, Role

#: The names of rights as Django permissions; shown to administrators only, so they stay English in the database.
RIGHT_NAMES: dict[Right, str] = {
    Right.OPEN_CASE: "Open a case",
    Right.SEE_CASES: "See cases and export lists, masked",
    Right.REVEAL: "Reveal claim texts and personal data",
    Right.SUPPLY_DATA: "Supply data, hold, hand over, note",
    Right.DECIDE: "Decide a proposal",
    Right.RECOVER: "Order a recovery, a bulk, a pause",
    Right.AUTHORISE_RECOVERY: "Authorise a recovery that needs a second person",
    Right.OPEN_DOCUMENTS: "Open documents",
    Right.READ_AUDIT: "Read and export the whole audit trail",
    Right.ADMINISTER: "Grant roles, schedules, document grants, service accounts",
}


class Language(models.TextChoices):
    RU = "ru", "Русский"
    EN = "en", "English"


class Theme(models.TextChoices):
    SYSTEM = "system", _("As the device")
    LIGHT = "light", _("Light")
    DARK = "dark", _("Dark")


class Density(models.TextChoices):
    COMFORTABLE = "comfortable", _("Comfortable")
    COMPACT = "compact", _("Compact")


def time_zones() -> list[str]:
    """Names of places, in order; the files `Factory` and `localtime` name none."""
    return sorted(available_timezones() - {"Factory", "localtime"})


def validate_time_zone(value: str) -> None:
    """Raises ValidationError unless `value` is an IANA time zone known here, such as Europe/Moscow."""
    if value not in time_zones():
        raise ValidationError(_("“%(value)s” is not a known time zone."), code="time_zone", params={"value": value})


class Person(AbstractUser):
    """Somebody who signs in. Rights come from roles in organisations only: a superuser has no business right."""

    first_name = None  # type: ignore[assignment]  # one field for a name: it is not ours to cut it in two
    last_name = None  # type: ignore[assignment]

    name = models.CharField(_("name"), max_length=150, blank=True)
    language = models.CharField(_("language"), max_length=2, choices=Language, default=Language.RU)
    time_zone = models.CharField(
        _("time zone"), max_length=64, default="Europe/Moscow", validators=[validate_time_zone]
    )
    theme = models.CharField(_("theme"), max_length=6, choices=Theme, default=Theme.SYSTEM)
    muted_notices = ArrayField(
        models.CharField(max_length=16),
        verbose_name=_("notices not wanted"),
        default=list,
        blank=True,
        editable=False,
        help_text=_("Kinds of mail that this person does not want."),
    )
    session_epoch = models.PositiveIntegerField(
        _("ends of all sessions"), default=0, editable=False, help_text=_("Counted up: every session before is over.")
    )
    density = models.CharField(_("density"), max_length=11, choices=Density, default=Density.COMFORTABLE)
    shortcuts = models.BooleanField(
        _("keyboard shortcuts"),
        default=True,
        help_text=_(
            "Single keys: ? shows them all, j and k move, Enter opens, / searches. None of them changes anything."
        ),
    )

    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        verbose_name = _("person")
        verbose_name_plural = _("people")
        constraints: ClassVar = [
            # Two people must not differ by capitals alone: a decision is shown with the person's name.
            models.UniqueConstraint(Lower("username"), name="person_username_any_case"),
            models.CheckConstraint(condition=models.Q(language__in=Language.values), name="person_language"),
            models.CheckConstraint(condition=models.Q(theme__in=Theme.values), name="person_theme"),
            models.CheckConstraint(condition=models.Q(density__in=Density.values), name="person_density"),
        ]
        # By trigger, so that it holds on every way to switch a person off; and an ended session never comes back.
        triggers: ClassVar = [
            pgtrigger.Trigger(
                name="dismissal_ends_sessions",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                func="NEW.session_epoch = greatest(NEW.session_epoch, OLD.session_epoch)"
                " + (OLD.is_active AND NOT NEW.is_active)::int; RETURN NEW;",
            )
        ]

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """What a session is compared with at every request: the password, as Django does it, and the epoch."""
        about = f"{self.password}:{self.session_epoch}"
        return salted_hmac("accounts.Person.session", about, secret=secret, algorithm="sha256").hexdigest()

    def get_full_name(self) -> str:
        return self.name or self.username

    def get_short_name(self) -> str:
        return self.get_full_name()

    def __str__(self) -> str:
        return self.get_full_name()


class Organisation(models.Model):
    """A tenant: every case belongs to one, every right is held in one."""

    #: How `accounts.access` reaches the organisation from a row of this table.
    organisation_path = "pk"

    slug = models.SlugField(_("short name"), max_length=50, unique=True)
    name = models.CharField(_("name"), max_length=200)
    language = models.CharField(_("language"), max_length=2, choices=Language, default=Language.RU)
    time_zone = models.CharField(
        _("time zone"), max_length=64, default="Europe/Moscow", validators=[validate_time_zone]
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("organisation")
        verbose_name_plural = _("organisations")
        permissions: ClassVar = [(right.value, RIGHT_NAMES[right]) for right in Right]
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(language__in=Language.values), name="organisation_language"),
        ]

    def __str__(self) -> str:
        return self.name


class Department(models.Model):
    """A part of an organisation that has documents of its own."""

    organisation_path = "organisation"
    department_path = "pk"

    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="departments", verbose_name=_("organisation")
    )
    slug = models.SlugField(_("short name"), max_length=50)
    name = models.CharField(_("name"), max_length=200)

    class Meta:
        verbose_name = _("department")
        verbose_name_plural = _("departments")
        permissions: ClassVar = [(Right.OPEN_DOCUMENTS.value, RIGHT_NAMES[Right.OPEN_DOCUMENTS])]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organisation", "slug"], name="department_slug_in_organisation"),
        ]

    def __str__(self) -> str:
        return self.name


class OrganisationPersonRight(UserObjectPermissionBase):
    """One right of one person on one organisation, given without a role."""

    content_object = models.ForeignKey(Organisation, on_delete=models.CASCADE)

    class Meta(UserObjectPermissionBase.Meta):
        pass


class OrganisationGroupRight(GroupObjectPermissionBase):
    """One right of one role's group on one organisation."""

    content_object = models.ForeignKey(Organisation, on_delete=models.CASCADE)

    class Meta(GroupObjectPermissionBase.Meta):
        pass


class DepartmentPersonRight(UserObjectPermissionBase):
    """One right of one person on the documents of one department."""

    content_object = models.ForeignKey(Department, on_delete=models.CASCADE)

    class Meta(UserObjectPermissionBase.Meta):
        pass


class DepartmentGroupRight(GroupObjectPermissionBase):
    """One right of one role's group on the documents of one department."""

    content_object = models.ForeignKey(Department, on_delete=models.CASCADE)

    class Meta(GroupObjectPermissionBase.Meta):
        pass


class RoleGroup(models.Model):
    """The Django group that carries one role in one organisation, or in one of its departments.

    People are members of the group; the group has the role's rights as guardian rows.
    """

    organisation_path = "organisation"

    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="role_groups", verbose_name=_("organisation")
    )
    role = models.CharField(_("role"), max_length=20, choices=[(role.value, role.value) for role in Role])
    department = models.ForeignKey(
        Department,
        on_delete=models.PROTECT,
        related_name="role_groups",
        null=True,
        blank=True,
        verbose_name=_("department"),
    )
    group = models.OneToOneField(Group, on_delete=models.PROTECT, related_name="role_group", verbose_name=_("group"))

    class Meta:
        verbose_name = _("role")
        verbose_name_plural = _("roles")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organisation", "role", "department"], name="one_group_of_a_role", nulls_distinct=False
            ),
            models.CheckConstraint(condition=models.Q(role__in=[role.value for role in Role]), name="known_role"),
            models.CheckConstraint(
                condition=models.Q(department=None) | models.Q(role=Role.REPORT_READER.value),
                name="departments_have_report_readers_only",
            ),
        ]

    def __str__(self) -> str:
        where = f"{self.organisation} · {self.department}" if self.department_id else str(self.organisation)
        return f"{where}: {self.role}"


# Django finds an app's models in this module; machines have a module of their own because people and machines
# have nothing in common but the organisation.
from .notice_models import StaffNotice  # noqa: E402
from .platform_models import PlatformOperator  # noqa: E402
from .service_models import ServiceAccount, ServiceToken  # noqa: E402

__all__ = [
    "Density",
    "Department",
    "DepartmentGroupRight",
    "DepartmentPersonRight",
    "Language",
    "Organisation",
    "OrganisationGroupRight",
    "OrganisationPersonRight",
    "Person",
    "PlatformOperator",
    "RoleGroup",
    "ServiceAccount",
    "ServiceToken",
    "StaffNotice",
    "Theme",
]
