"""Django's PostgreSQL engine, with statements that are prepared once and share their trips to the server."""
