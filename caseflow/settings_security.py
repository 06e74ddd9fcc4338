"""How people sign in, what limits a caller, and the headers and cookies of every answer."""

from datetime import timedelta
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from caseflow.settings_environment import (
    CASEFLOW_BASE_URL,
    CASEFLOW_INSTALLATION_ID,
    hashes_fast,
    limits,
    session_idle,
    session_limit,
    trusts_proxy,
)

# People ---------------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.Person"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "guardian.backends.ObjectPermissionBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
if hashes_fast:
    PASSWORD_HASHERS.insert(0, "django.contrib.auth.hashers.MD5PasswordHasher")
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "/console/sign-in/"
LOGIN_REDIRECT_URL = "/console/"
LOGOUT_REDIRECT_URL = LOGIN_URL

#: Rights are rows of guardian for organisations; nobody has any without signing in.
ANONYMOUS_USER_NAME = None
GUARDIAN_MONKEY_PATCH_USER = False

AXES_FAILURE_LIMIT = 5  #: wrong passwords in a row
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # the page says when it ends, and so it does
AXES_CLIENT_IP_CALLABLE = "accounts.addresses.client_address"
AXES_VERBOSE = False
AXES_LOCKOUT_CALLABLE = "caseflow.console.views.signing.locked_out"

CASEFLOW_TRUST_PROXY = trusts_proxy
CASEFLOW_SESSION_IDLE = timedelta(minutes=session_idle)
CASEFLOW_SESSION_LIMIT = timedelta(hours=session_limit)
SESSION_COOKIE_AGE = int(CASEFLOW_SESSION_LIMIT.total_seconds())

#: (requests, seconds) of one person, machine or address; CASEFLOW_LIMITS changes some: `intake=600/60,export=5/3600`.
CASEFLOW_LIMITS = {
    "sign_in": (60, 60),  # of one address, behind which a whole office may stand
    "intake": (3000, 60),
    "search": (300, 60),
    "export": (20, 3600),
    "bulk": (60, 3600),  # previews, each of which keeps its list
    "webhook": (600, 60),
    "webhook_refusal": (10, 60),  # events that put a refused webhook on record
} | limits
#: Two installations that share a Redis count apart.
CASEFLOW_LIMITS_NAME = CASEFLOW_INSTALLATION_ID.hex

# Headers and cookies --------------------------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"

_is_https = urlsplit(CASEFLOW_BASE_URL).scheme == "https"
SECURE_SSL_REDIRECT = _is_https
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 31_536_000 if _is_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
if trusts_proxy:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CSRF_TRUSTED_ORIGINS = [CASEFLOW_BASE_URL.rstrip("/")]

# A browser sends the cookies of 127.0.0.1 to every port: two installations side by side need two names.
_cookie = f"caseflow_{CASEFLOW_INSTALLATION_ID.hex[:8]}"
SESSION_COOKIE_NAME = f"{_cookie}_session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = _is_https
CSRF_COOKIE_NAME = f"{_cookie}_csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = _is_https
LANGUAGE_COOKIE_NAME = f"{_cookie}_language"

#: To be preloaded into browsers is the domain owner's decision, not ours.
SILENCED_SYSTEM_CHECKS = ["security.W021"]
