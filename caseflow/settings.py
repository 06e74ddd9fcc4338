"""Settings of Caseflow. Everything that differs between installations comes from the environment, read once here."""

import base64
import binascii
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from csp.constants import NONE, SELF
from environs import Env, ValidationError

BASE_DIR = Path(__file__).resolve().parent.parent


def _is_data_key(value: str) -> None:
    try:
        key = base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise ValidationError("CASEFLOW_DATA_KEY is not base64.") from error
    if len(key) != 32:
        raise ValidationError(f"CASEFLOW_DATA_KEY holds {len(key)} bytes, not 32.")


def _is_postgres(value: str) -> None:
    if value and urlsplit(value).scheme not in {"postgres", "postgresql"}:
        raise ValidationError("A database address begins with postgresql://.")


def _is_web_address(value: str) -> None:
    if value and urlsplit(value).scheme not in {"http", "https"}:
        raise ValidationError("An address begins with http:// or https://.")


def _rate(value: str) -> tuple[int, int]:
    """`60/300`: sixty in five minutes; `0/1`: without a limit."""
    most, _, seconds = value.partition("/")
    if not (most.isdigit() and seconds.isdigit() and int(seconds)):
        raise ValidationError("A limit is written as a number of requests, a slash and a number of seconds.")
    return int(most), int(seconds)


# Not eager: a start with three things wrong names all three, at `seal`.
env = Env(eager=False)
with env.prefixed("CASEFLOW_"):
    SECRET_KEY = env.str("SECRET_KEY")
    _data_key = env.str("DATA_KEY", validate=_is_data_key)
    CASEFLOW_INSTALLATION_ID = env.uuid("INSTALLATION_ID")
    ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost"])
    DEBUG = env.bool("DEBUG", default=False)
    CASEFLOW_UNDO_SECONDS = env.int("UNDO_SECONDS", default=15)
    #: "subscriptions=500,payments=50": an effect more within an hour pauses the system by itself; unnamed: no cap.
    CASEFLOW_EFFECTS_PER_HOUR: dict[str, int] = env.dict("EFFECTS_PER_HOUR", subcast_values=int, default={})
    CASEFLOW_EFFECTS_PER_HOUR_AND_ORGANISATION: dict[str, int] = env.dict(
        "EFFECTS_PER_HOUR_AND_ORGANISATION", subcast_values=int, default={}
    )
    CASEFLOW_BASE_URL = env.str("BASE_URL", default="http://127.0.0.1:8000", validate=_is_web_address)
    #: web, worker, dispatcher or command: what PostgreSQL shows as application_name.
    CASEFLOW_ROLE = env.str("ROLE", default="command")
    #: smtp://user:password@host:587 (STARTTLS), smtps://… (TLS), smtp+plain://… (neither); empty: staff get no mail.
    _staff_mail = env.str("STAFF_MAIL", default="")
    DEFAULT_FROM_EMAIL = env.str("STAFF_MAIL_FROM", default="caseflow@localhost")
    #: Set where `collectstatic` ran; without it whitenoise serves the files from where they lie.
    _static_root = env.str("STATIC_ROOT", default="")
    #: The proxy in front sets X-Forwarded-Proto itself and strips a client's own.
    _trusts_proxy = env.bool("TRUST_PROXY", default=False)
    _hashes_fast = env.bool("FAST_HASH", default=False)
    _session_idle = env.int("SESSION_IDLE_MINUTES", default=30)
    _session_limit = env.int("SESSION_LIMIT_HOURS", default=12)
    _limits: dict[str, tuple[int, int]] = env.dict("LIMITS", subcast_values=_rate, default={})
    _log_level = env.str("LOG_LEVEL", default="INFO")
    #: Outside the database: where seals of the audit trail lie, and the private key that signs them.
    CASEFLOW_SEAL_FOLDER = env.str("SEAL_FOLDER", default="")
    CASEFLOW_SEAL_KEY_FILE = env.str("SEAL_KEY_FILE", default="")
_database_url = env.str("DATABASE_URL", validate=_is_postgres)
_database_owner_url = env.str("DATABASE_OWNER_URL", default="", validate=_is_postgres)
REDIS_URL = env.str("REDIS_URL")
SIMULATOR_URL = env.str("SIMULATOR_URL", default="", validate=_is_web_address)
env.seal()

#: 32 bytes that wrap each case's own key.
CASEFLOW_DATA_KEY = base64.b64decode(_data_key)

# What is told to others -----------------------------------------------------------------------------------------------

#: Outside systems by name; `manage.py check` resolves each.
ADAPTERS = {
    "payments": "integrations.payments.Payments",
    "subscriptions": "integrations.subscriptions.Subscriptions",
    "mail": "integrations.mail.Mail",
}

#: The explicit list of processes; a new process is one more line.
PROCESSES = ["caseflow.processes.restore_access.RestoreAccess"]

# Django ---------------------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "accounts.admin_apps.OwnAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_dramatiq",
    "django_filters",
    "django_htmx",
    "guardian",
    "axes",
    "csp",
    "pgtrigger",
    "audit",
    "accounts",
    "cases",
    "approvals",
    "actions",
    "operations",
    # Last: its `ready()` looks at what the others registered.
    "caseflow",
]

