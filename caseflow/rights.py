"""What the runtime role may do to each table: read and write, but never change what is append-only.

A model says it by `runtime_rights`, in the words of GRANT; without one the role may read and write all its rows.
"""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db import connections, transaction

READ_AND_WRITE = "SELECT, INSERT, UPDATE, DELETE"


def grant_rights(sender: AppConfig, using: str, **_: Any) -> None:
    """Give the runtime role the rights on an app's tables, after they were migrated; what it had before is taken."""
    connection = connections[using]
    enable_always(sender, using)
    role = settings.CASEFLOW_RUNTIME_ROLE
    if connection.settings_dict["USER"] == role:
        return  # one role for everything, as on a laptop: it owns the tables
    quote = connection.ops.quote_name
    with transaction.atomic(using=using), connection.cursor() as cursor:
        # A migration may stop half way on purpose: only tables that are there.
        present = set(connection.introspection.table_names(cursor))
        wanted = {"django_migrations": "SELECT"} | {
            model._meta.db_table: getattr(model, "runtime_rights", READ_AND_WRITE)
            for model in sender.get_models(include_auto_created=True)
            if model._meta.managed and not model._meta.proxy
        }
        for table in sorted(present & wanted.keys()):
            cursor.execute(f"REVOKE ALL ON TABLE {quote(table)} FROM {quote(role)}")
            cursor.execute(f"GRANT {wanted[table]} ON TABLE {quote(table)} TO {quote(role)}")


def enable_always(sender: AppConfig, using: str) -> None:
    """Protecting triggers fire also under `session_replication_role`; a trigger made anew comes without that."""
    connection = connections[using]
    quote = connection.ops.quote_name
    tables = [model._meta.db_table for model in sender.get_models()]
    with transaction.atomic(using=using), connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgrelid::regclass::text, tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
            " WHERE NOT tgisinternal AND tgenabled = 'O' AND relname = ANY(%s)",
            [tables],
        )
        for table, trigger in cursor.fetchall():
            cursor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {quote(trigger)}")
