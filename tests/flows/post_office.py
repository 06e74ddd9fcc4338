"""A mail server that takes what Caseflow sends to staff and keeps it for the test to read."""

from __future__ import annotations

import email
import email.policy
import socketserver
import threading
from email.message import EmailMessage


class _Conversation(socketserver.StreamRequestHandler):
    """As much SMTP as a sender needs: everything is accepted, the text between DATA and a lonely dot is a letter."""

    server: _Server

    def handle(self) -> None:
        self._say(b"220 here")
        while line := self.rfile.readline():
            verb = line.split(maxsplit=1)[0].upper() if line.strip() else b""
            if verb == b"QUIT":
                self._say(b"221 bye")
                return
            if verb == b"DATA":
                self._say(b"354 go on")
                self._take_letter()
            self._say(b"250 ok")

    def _take_letter(self) -> None:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b"."))
        self.server.letters.append(email.message_from_bytes(b"".join(lines), policy=email.policy.default))

    def _say(self, answer: bytes) -> None:
        self.wfile.write(answer + b"\r\n")


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    letters: list[EmailMessage]


class PostOffice:
    """Listens on a port of its own until it is closed."""

    def __init__(self) -> None:
        self._server = _Server(("127.0.0.1", 0), _Conversation)
        self._server.letters = []
        self._thread = threading.Thread(target=self._server.serve_forever, name="post office")
        self._thread.start()

    @property
    def url(self) -> str:
        return f"smtp+plain://127.0.0.1:{self._server.server_address[1]}"

    def about(self, name: str, *, to: str) -> list[EmailMessage]:
        """What was sent to an address about an object."""
        return [one for one in self._server.letters if name in str(one["Subject"]) and to == str(one["To"])]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
