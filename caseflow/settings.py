"""Settings of Caseflow: what is the same everywhere, and how the parts are put together.

`settings_environment` reads what differs between installations, `settings_security` holds sign-in, limits, headers and
cookies, and `production` says what no installation that others reach may run with.
"""

from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from caseflow import production, settings_systems
from caseflow.settings_environment import *  # noqa: F403
from caseflow.settings_environment import (
    CASEFLOW_ROLE,
    DEBUG,
    REDIS_URL,
    SIMULATOR_URL,
    database_owner_url,
    database_url,
    documents_folder,
    log_format,
    log_level,
    outgoing_hosts,
    staff_mail,
    static_root,
    systems,
)
from caseflow.settings_security import *  # noqa: F403

BASE_DIR = Path(__file__).resolve().parent.parent

# What is told to others -----------------------------------------------------------------------------------------------

#: With a mail server and no other place for `mail`, by SMTP: accepted by the mail server, delivery unknown.
_mails_itself = bool(staff_mail) and "mail" not in systems and not SIMULATOR_URL

#: Outside systems by name; `manage.py check` resolves each.
ADAPTERS = {
    "addresses": "integrations.addresses.Addresses",
    "payments": "integrations.payments.Payments",
    "subscriptions": "integrations.subscriptions.Subscriptions",
    "mail": "integrations.smtp_mail.SmtpMail" if _mails_itself else "integrations.mail.Mail",
    "documents.data": "documents.data.DataSets",
    "documents.store": "documents.adapter.ReportStore",
    "documents.recipients": "documents.recipients.Recipients",
}

_chosen, ADAPTER_OPTIONS = settings_systems.chosen()
ADAPTERS |= _chosen
CASEFLOW_OUTGOING_HOSTS = outgoing_hosts

#: The explicit list of processes; a new process is one more line.
PROCESSES = [
    "caseflow.processes.restore_access.RestoreAccess",
    "caseflow.processes.department_report.DepartmentReport",
    "caseflow.processes.address_correction.AddressCorrection",
]

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
    "documents",
    "actions",
    "operations",
    # Last: its `ready()` looks at what the others registered.
    "caseflow",
]

MIDDLEWARE = [
    "caseflow.requests.RequestIdMiddleware",
    "caseflow.edge.EdgeMiddleware",
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
DATA_UPLOAD_MAX_NUMBER_FIELDS = 400
DATA_UPLOAD_MAX_NUMBER_FILES = 0  # no form of ours takes one

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
    # A pooler that hands a connection from one to the other knows no prepared statements: it says `none` here.
    options["prepare_threshold"] = None if options.get("prepare_threshold") == "none" else 0
    if timeouts:
        # An injected time limit cannot break a system call; the server's own limits can.
        options["options"] = (
            "-c statement_timeout=30s -c lock_timeout=5s -c idle_in_transaction_session_timeout=60s"
            # Statements of a few rows: compiling one, or planning a prepared one for its values, costs more than it
            # saves.
            " -c jit=off -c plan_cache_mode=force_generic_plan"
        )
    return {
        "ENGINE": "caseflow.database",
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
    "default": _database(database_url, timeouts=True)
    # Tests make their database as the owner and use it as the runtime role: only the name is taken over.
    | {"TEST": {"MIRROR": "owner"}},
    "owner": _database(database_owner_url or database_url, timeouts=False) | {"TEST": {"DEPENDENCIES": []}},
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
        "caseflow.logs.TaskIds",
        "dramatiq.middleware.ShutdownNotifications",
        "django_dramatiq.middleware.DbConnectionsMiddleware",
    ],
}
DRAMATIQ_AUTODISCOVER_MODULES = ["actors"]

# The mail server: of mail to staff, and of the system `mail` where no other is named ----------------------------------

CASEFLOW_STAFF_MAIL = bool(staff_mail)
_mail_server = urlsplit(staff_mail)
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if CASEFLOW_STAFF_MAIL else 'dummy'}.EmailBackend"
EMAIL_HOST = _mail_server.hostname or ""
EMAIL_PORT = _mail_server.port or (465 if _mail_server.scheme == "smtps" else 587)
EMAIL_HOST_USER = unquote(_mail_server.username or "")
EMAIL_HOST_PASSWORD = unquote(_mail_server.password or "")
EMAIL_USE_TLS = _mail_server.scheme == "smtp"
EMAIL_USE_SSL = _mail_server.scheme == "smtps"
EMAIL_TIMEOUT = 10  #: seconds

# Static files ---------------------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = static_root or None
WHITENOISE_USE_FINDERS = not static_root
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if static_root
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
    #: Data sets and the files made from them; nothing here is served by its address.
    "documents": {
        "BACKEND": "documents.storage.FolderStorage",
        "OPTIONS": {
            "location": documents_folder or BASE_DIR / ".stand" / "documents",
            "file_permissions_mode": 0o640,
            "directory_permissions_mode": 0o750,
        },
    },
}

# Words and time -------------------------------------------------------------------------------------------------------

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("ru", "Русский"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]

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

_log_format = log_format or ("line" if CASEFLOW_ROLE == "command" else "json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"},
        "json": {"()": "caseflow.logs.JsonLines"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": _log_format}},
    "root": {"handlers": ["stderr"], "level": log_level},
    "loggers": {
        # Django's own handlers would write every server error twice and mail it to nobody.
        "django": {"handlers": [], "level": log_level, "propagate": True},
        # Below that it writes the address of every refused request; `caseflow.request` tells the route and the status.
        "django.request": {"level": "ERROR"},
        "axes": {"level": "WARNING"},
        # It would write every address it asks, and those hold the ids of customers and payments.
        "httpx2": {"level": "WARNING"},
        "httpcore2": {"level": "WARNING"},
        # They would write a page of glyphs for each file, and words of a ticket that the font lacks.
        "fontTools": {"level": "WARNING"},
        "fpdf": {"level": "ERROR"},
    },
}

production.refuse_wrong_settings()
