"""The sign-in form of both doors, the console's and Django admin's."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.validators import MaxLengthValidator, ProhibitNullCharactersValidator

from .addresses import client_address
from .limits import spend
from .models import Person


class _Bounded(AuthenticationForm):
    """A name longer than any person's is nobody's: it is refused before the count of wrong passwords stores it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        longest = Person._meta.get_field("username").max_length
        self.fields["username"].validators += [MaxLengthValidator(longest), ProhibitNullCharactersValidator()]

    def clean(self) -> dict[str, Any]:
        """Raises TooManyRequests: guessing many names from one address is no lock-out of any of them."""
        if self.request is not None:
            spend("sign_in", f"address-{client_address(self.request)}")
        return self.cleaned_data if self.errors else super().clean()


class SignInForm(_Bounded):
    """The console's door."""


class AdminSignInForm(_Bounded, AdminAuthenticationForm):
    """Django admin's door."""
