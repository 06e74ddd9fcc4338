"""What every endpoint shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.principal import Principal, principal_of
from caseflow.domain.errors import CaseflowError

Result = TypeVar("Result")


class ApiView(APIView):
    """An endpoint for signed-in people and machines."""

    @property
    def principal(self) -> Principal:
        return principal_of(self.request.user)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        final.headers.setdefault("Cache-Control", "no-store")
        return final


def in_one_transaction(work: Callable[[], Result]) -> Result:
    """`work` with its look-up in one transaction. A refusal is raised after the commit, so that its record is kept."""
    refusal: CaseflowError | None = None
    with transaction.atomic():
        try:
            return work()
        except CaseflowError as error:
            refusal = error
    raise refusal
