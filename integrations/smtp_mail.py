"""Mail by SMTP, with Django's own backend and the EMAIL_ settings. A receipt is the server's word, not the reader's.

SMTP knows no keys and answers no questions about them: a message whose answer was lost stays in doubt, is looked up by
nobody and sent again only by a person's order. Its Message-ID is made from the key, so that two are seen as one.
"""

from __future__ import annotations

import hashlib
import re
import smtplib
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.message import sanitize_address

from caseflow.domain.outcomes import Confirmed, FaultKind, NotApplied, Outcome, Refused, Unknown
from integrations.contract import Owner, System

BACKEND = "django.core.mail.backends.smtp.EmailBackend"


class SmtpMail(System):
    name = "mail"
    confirms_by = "receipt"
    #: A server may take so long over what it was handed when the connection broke.
    settles_after = timedelta(seconds=70)
    owner = Owner(team="Mail", contact="mail@example.org")
    operations = frozenset({"send"})

    def __init__(self, *, deadline: timedelta | None = None) -> None:
        """`deadline` is that of each step of the conversation; EMAIL_TIMEOUT without it."""
        self._timeout = deadline.total_seconds() if deadline else settings.EMAIL_TIMEOUT

    def perform(
        self,
        operation: str,
        subject: str,
        request: Mapping[str, Any],
        *,
        key: str,
        call_id: str,
        send_by: float | None = None,
    ) -> Outcome:
        """`send` the message {"subject", "text", "reference"} to the address `subject`."""
        if operation != "send":
            return super().perform(operation, subject, request, key=key, call_id=call_id)
        outcome = self._send(subject, request, key=key, send_by=send_by)
        if isinstance(outcome, Confirmed):
            return outcome
        return replace(outcome, message=_without(subject, outcome.message))

    def _send(self, subject: str, request: Mapping[str, Any], *, key: str, send_by: float | None) -> Outcome:
        message_id = message_id_of(key)
        headers = {"Message-ID": message_id, "X-Caseflow-Case": str(request["reference"])}
        server = get_connection(BACKEND, timeout=self._timeout)
        letter = EmailMessage(str(request["subject"]), str(request["text"]), to=[subject], headers=headers)
        letter.connection = server
        try:
            _write(letter)
        except Exception as error:
            # Nothing has left: what cannot be written is no doubt. Of odd addresses the parser itself trips over some.
            return Refused("bad_address", type(error).__name__, FaultKind.INVALID_DATA)
        try:
            server.open()
        except smtplib.SMTPAuthenticationError as error:
            if 400 <= error.smtp_code < 500:
                return NotApplied("not_now", _said(error))
            return Refused("not_permitted", _said(error), FaultKind.NOT_PERMITTED)
        except (OSError, smtplib.SMTPException) as error:
            return NotApplied("unreachable", _said(error))
        try:
            if send_by is not None and time.monotonic() >= send_by:
                return NotApplied("lease_over", "the time to send was over")
            letter.send()
        except smtplib.SMTPRecipientsRefused as error:
            code, text = next(iter(error.recipients.values()))
            return _refused("bad_address", code, text)
        except smtplib.SMTPResponseException as error:
            return _refused("message_refused", error.smtp_code, error.smtp_error)
        except (smtplib.SMTPNotSupportedError, UnicodeError) as error:
            return Refused("bad_address", _said(error), FaultKind.INVALID_DATA)
        except (OSError, smtplib.SMTPException) as error:
            # The server may have the message whole, and only its answer is missing.
            return Unknown("no_answer", _said(error))
        finally:
            _close(server)
        return Confirmed(message_id, {"delivery": "unknown"})


def message_id_of(key: str) -> str:
    """The same for the same key, and nothing of ours can be read from it."""
    return f"<{hashlib.sha256(key.encode()).hexdigest()[:32]}@caseflow>"


def _write(letter: EmailMessage) -> None:
    """What sending does before it speaks to the server. Raises ValueError, for a second address in one field, too."""
    letter.message()
    for address in (letter.from_email, *letter.recipients()):
        sanitize_address(address, letter.encoding or settings.DEFAULT_CHARSET)


def _refused(code: str, status: int, text: bytes | str) -> Outcome:
    """4xx: not now, and nothing was kept. 5xx: never. Any other answer, or none that can be read, is doubt."""
    said = f"it answered {status} {text.decode(errors='replace') if isinstance(text, bytes) else text}"
    if 400 <= status < 500:
        return NotApplied("not_now", said)
    if not 500 <= status < 600:
        return Unknown("bad_answer", said)
    return Refused(code, said, FaultKind.INVALID_DATA if code == "bad_address" else FaultKind.PERMANENT)


def _without(address: str, text: str) -> str:
    """Servers like to repeat whom they refuse; what is kept of a call is nobody's personal data."""
    for personal in (address, address.partition("@")[0]):
        if len(personal) > 2:
            text = re.sub(re.escape(personal), "…", text, flags=re.IGNORECASE)
    return text


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]


def _close(server: Any) -> None:
    """What goes wrong in saying goodbye changes nothing about the message."""
    try:
        server.close()
    except (OSError, smtplib.SMTPException):
        pass
