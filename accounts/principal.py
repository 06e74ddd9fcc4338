"""Who acts: the one who has rights (a principal), and the few primitives that an audit row keeps of them (an actor)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .models import Person, ServiceAccount

Principal = Person | ServiceAccount


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it, in primitives. `person_id` is the person answerable: for a service account its owner."""

    kind: Literal["person", "service", "system"]
    id: int | None
    name: str
    person_id: int | None = None


SYSTEM = Actor("system", None, "system")


class ServiceUser:
    """What `request.user` is for a machine: signed in, and nothing else. No password, no permissions, no staff."""

    is_authenticated = True
    is_anonymous = False
    is_active = True
    is_staff = False
    is_superuser = False

    def __init__(self, account: ServiceAccount) -> None:
        self.account = account

    @property
    def pk(self) -> str:
        """For throttles and logs; never equal to a person's key."""
        return f"service-{self.account.pk}"

    def __str__(self) -> str:
        return str(self.account)


def actor_of_person(person: Person) -> Actor:
    return Actor("person", person.pk, person.get_full_name(), person.pk)


def actor_of_service(account: ServiceAccount) -> Actor:
    return Actor("service", account.pk, account.name, account.owner_id)


def actor_of(principal: Principal) -> Actor:
    if isinstance(principal, ServiceAccount):
        return actor_of_service(principal)
    return actor_of_person(principal)


def principal_of(user: object) -> Principal:
    """The principal behind a signed-in `request.user`. Raises TypeError for anybody who is not signed in."""
    if isinstance(user, ServiceUser):
        return user.account
    if isinstance(user, Person):
        return user
    raise TypeError("nobody is signed in")
