"""What gunicorn is told: `gunicorn --config python:caseflow.web_server caseflow.wsgi`.

What is larger, longer or slower than this is ended before the application sees it; the application has limits of its
own for what it reads (`caseflow.domain.canonical`, DATA_UPLOAD_MAX_…).
"""

import logging
import os
import socket
import struct
from typing import Any

from gunicorn.glogging import Logger

from caseflow.logs import JsonLines

worker_class = "gthread"
workers = 2
threads = 4
graceful_timeout = 5  #: seconds
keepalive = 5  #: seconds between two requests of one connection
limit_request_line = 8190  #: bytes; the longest address is that of a search
limit_request_fields = 50
limit_request_field_size = 8190  #: bytes of one header
control_socket_disable = True


class ServerLog(Logger):  # type: ignore[misc]
    """The server's own lines as JSON like all others. An access log is off unless asked for, and stays what it is."""

    def _set_handler(self, log: Any, output: Any, fmt: logging.Formatter, stream: Any = None) -> None:
        is_json = log is self.error_log and os.environ.get("CASEFLOW_LOG_FORMAT", "") != "line"
        super()._set_handler(log, output, JsonLines() if is_json else fmt, stream)


logger_class = ServerLog

#: Seconds that a client may be silent within a request. It would hold a thread, and a few such hold the server.
SILENCE = 10


def when_ready(server: Any) -> None:
    """Connections inherit the limit from the socket that they come in at (Linux and the BSDs)."""
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", SILENCE, 0))
