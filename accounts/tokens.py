"""Machines sign in by `Authorization: Bearer cf_<prefix>_<secret>`: never in a URL, never written to a log."""

from __future__ import annotations

import hmac
import re
from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from .models import ServiceToken
from .principal import ServiceUser
from .services import digest_of_secret

TOKEN = re.compile(rb"cf_([a-z0-9]{8})_([A-Za-z0-9_-]{43})", re.ASCII)
NO_DIGEST = "0" * 64
USE_IS_NOTED_EVERY = timedelta(hours=1)


class ServiceTokenAuthentication(BaseAuthentication):
    """One query, and once an hour a write. `request.user` becomes a ServiceUser, `request.auth` the token.

    Name it first, before sessions.
    """

    def authenticate(self, request: Request) -> tuple[ServiceUser, ServiceToken] | None:
        scheme, _space, text = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        token = self._find(text.strip())
        if token is None:
            # One answer for unknown, wrong, expired and revoked: a caller without a token learns nothing.
            raise AuthenticationFailed(_("This token is not valid."), code="invalid_token")
        self._note_use(token)
        return ServiceUser(token.account), token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="caseflow"'

    def _note_use(self, token: ServiceToken) -> None:
        """To the hour. The condition stands in the statement, too: of many requests at once one writes."""
        if token.last_used_at is None or timezone.now() - token.last_used_at > USE_IS_NOTED_EVERY:
            stale = Q(last_used_at=None) | Q(last_used_at__lt=Now() - USE_IS_NOTED_EVERY)
            ServiceToken.objects.filter(stale, pk=token.pk).update(last_used_at=Now())

    def _find(self, text: bytes) -> ServiceToken | None:
        parts = TOKEN.fullmatch(text)
        if parts is None:
            return None
        prefix, secret = (part.decode() for part in parts.groups())
        token = (
            ServiceToken.objects.select_related("account__organisation", "account__owner")
            .filter(Q(expires_at=None) | Q(expires_at__gt=Now()), prefix=prefix, revoked_at=None)
            .filter(account__is_active=True)
            .first()
        )
        # Compared also when nothing was found, so that the time taken does not tell which prefixes exist.
        same = hmac.compare_digest(digest_of_secret(secret), token.digest if token else NO_DIGEST)
        return token if same else None
