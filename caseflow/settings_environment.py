"""What differs between installations: all of it comes from the environment, read once here."""

import base64
import binascii
from urllib.parse import urlsplit

from environs import Env, ValidationError


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


def _is_log_format(value: str) -> None:
    if value not in ("", "json", "line"):
        raise ValidationError("A log is written as json or line.")


def _are_long(values: list[str]) -> None:
    if any(len(value) < 32 for value in values):
        raise ValidationError("A token of CASEFLOW_METRICS_TOKENS is shorter than 32 characters.")


def _rate(value: str) -> tuple[int, int]:
    """`60/300`: sixty in five minutes; `0/1`: without a limit."""
    most, _, seconds = value.partition("/")
    if not (most.isdigit() and seconds.isdigit() and int(seconds)):
        raise ValidationError("A limit is written as a number of requests, a slash and a number of seconds.")
    return int(most), int(seconds)


# Not eager: a start with three things wrong names all three, at `seal`.
env = Env(eager=False)
with env.prefixed("CASEFLOW_"):
    #: Signs sessions and forms: 50 random characters, `openssl rand -base64 48`.
    SECRET_KEY = env.str("SECRET_KEY")
    #: Wraps the key of each case's personal texts, which are lost without it: 32 bytes, `openssl rand -base64 32`.
    data_key = env.str("DATA_KEY", validate=_is_data_key)
    #: Of this installation; a database that knows another one sends nothing from here.
    CASEFLOW_INSTALLATION_ID = env.uuid("INSTALLATION_ID")
    #: The names under which the web server is asked.
    ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost"])
    #: Django's pages of errors; refused where others reach the installation.
    DEBUG = env.bool("DEBUG", default=False)
    #: Between the deciding approval and the send: so long a decision can be withdrawn for sure.
    CASEFLOW_UNDO_SECONDS = env.int("UNDO_SECONDS", default=15)
    #: "subscriptions=500,payments=50": an effect more within an hour pauses the system by itself; unnamed: no cap.
    CASEFLOW_EFFECTS_PER_HOUR: dict[str, int] = env.dict("EFFECTS_PER_HOUR", subcast_values=int, default={})
    #: The same for each organisation by itself.
    CASEFLOW_EFFECTS_PER_HOUR_AND_ORGANISATION: dict[str, int] = env.dict(
        "EFFECTS_PER_HOUR_AND_ORGANISATION", subcast_values=int, default={}
    )
    #: The address that people and mails use. Not of this machine: the installation is reached by others.
    CASEFLOW_BASE_URL = env.str("BASE_URL", default="http://127.0.0.1:8000", validate=_is_web_address)
    #: web, worker, dispatcher or command: what PostgreSQL shows as application_name.
    CASEFLOW_ROLE = env.str("ROLE", default="command")
    #: Where `run_workers` answers GET /livez on 127.0.0.1; 0: nowhere.
    CASEFLOW_HEALTH_PORT = env.int("HEALTH_PORT", default=0)
    #: smtp://user:password@host:587 (STARTTLS), smtps://… (TLS), smtp+plain://… (neither); empty: staff get no mail.
    staff_mail = env.str("STAFF_MAIL", default="")
    #: The sender of that mail.
    DEFAULT_FROM_EMAIL = env.str("STAFF_MAIL_FROM", default="caseflow@localhost")
    #: Set where `collectstatic` ran; without it whitenoise serves the files from where they lie.
    static_root = env.str("STATIC_ROOT", default="")
    #: The proxy in front sets X-Forwarded-Proto itself and strips a client's own.
    trusts_proxy = env.bool("TRUST_PROXY", default=False)
    #: For tests: passwords are hashed so fast that they could be guessed back.
    hashes_fast = env.bool("FAST_HASH", default=False)
    #: A session ends after so many minutes without activity.
    session_idle = env.int("SESSION_IDLE_MINUTES", default=30)
    #: A session ends after so many hours in any case.
    session_limit = env.int("SESSION_LIMIT_HOURS", default=12)
    #: "sign_in=60/60,intake=3000/60": how often one caller may do something, as requests/seconds; "0/1" lifts one.
    limits: dict[str, tuple[int, int]] = env.dict("LIMITS", subcast_values=_rate, default={})
    #: DEBUG writes what is sent and received, personal data too: refused where others reach the installation.
    log_level = env.str("LOG_LEVEL", default="INFO")
    #: json or line; unsaid: json for web, workers and dispatcher, line for commands that a person types.
    log_format = env.str("LOG_FORMAT", default="", validate=_is_log_format)
    #: Who shows one of these as a Bearer token reads /metrics; two while one is replaced by another.
    CASEFLOW_METRICS_TOKENS: list[str] = env.list("METRICS_TOKENS", default=[], validate=_are_long)
    #: Where signed seals of the audit trail lie, outside the database.
    CASEFLOW_SEAL_FOLDER = env.str("SEAL_FOLDER", default="")
    #: The private key, readable by its owner only.
    CASEFLOW_SEAL_KEY_FILE = env.str("SEAL_KEY_FILE", default="")
    #: Where data sets and documents lie; web and workers see the same folder, and it belongs to the backup.
    documents_folder = env.str("DOCUMENTS_FOLDER", default="")
    #: "payments=https://pay.example.org,mail=https://mail.example.org": where each outside system is.
    systems: dict[str, str] = env.dict("SYSTEMS", default={})
    #: '{"main": {"url": "https://llm.example.org/v1", "model": "small-1"}}': as `integrations.chat` says.
    CASEFLOW_MODELS = env.json("MODELS", default={})
    #: "main=sk-…": the key of each provider of models.
    CASEFLOW_MODEL_KEYS: dict[str, str] = env.dict("MODEL_KEYS", default={})
    #: A secret or restricted key, for systems written as "payments=stripe+https://api.stripe.com".
    stripe_key = env.str("STRIPE_KEY", default="")
    #: pause_collection, or cancel_at_period_end: how this business stops a subscription at Stripe.
    stripe_stops_by = env.str("STRIPE_STOPS_BY", default="pause_collection")
    #: A file in TOML or JSON with a table for each outside system that is described rather than programmed.
    rest_file = env.str("REST_FILE", default="")
    #: "pay.example.org,mail.example.org:8443": nothing else is ever connected to.
    outgoing_hosts: list[str] = env.list("OUTGOING_HOSTS", default=[])
    #: Where an organisation's administrators may have webhooks sent besides those hosts; "*": to any public address.
    CASEFLOW_HOOK_HOSTS: list[str] = env.list("HOOK_HOSTS", default=[])
    #: Whether those may stand in a private network (http on this very machine, too): a helpdesk of the house.
    CASEFLOW_HOOK_PRIVATE = env.bool("HOOK_PRIVATE", default=False)
#: postgresql://user:password@host:port/name of the runtime role; `?sslmode=verify-full` away from this machine.
database_url = env.str("DATABASE_URL", validate=_is_postgres)
#: The same of the role that owns the tables; only `migrate` needs it. Unsaid: one role does both.
database_owner_url = env.str("DATABASE_OWNER_URL", default="", validate=_is_postgres)
#: redis:// or rediss:// (TLS) of Redis or Valkey, which only rings.
REDIS_URL = env.str("REDIS_URL")
#: The outside world of demo and tests, for every system that CASEFLOW_SYSTEMS does not name.
SIMULATOR_URL = env.str("SIMULATOR_URL", default="", validate=_is_web_address)
env.seal()

#: 32 bytes that wrap each case's own key.
CASEFLOW_DATA_KEY = base64.b64decode(data_key)
