"""The one place where an error becomes an answer over HTTP: problem details with a stable code (RFC 9457)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.utils.translation import gettext, gettext_lazy
from django.views import defaults
from rest_framework import exceptions
from rest_framework.response import Response

from audit.bodies import primitives
from caseflow.domain import errors
from caseflow.domain.canonical import MAX_BYTES
from caseflow.requests import request_id_of
from cases.selectors import masked

from .messages import TEMPLATES

MEDIA_TYPE = "application/problem+json"
PREFIX = "/api/"
RETRY_AFTER = 1  #: seconds, where a lock or the database was busy

logger = logging.getLogger(__name__)


class ServiceNeverDecides(errors.CaseflowError):
    """Decisions are made by persons; a service account never decides or withdraws."""

    code = "service_never_decides"


class ServiceNeverRecovers(errors.CaseflowError):
    """Recoveries are ordered and signed by persons; a service account never does."""

    code = "service_never_recovers"


class ServiceNeverHolds(errors.CaseflowError):
    """A case is held by persons; a service account never holds one."""

    code = "service_never_holds"


class Rule(NamedTuple):
    """The status and the title of one kind of error."""

    status: int
    title: Any


RULES: dict[type[errors.CaseflowError], Rule] = {
    errors.BadInput: Rule(400, gettext_lazy("The request was not understood")),
    errors.TooLarge: Rule(413, gettext_lazy("The request is too large")),
    errors.TooManyRequests: Rule(429, gettext_lazy("Too many requests")),
    errors.WebhookRefused: Rule(401, gettext_lazy("Not believed")),
    errors.WebhookLate: Rule(400, gettext_lazy("Not believed")),
    errors.NotFound: Rule(404, gettext_lazy("Not found")),
    errors.NotPermitted: Rule(403, gettext_lazy("Not permitted")),
    ServiceNeverDecides: Rule(403, gettext_lazy("Not permitted")),
    errors.CauserMayNotDecide: Rule(403, gettext_lazy("Another person has to decide")),
    errors.IntakeConflict: Rule(409, gettext_lazy("The ticket was accepted before with other content")),
    errors.StaleCase: Rule(409, gettext_lazy("The case moved on")),
    errors.StaleSnapshot: Rule(409, gettext_lazy("The facts or the proposal changed")),
    errors.AlreadyDecided: Rule(409, gettext_lazy("Already decided")),
    errors.NotDecidable: Rule(409, gettext_lazy("Nothing to decide")),
    errors.ProposalExpired: Rule(409, gettext_lazy("The proposal expired")),
    errors.NotYourDecision: Rule(403, gettext_lazy("Not permitted")),
    errors.TooLateToWithdraw: Rule(409, gettext_lazy("Too late to withdraw")),
    errors.OwnGrant: Rule(403, gettext_lazy("Not permitted")),
    errors.LastAdministrator: Rule(409, gettext_lazy("The last administrator stays")),
    errors.VersionMoved: Rule(409, gettext_lazy("The case moved on")),
    errors.RecoveryNotPossible: Rule(409, gettext_lazy("Not possible now")),
    errors.RecoveryWaits: Rule(409, gettext_lazy("Ordered already")),
    errors.RecoveryEnded: Rule(409, gettext_lazy("This order waits for nobody")),
    errors.SecondPersonNeeded: Rule(403, gettext_lazy("Another person has to sign")),
    ServiceNeverRecovers: Rule(403, gettext_lazy("Not permitted")),
    errors.HeldByAnother: Rule(409, gettext_lazy("Somebody else has this case")),
    errors.CaseIsClosed: Rule(409, gettext_lazy("The case is closed")),
    ServiceNeverHolds: Rule(403, gettext_lazy("Not permitted")),
    errors.EditionOpen: Rule(409, gettext_lazy("Not possible now")),
    errors.BulkNotPossible: Rule(409, gettext_lazy("Not possible now")),
    errors.SubjectBusy: Rule(409, gettext_lazy("Another case is changing the same object")),
    errors.Purged: Rule(410, gettext_lazy("Personal text was deleted")),
    errors.ProcessNotInstalled: Rule(503, gettext_lazy("This process is not installed here")),
    errors.ForbiddenTransition: Rule(409, gettext_lazy("Not possible in this state")),
}
OTHER = Rule(409, gettext_lazy("Not possible now"))

#: What the framework refuses before any code of ours runs.
FRAMEWORK: dict[type[exceptions.APIException], tuple[str, Any]] = {
    exceptions.NotAuthenticated: ("not_authenticated", gettext_lazy("Sign in first")),
    exceptions.AuthenticationFailed: ("invalid_token", gettext_lazy("Sign in first")),
    exceptions.PermissionDenied: ("csrf_failed", gettext_lazy("Not permitted")),
    exceptions.MethodNotAllowed: ("method_not_allowed", gettext_lazy("Not possible here")),
    exceptions.NotAcceptable: ("not_acceptable", gettext_lazy("Not possible here")),
    exceptions.UnsupportedMediaType: ("unsupported_media_type", gettext_lazy("The request was not understood")),
    exceptions.ParseError: ("not_json", gettext_lazy("The request was not understood")),
}


def handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's exception handler. None lets an unknown error become a 500 with its request's id."""
    match error:
        case errors.CaseflowError():
            rule = _rule_of(error)
            extra = masked(primitives(error.params))
            headers = _headers_of_ours(error)
            return _answer(rule.status, error.code, rule.title, detail_of(error), extra, headers)
        case RequestDataTooBig():
            return handler(errors.TooLarge(limit=MAX_BYTES), context)
        case UnreadablePostError():
            detail = gettext("The request ended before its body did")
            return _answer(400, "incomplete", gettext_lazy("The request was not understood"), detail, {})
        case Http404():
            return handler(errors.NotFound(), context)
        case exceptions.APIException():
            code, title = FRAMEWORK.get(type(error), (error.default_code, gettext_lazy("Not possible here")))
            headers = dict(_headers_of(error))
            return _answer(error.status_code, code, title, str(error.detail), {}, headers)
        case OperationalError():
            # A lock that was not free in time, or a database that is away: nothing was stored, so ask again.
            logger.warning("request %s: %s", request_id_of(context["request"]), error)
            detail = gettext("The database was busy; nothing was stored. Send the same request again.")
            headers = {"Retry-After": str(RETRY_AFTER)}
            return _answer(503, "unavailable", gettext_lazy("Not available now"), detail, {}, headers)
        case _:
            return None


