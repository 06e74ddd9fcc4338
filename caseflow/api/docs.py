"""The description of the API and its page. The viewer needs inline styles, so its policy is looser, and only there."""

from __future__ import annotations

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

looser = csp_update({"style-src": [SELF, UNSAFE_INLINE]})

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    # Split: its script comes from an address of its own, so that no inline script is needed.
    path("docs/", looser(SpectacularSwaggerSplitView.as_view(url_name="api-schema")), name="api-docs"),
]
