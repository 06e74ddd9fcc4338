"""What every endpoint shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.limits import caller_of, spend
from accounts.principal import Principal, principal_of
from caseflow.domain.errors import CaseflowError

Result = TypeVar("Result")


class ApiView(APIView):
    """An endpoint for signed-in people and machines."""

    #: Which limit of the settings a method spends.
    limits: ClassVar[Mapping[str, str]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if scope := self.limits.get(request.method or ""):
            spend(scope, caller_of(request))

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
