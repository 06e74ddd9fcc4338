"""Mail by SMTP against a real server on this machine: a receipt, a refusal, a "not now", and doubt are told apart."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from email.message import Message
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MessageHandler
from aiosmtpd.smtp import SMTP, Envelope, Session

from caseflow.domain.outcomes import Confirmed, FaultKind, NotApplied, Outcome, Refused, Unknown
from integrations.contract import Adapter
from integrations.smtp_mail import SmtpMail, message_id_of

LETTER = {"subject": "Сводка готова", "text": "Здравствуйте 🙂\nhttps://caseflow.example.org/", "reference": "C-1"}


@dataclass
class Post(MessageHandler):
    """A mail server that keeps what it takes; it is told how to behave."""

    letters: list[Message] = field(default_factory=list)
    answer_to_recipient: str = ""
    answer_to_message: str = ""
    hangs_up: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    async def handle_RCPT(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any) -> str:
        if self.answer_to_recipient:
            return self.answer_to_recipient
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.answer_to_message:
            return self.answer_to_message
        self.letters.append(self.prepare_message(session, envelope))
        if self.hangs_up:
            server.transport.close()
        return "250 accepted"

    def handle_message(self, message: Message) -> None:
        """Kept by `handle_DATA`."""


@pytest.fixture
def post(settings: Any) -> Iterator[Post]:
    post = Post()
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    controller = Controller(post, hostname="127.0.0.1", port=port)
    controller.start()
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    yield post
    controller.stop(no_assert=True)


def send(address: str = "head@example.org", **more: Any) -> Outcome:
    adapter = SmtpMail(deadline=timedelta(seconds=2))
    return adapter.perform("send", address, LETTER, key="department_report:A-1", call_id="call", **more)


def test_what_the_server_took_is_confirmed_by_its_receipt_and_by_nothing_else(post: Post) -> None:
    adapter = SmtpMail()
    assert isinstance(adapter, Adapter)
    assert (adapter.confirms_by, adapter.honours_keys, adapter.can_lookup) == ("receipt", False, False)
    assert send() == Confirmed(message_id_of("department_report:A-1"), {"delivery": "unknown"})
    (letter,) = post.letters
    assert letter["To"] == "head@example.org"
    assert letter["Message-ID"] == message_id_of("department_report:A-1")
    assert letter.get_payload(decode=True).decode().splitlines() == LETTER["text"].splitlines()
    assert not letter.is_multipart()  # a link, never a file


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ({"answer_to_recipient": "550 no such mailbox"}, Refused),
        ({"answer_to_recipient": "451 come back later"}, NotApplied),
        ({"answer_to_message": "554 this looks like spam"}, Refused),
        ({"answer_to_message": "452 the disk is full"}, NotApplied),
    ],
)
def test_a_refusal_is_for_good_and_a_not_now_is_not(post: Post, answers: dict[str, str], outcome: type) -> None:
    for name, answer in answers.items():
        setattr(post, name, answer)
    assert isinstance(send(), outcome)
    assert post.letters == []


@pytest.mark.parametrize("answer", ["thank you", "251 I shall see"])
def test_an_answer_to_the_message_that_is_no_refusal_is_doubt(post: Post, answer: str) -> None:
    post.answer_to_message = answer
    assert isinstance(send(), Unknown)


def test_what_is_kept_of_a_refusal_names_nobody(post: Post) -> None:
    post.answer_to_recipient = "550 5.1.1 <Head@example.org>: head is unknown"
    assert send() == Refused("bad_address", "it answered 550 5.1.1 <…>: … is unknown", FaultKind.INVALID_DATA)


def test_a_message_that_was_taken_without_an_answer_is_doubt_and_never_a_failure(post: Post) -> None:
    post.hangs_up = True
    assert isinstance(send(), Unknown)
    assert len(post.letters) == 1
    assert isinstance(SmtpMail().lookup(key="department_report:A-1", call_id="call"), Unknown)


def test_a_server_that_is_not_there_has_taken_nothing(post: Post, settings: Any) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        settings.EMAIL_PORT = free.getsockname()[1]
    assert isinstance(send(), NotApplied)


def test_who_overslept_the_lease_and_who_has_no_address_sends_nothing(post: Post) -> None:
    assert isinstance(send(send_by=time.monotonic()), NotApplied)
    for address in ("head@example.org\nBcc: all@example.org", "head@example.org, all@example.org", "head@[1.2.3.4"):
        assert isinstance(send(address), Refused), address
    assert post.letters == []
