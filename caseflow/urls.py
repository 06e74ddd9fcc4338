"""Every address of the web server."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views.generic import RedirectView

from caseflow.api import errors as api_errors
from caseflow.console.views import failures
from caseflow.metrics.views import metrics
from caseflow.probes import healthz, readyz


def server_error(request: HttpRequest) -> HttpResponse:
    """Machines get problem details, people a page that names the request."""
    if request.path_info.startswith(api_errors.PREFIX):
        return api_errors.server_error(request)
    return failures.server_error(request)


urlpatterns = [
    path("", RedirectView.as_view(pattern_name="console:home")),
    path("console/", include("caseflow.console.urls")),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("api/v1/", include("caseflow.api.urls")),
    path("api/", include("caseflow.api.docs")),
    path("admin/", admin.site.urls),
]

handler400 = "caseflow.api.errors.bad_request"
handler403 = "caseflow.api.errors.permission_denied"
handler404 = "caseflow.api.errors.page_not_found"
handler500 = "caseflow.urls.server_error"
