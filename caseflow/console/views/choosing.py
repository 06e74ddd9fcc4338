"""Choosing who proposes in an organisation's cases."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from accounts.principal import actor_of_person
from approvals.choosing import choose_proposer
from caseflow.console.choosing_page import ProposerForm, rows_of
from caseflow.console.door import console_page, get_organisation, person_of, render_page
from caseflow.domain.errors import BadInput
from caseflow.domain.roles import Right


@require_http_methods(["GET", "HEAD", "POST"])
@console_page
def choose(request: HttpRequest, organisation: str) -> HttpResponse:
    """Who proposes in each process, and a form that changes it from now on."""
    found = get_organisation(request, organisation, Right.ADMINISTER)
    form = ProposerForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            chosen = choose_proposer(organisation=found, by=actor_of_person(person_of(request)), **form.cleaned_data)
        except BadInput as error:
            form.add_error(None, error.params["problem"])
        else:
            messages.success(request, gettext("It is chosen.") if chosen.changed else gettext("It was chosen before."))
            return redirect("console:choose-proposer", organisation)
    context = {"organisation": found, "rows": rows_of(found), "form": form}
    return render_page(request, "console/people/choosing.html", context, status=400 if form.errors else 200)
