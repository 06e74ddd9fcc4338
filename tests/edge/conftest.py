"""Callers at the edge: what the application answers is looked at, also when it fails."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import Organisation
from tests.factories import make_organisation


@pytest.fixture
def acme(committing_database: None) -> Organisation:
    return make_organisation("acme")


@pytest.fixture
def anybody(committing_database: None) -> Client:
    """Not signed in, with CSRF as in a browser; a failure is an answer, as it is for everybody outside."""
    return Client(enforce_csrf_checks=True, raise_request_exception=False)