MIDDLEWARE = [
    "caseflow.requests.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.sessions.SessionLimits",
    "accounts.middleware.PreferencesMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "caseflow.console.limiting.TooManyRequestsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "caseflow.urls"
WSGI_APPLICATION = "caseflow.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024  #: bytes

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# PostgreSQL -----------------------------------------------------------------------------------------------------------


def _database(url: str, *, timeouts: bool) -> dict[str, object]:
    """Django's settings for `postgresql://user:password@host:port/name?sslmode=...`."""
    parts = urlsplit(url)
    options: dict[str, object] = {"connect_timeout": 5, **dict(parse_qsl(parts.query))}
    options["application_name"] = f"caseflow-{CASEFLOW_ROLE}"
    if timeouts:
        # An injected time limit cannot break a system call; the server's own limits can.
        options["options"] = "-c statement_timeout=30s -c lock_timeout=5s -c idle_in_transaction_session_timeout=60s"
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 60,  # seconds
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


#: `default` is the runtime role of web, workers and dispatcher; `owner` migrates: `manage.py migrate --database owner`.
DATABASES = {
    "default": _database(_database_url, timeouts=True)
    # Tests make their database as the owner and use it as the runtime role: only the name is taken over.
    | {"TEST": {"MIRROR": "owner"}},
    "owner": _database(_database_owner_url or _database_url, timeouts=False) | {"TEST": {"DEPENDENCIES": []}},
}

#: The role whose rights the migrations cut; the owner's name where there is only one role.
CASEFLOW_RUNTIME_ROLE = str(DATABASES["default"]["USER"])

# Redis: a doorbell ----------------------------------------------------------------------------------------------------

DRAMATIQ_BROKER = {
    "BROKER": "caseflow.watching.WatchedBroker",
    "OPTIONS": {
        # The time limits travel in the address: with an address Dramatiq drops the other connection options.
        "url": f"{REDIS_URL}{'&' if urlsplit(REDIS_URL).query else '?'}socket_timeout=5&socket_connect_timeout=2",
        "namespace": "caseflow",
        # A killed worker's messages come back after about 19 s; the dispatcher rings again sooner.
        "heartbeat_timeout": 15_000,  # milliseconds
        "maintenance_chance": 100_000,  # per million fetches
    },
    # No retries, results or delays: those are rows of PostgreSQL.
    "MIDDLEWARE": [
        "caseflow.liveness.Liveness",
        "dramatiq.middleware.ShutdownNotifications",
        "django_dramatiq.middleware.DbConnectionsMiddleware",
    ],
}
DRAMATIQ_AUTODISCOVER_MODULES = ["actors"]

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
if _hashes_fast:
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

CASEFLOW_TRUST_PROXY = _trusts_proxy
CASEFLOW_SESSION_IDLE = timedelta(minutes=_session_idle)
CASEFLOW_SESSION_LIMIT = timedelta(hours=_session_limit)
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
} | _limits
#: Two installations that share a Redis count apart.
CASEFLOW_LIMITS_NAME = CASEFLOW_INSTALLATION_ID.hex

# Mail to staff; customers are told by the mail system of ADAPTERS ----------------------------------------------------

CASEFLOW_STAFF_MAIL = bool(_staff_mail)
_mail_server = urlsplit(_staff_mail)
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if CASEFLOW_STAFF_MAIL else 'dummy'}.EmailBackend"
EMAIL_HOST = _mail_server.hostname or ""
EMAIL_PORT = _mail_server.port or (465 if _mail_server.scheme == "smtps" else 587)
EMAIL_HOST_USER = unquote(_mail_server.username or "")
EMAIL_HOST_PASSWORD = unquote(_mail_server.password or "")
EMAIL_USE_TLS = _mail_server.scheme == "smtp"
EMAIL_USE_SSL = _mail_server.scheme == "smtps"
EMAIL_TIMEOUT = 10  #: seconds

# Headers, cookies, static files ---------------------------------------------------------------------------------------

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
if _trusts_proxy:
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

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = _static_root or None
WHITENOISE_USE_FINDERS = not _static_root
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if _static_root
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

# Words and time -------------------------------------------------------------------------------------------------------

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("ru", "Русский"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_NAME = f"{_cookie}_language"

# REST -----------------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.tokens.ServiceTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["caseflow.api.reading.StrictJsonParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "caseflow.api.errors.handler",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Caseflow",
    "DESCRIPTION": "Durable business cases: checks, a person's decision, an effect outside, and the proof of it.",
    "VERSION": "1",
    # Bodies are pydantic models, whose schemas are written in the words of 3.1.
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    # The viewer would ask a checker on the internet otherwise.
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
    "ENUM_NAME_OVERRIDES": {
        "CaseState": "caseflow.api.shapes.STATES",
        "CaseOutcome": "caseflow.api.shapes.OUTCOMES",
        "DecisionKind": "approvals.models.Decision.Kind",
        "ActionKind": "actions.models.ActionKind",
        "ActionStatus": "actions.models.ActionStatus",
        "CallKind": "actions.models.ExternalCall.Kind",
        "PauseKind": "cases.models.Pause.Kind",
        "RecoveryKind": "caseflow.api.recovery_shapes.KINDS",
    },
}

# Log: one line per event, on stderr -----------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": _log_level},
    "loggers": {
        # Django's own handlers would write every server error twice and mail it to nobody.
        "django": {"handlers": [], "level": _log_level, "propagate": True},
        "axes": {"level": "WARNING"},
        # It would write every address it asks, and those hold the ids of customers and payments.
        "httpx2": {"level": "WARNING"},
        "httpcore2": {"level": "WARNING"},
    },
}
