"""`python -m caseflow.healthy`: does the process of this container answer? 0 it does, 1 it does not.

It asks what the environment says that there is: workers at CASEFLOW_HEALTH_PORT, a web server at PORT. It loads neither
Django nor the settings, since it is run every few seconds.
"""

from __future__ import annotations

import http.client
import os
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit

PATIENCE = 4  #: seconds; less than the container engine waits


def asked(environment: Mapping[str, str]) -> tuple[int, str]:
    """(port, path) to ask; port 0 where there is nothing to ask."""
    if port := int(environment.get("CASEFLOW_HEALTH_PORT") or 0):
        return port, "/livez"
    return int(environment.get("PORT") or 0), "/healthz"


def is_healthy(environment: Mapping[str, str]) -> bool:
    port, path = asked(environment)
    if not port:
        return False
    # The web server answers only under the names that it is told are its own.
    host = urlsplit(environment.get("CASEFLOW_BASE_URL", "")).netloc or "127.0.0.1"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={"Host": host})
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if is_healthy(os.environ) else 1)
