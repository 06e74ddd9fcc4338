"""How holds and notes look from outside, and what may be sent to make them."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from rest_framework import serializers

from cases.models import Hold, Note

from .reading import Body


class HoldBody(Body):
    """Nothing takes the case; a sign-in name hands it over, one's own takes it over."""

    to: str = Field(default="", max_length=150, description="Sign-in name of whom to hand it over to.")


class ReleaseBody(Body):
    """Nothing: the case stands in the address."""


class NoteBody(Body):
    """Words beside a case."""

    text: str = Field(description="Kept as personal text: it is shown to people who may see such texts, on record.")


class HoldSerializer(serializers.Serializer[Hold]):
    """Who has a case. It tells colleagues and stops nobody."""

    person = serializers.CharField(source="person.get_full_name")
    username = serializers.CharField(source="person.username")
    given_by = serializers.CharField(
        source="given_by.get_full_name", default=None, allow_null=True, help_text="null: taken by the holder."
    )
    at = serializers.DateTimeField()
    until = serializers.DateTimeField(help_text="It ends by itself then.")


class HoldNowSerializer(serializers.Serializer[Any]):
    """The live hold of a case, or null."""

    hold = HoldSerializer(allow_null=True)


class NoteSerializer(serializers.Serializer[Note]):
    """A note; its words come out by `reveal` with the name of its field."""

    number = serializers.IntegerField()
    field = serializers.CharField()
    by = serializers.CharField(source="by_name")
    by_kind = serializers.CharField(help_text="person or service.")
    at = serializers.DateTimeField()


class NoteListSerializer(serializers.Serializer[Any]):
    """The notes of a case, newest first."""

    results = NoteSerializer(many=True)
