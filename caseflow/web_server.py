"""What gunicorn is told: `gunicorn --config python:caseflow.web_server caseflow.wsgi`.

What is larger, longer or slower than this is ended before the application sees it; the application has limits of its
own for what it reads (`caseflow.domain.canonical`, DATA_UPLOAD_MAX_…).
"""

import socket
import struct
from typing import Any

worker_class = "gthread"
workers = 2
threads = 4
graceful_timeout = 5  #: seconds
keepalive = 5  #: seconds between two requests of one connection
limit_request_line = 8190  #: bytes; the longest address is that of a search
limit_request_fields = 50
limit_request_field_size = 8190  #: bytes of one header
control_socket_disable = True

#: Seconds that a client may be silent within a request. It would hold a thread, and a few such hold the server.
SILENCE = 10


def when_ready(server: Any) -> None:
    """Connections inherit the limit from the socket that they come in at (Linux and the BSDs)."""
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", SILENCE, 0))
