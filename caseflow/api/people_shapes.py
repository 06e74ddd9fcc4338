"""How people and their roles look from outside, and what may be sent to grant and to revoke."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from rest_framework import serializers

from caseflow.domain.roles import Role

from .bodies import MAX_LIMIT
from .reading import Body, Query


class RoleBody(Body):
    """Whose role, which one and why."""

    username: str = Field(max_length=150, description="Exactly as the person signs in.", examples=["viewer"])
    role: str = Field(description=", ".join(role.value for role in Role), examples=["approver"])
    department: str = Field(default="", description="Of a report reader; left out: the whole organisation.")
    reason: str = Field(description="Kept in the audit trail.")


class PeopleQuery(Query):
    """A page: `after` is the sign-in name of the last one of the page before."""

    after: Annotated[str, Field(max_length=150)] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50


class HeldRoleSerializer(serializers.Serializer[Any]):
    """One role."""

    role = serializers.ChoiceField(choices=[role.value for role in Role])
    department = serializers.CharField(
        source="department.slug", default=None, allow_null=True, help_text="null: in the whole organisation."
    )


class PersonSerializer(serializers.Serializer[Any]):
    """Somebody with a role in the organisation; a dismissed person keeps the roles and may nothing."""

    username = serializers.CharField(source="person.username")
    name = serializers.CharField(source="person.get_full_name")
    is_active = serializers.BooleanField(source="person.is_active")
    roles = HeldRoleSerializer(many=True)


class PeoplePageSerializer(serializers.Serializer[Any]):
    """People by sign-in name."""

    results = PersonSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")