def detail_of(error: errors.CaseflowError) -> str:
    """The error's sentence in the reader's language."""
    if isinstance(error, errors.BadInput):
        return str(error.params["problem"])
    template = gettext(TEMPLATES.get(type(error).__name__, (type(error).__doc__ or "").strip()))
    try:
        return template.format(**primitives(error.params))
    except (KeyError, IndexError):
        return error.message


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A request that Django itself refused."""
    if not request.path_info.startswith(PREFIX):
        return defaults.bad_request(request, exception)
    return _plain(request, 400, "bad_request", gettext("The request was not understood"))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not request.path_info.startswith(PREFIX):
        return defaults.permission_denied(request, exception)
    return _plain(request, 403, "not_permitted", gettext("Not permitted"))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """An address of nothing."""
    if not request.path_info.startswith(PREFIX):
        return defaults.page_not_found(request, exception)
    return _plain(request, 404, errors.NotFound.code, gettext("Not found"))


def server_error(request: HttpRequest) -> HttpResponse:
    """Nothing of the error is told, only the id under which it stands in the log."""
    logger.error("request %s failed", request_id_of(request))
    if not request.path_info.startswith(PREFIX):
        return defaults.server_error(request)
    return _plain(request, 500, "server_error", gettext("The application failed"))


def _rule_of(error: errors.CaseflowError) -> Rule:
    return next((RULES[kind] for kind in type(error).__mro__ if kind in RULES), OTHER)


def _headers_of_ours(error: errors.CaseflowError) -> dict[str, str]:
    if isinstance(error, errors.TooManyRequests):
        return {"Retry-After": str(error.params["wait"])}
    return {"WWW-Authenticate": "StandardWebhooks"} if isinstance(error, errors.WebhookRefused) else {}


def _headers_of(error: exceptions.APIException) -> list[tuple[str, str]]:
    found = []
    if header := getattr(error, "auth_header", None):
        found.append(("WWW-Authenticate", header))
    if wait := getattr(error, "wait", None):
        found.append(("Retry-After", str(int(wait))))
    return found


def problem(status: int, code: str, title: Any, detail: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a problem. `extra` are the error's own parameters, such as `path`, `case` or `differences`."""
    named = {name: value for name, value in extra.items() if name != "problem"}
    return named | {
        "type": f"urn:problem:caseflow:{code}",
        "title": str(title),
        "status": status,
        "code": code,
        "detail": detail,
    }


def _answer(
    status: int, code: str, title: Any, detail: str, extra: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    body = problem(status, code, title, detail, extra)
    return Response(body, status=status, headers=dict(headers or {}), content_type=MEDIA_TYPE)


def _plain(request: HttpRequest, status: int, code: str, title: str) -> HttpResponse:
    body = problem(status, code, title, title, {"request_id": request_id_of(request)})
    return JsonResponse(body, status=status, content_type=MEDIA_TYPE)
