"""Addresses with mistakes in them, mounted by the tests that show that each would be found."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseForbidden, HttpResponseRedirect
from django.urls import path

from accounts import access
from accounts.models import Organisation
from accounts.principal import principal_of
from caseflow import urls as product
from caseflow.domain.errors import NotFound
from caseflow.domain.roles import Right
from cases.models import Case
from cases.personal import read_texts


def honest(request: HttpRequest, public_id: str) -> HttpResponse:
    try:
        case = access.get_visible(Case.objects, public_id, principal_of(request.user), Right.SEE_CASES)
    except NotFound:
        raise Http404 from None
    return HttpResponse(case.external_id)


def unscoped_list(request: HttpRequest) -> HttpResponse:
    return HttpResponse("\n".join(Case.objects.values_list("external_id", flat=True)))


def unscoped_object(request: HttpRequest, public_id: str) -> HttpResponse:
    return HttpResponse(str(Case.objects.filter(public_id=public_id).first() or ""))


def forbidden_is_not_missing(request: HttpRequest, public_id: str) -> HttpResponse:
    if not Case.objects.filter(public_id=public_id).exists():
        raise Http404
    try:
        return honest(request, public_id)
    except Http404:
        return HttpResponseForbidden("no")


def told_by_redirect(request: HttpRequest, public_id: str) -> HttpResponse:
    case = Case.objects.filter(public_id=public_id).first()
    return HttpResponseRedirect(f"/?{case.external_id if case else ''}")


def told_by_header(request: HttpRequest, public_id: str) -> HttpResponse:
    case = Case.objects.filter(public_id=public_id).first()
    return HttpResponse("", headers={"X-Case": case.subject if case else "-"})


def told_by_count(request: HttpRequest) -> HttpResponse:
    found = Organisation.objects.filter(slug=request.GET.get("organisation", ""))
    return HttpResponse(f"{Case.objects.filter(organisation__in=found).count()} cases")


def claim_without_asking(request: HttpRequest, public_id: str) -> HttpResponse:
    try:
        case = access.get_visible(Case.objects, public_id, principal_of(request.user), Right.SEE_CASES)
    except NotFound:
        raise Http404 from None
    return HttpResponse(" ".join(read_texts(case.pk, ["intake.claim"]).values()))


def breaks(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("broken")


def changes_by_post(request: HttpRequest, public_id: str) -> HttpResponse:
    if request.method != "POST":
        raise Http404
    return HttpResponse("changed", status=200 if Case.objects.filter(public_id=public_id).exists() else 404)


urlpatterns = [
    *product.urlpatterns,
    path("leaky/cases/<str:public_id>/honest/", login_required(honest), name="honest"),
    path("leaky/unscoped-list/", login_required(unscoped_list), name="unscoped-list"),
    path("leaky/cases/<str:public_id>/unscoped/", login_required(unscoped_object), name="unscoped-object"),
    path("leaky/cases/<str:public_id>/forbidden/", login_required(forbidden_is_not_missing), name="forbidden"),
    path("leaky/cases/<str:public_id>/redirect/", login_required(told_by_redirect), name="redirect"),
    path("leaky/cases/<str:public_id>/header/", login_required(told_by_header), name="header"),
    path("leaky/count/", login_required(told_by_count), name="count"),
    path("leaky/cases/<str:public_id>/claim/", login_required(claim_without_asking), name="claim"),
    path("leaky/cases/<str:public_id>/changes/", login_required(changes_by_post), name="changes"),
    path("leaky/breaks/", login_required(breaks), name="breaks"),
    path("leaky/open-to-all/", lambda request: HttpResponse("hello"), name="open-to-all"),
    path("leaky/numbers/<int:number>/", honest, name="unsourced"),
]
