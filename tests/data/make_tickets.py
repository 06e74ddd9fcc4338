"""A file of 500 tickets with everything that really comes in, the world they are about, and how each of them must end.

455 different tickets reach every ending of `restore_access`; 20 lines repeat an earlier one to the byte, 10 come again
with other content, 15 are broken, each in a way of its own. Every ticket is about a subscription of its own.
`python -m tests.data.make_tickets FOLDER` writes tickets.jsonl, world.json and expected.json.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

SEED = 4821
REPEATS = 20  #: lines
CONFLICTS = 10  #: lines

World = dict[str, list[dict[str, Any]]]


class Expected(NamedTuple):
    """How a ticket ends when a scripted approver approves everything and nobody supplies data."""

    state: str
    ending: str
    outcome: str
    activations: int  #: effects in the ledger of the subscription system
    messages: int  #: messages in the ledger of the mail system


class Verdict(NamedTuple):
    """What `import_cases` must say of one line: accepted, same, conflict or refused, with the code of a refusal."""

    result: str
    code: str
    external_id: str


@dataclass(frozen=True, slots=True)
class TicketFile:
    world: World
    lines: list[bytes]  #: without line ends
    expected: dict[str, Expected]  #: by external id, of accepted tickets
    verdicts: list[Verdict]  #: one a line


#: ending → (tickets, state, outcome, activations, messages)
ENDINGS: dict[str, tuple[int, Expected]] = {
    ending: (count, Expected(state, ending, outcome, activations, messages))
    for ending, count, state, outcome, activations, messages in [
        ("restore_access", 200, "COMPLETED", "done", 1, 1),
        ("already_active", 40, "CLOSED_NO_CHANGE", "no_change", 0, 1),
        ("payment_refunded", 40, "CLOSED_NO_CHANGE", "no_change", 0, 1),
        ("payment_failed", 25, "CLOSED_NO_CHANGE", "no_change", 0, 1),
        ("payment_pending", 30, "WAITING_DATA", "", 0, 0),
        ("payment_not_found", 30, "WAITING_DATA", "", 0, 1),
        ("customer_unknown", 20, "WAITING_DATA", "", 0, 0),
        ("subscription_not_found", 20, "WAITING_DATA", "", 0, 1),
        ("amount_differs", 25, "NEEDS_ATTENTION", "", 0, 0),
        ("another_account", 25, "NEEDS_ATTENTION", "", 0, 0),
    ]
}

CLAIMS = [
    "Деньги списались, доступ не открылся",
    "Оплатил вчера вечером, подписка всё ещё «неактивна» 😡",
    "Здравствуйте!\nПлатёж прошёл, а курсы закрыты. Помогите, пожалуйста 🙏",
    "Банк пишет «успешно», у вас — «не оплачено»… Ёлки!",
    "The money was taken, access did not open",
    "Paid on Monday — still locked out 😞 can't open anything",
    'Charged twice?? My plan says "inactive"',
    "I paid 👩‍💻👍🏽 and got nothing; please open my access",
    "Списали 990 ₽, <b>доступа нет</b> & никто не отвечает",
    "e\u0301te\u0301: j'ai paye\u0301, и\u0306 ничего",  # decomposed letters: stored in NFC
]

PRICES = ["990.00", "1490.00", "29.90", "0.10", "12999.99"]


def make_tickets(seed: int = SEED, *, organisation: str = "acme") -> tuple[World, list[bytes], dict[str, Expected]]:
    """(world for the simulator's PUT /world, 500 lines, external id → how it ends). The same for the same seed."""
    made = make_ticket_file(seed, organisation=organisation)
    return made.world, made.lines, made.expected


def make_ticket_file(seed: int = SEED, *, organisation: str = "acme") -> TicketFile:
    """As `make_tickets`, with the verdict on each line."""
    rng = Random(seed)
    world: World = {"customers": [], "payments": [], "subscriptions": []}
    expected: dict[str, Expected] = {}
    bodies: list[dict[str, Any]] = []
    endings = [ending for ending, (count, _) in ENDINGS.items() for _ in range(count)]
    rng.shuffle(endings)
    for number, ending in enumerate(endings, start=1001):
        body = make_ticket(number, ending, organisation, world, rng)
        bodies.append(body)
        expected[body["external_id"]] = ENDINGS[ending][1]
    lines = [(_line(body), Verdict("accepted", "", body["external_id"])) for body in bodies]
    chosen = rng.sample(bodies, REPEATS + CONFLICTS)
    again = [(_line(body), Verdict("same", "", body["external_id"])) for body in chosen[:REPEATS]]
    again += [
        (_line(_changed(body, rng)), Verdict("conflict", "intake_conflict", body["external_id"]))
        for body in chosen[REPEATS:]
    ]
    for line in again:
        # A repeat stands somewhere after the line it repeats.
        first = next(at for at, (_, verdict) in enumerate(lines) if verdict.external_id == line[1].external_id)
        lines.insert(rng.randint(first + 1, len(lines)), line)
    for code, raw in _broken_lines():
        lines.insert(rng.randint(0, len(lines)), (raw, Verdict("refused", code, "")))
    return TicketFile(world, [raw for raw, _ in lines], expected, [verdict for _, verdict in lines])


def write_files(folder: Path, made: TicketFile) -> None:
    """tickets.jsonl, world.json and expected.json in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tickets.jsonl").write_bytes(b"".join(line + b"\n" for line in made.lines))
    (folder / "world.json").write_text(json.dumps(made.world, ensure_ascii=False, indent=1), encoding="utf-8")
    expected = {name: end._asdict() for name, end in made.expected.items()}
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1), encoding="utf-8")


def make_ticket(number: int, ending: str, organisation: str, world: World, rng: Random) -> dict[str, Any]:
    """One request body, after adding the objects it is about to the world."""
    customer, payment, subscription = f"U-{number}", f"PAY-{number}", f"S-{number}"
    _add_to_world(customer, payment, subscription, ending, world, rng)
    body = {
        "process": "restore_access",
        "source": "helpdesk",
        "external_id": f"T-{number}",
        "intake": {
            "customer_id": customer,
            "subscription_id": subscription,
            "payment_id": payment,
            "claim": f"{rng.choice(CLAIMS)} ({number})",
        },
    }
    if rng.random() < 0.5:
        body["source_url"] = f"https://helpdesk.example.org/tickets/T-{number}"
    if rng.random() < 0.2:
        body["organisation"] = organisation
    return body


def _add_to_world(customer: str, payment: str, subscription: str, ending: str, world: World, rng: Random) -> None:
    price, currency = rng.choice(PRICES), rng.choice(["RUB", "RUB", "EUR"])
    stranger = f"{customer}-other"
    whose = rng.choice(["payment", "subscription"]) if ending == "another_account" else ""
    differs = rng.choice(["amount", "currency"]) if ending == "amount_differs" else ""
    if ending != "customer_unknown":
        address = f"{customer.lower()}@example.org"
        language = rng.choice(["ru", "ru", "en", "de"])
        world["customers"].append({"id": customer, "email": address, "language": language})
    if ending != "payment_not_found":
        statuses = {"payment_pending": "pending", "payment_refunded": "refunded", "payment_failed": "failed"}
        world["payments"].append(
            {
                "id": payment,
                "customer_id": stranger if whose == "payment" else customer,
                "subscription_id": subscription,
                "amount": "1.01" if differs == "amount" else price,
                "expected_amount": price,
                "currency": "USD" if differs == "currency" else currency,
                "status": statuses.get(ending, "confirmed"),
            }
        )
    if ending != "subscription_not_found":
        world["subscriptions"].append(
            {
                "id": subscription,
                "customer_id": stranger if whose == "subscription" else customer,
                "plan": rng.choice(["basic", "pro", "семейный"]),
                "price": price,
                "currency": currency,
                "status": "active" if ending == "already_active" else "inactive",
            }
        )


def _changed(body: dict[str, Any], rng: Random) -> dict[str, Any]:
    """The same ticket with other content: another text, another payment, or another link."""
    match rng.randrange(3):
        case 0:
            return body | {"intake": body["intake"] | {"claim": "Совсем другой текст / another text"}}
        case 1:
            return body | {"intake": body["intake"] | {"payment_id": "PAY-OTHER"}}
    return body | {"source_url": "https://helpdesk.example.org/elsewhere"}


def _broken_lines() -> Iterator[tuple[str, bytes]]:
    """(code, line): one line for each way in which a line can be wrong."""
    body = {
        "process": "restore_access",
        "source": "helpdesk",
        "external_id": "T-BROKEN",
        "intake": {"customer_id": "U-1", "subscription_id": "S-1", "payment_id": "PAY-1", "claim": "CLAIM"},
    }
    intake: dict[str, Any] = body["intake"]  # type: ignore[assignment]
    good = _line(body)
    deep: Any = "x"
    for _ in range(20):
        deep = [deep]
    yield "not_json", good[:-12]
    yield "not_utf8", good.replace(b"CLAIM", "Деньги".encode("cp1251"))
    yield "nul", good.replace(b"CLAIM", rb"\u0000")
    yield "lone_surrogate", good.replace(b"CLAIM", rb"\ud83d")
    yield "not_a_number", good.replace(b'"CLAIM"', b"NaN")
    yield "duplicate_key", good[:-1] + b', "source": "helpdesk"}'
    yield "duplicate_key", good.replace(b'"claim"', b'"payment_id": "PAY-2", "claim"')
    yield "unknown_field", _line(body | {"priority": "high"})
    yield "unknown_field", _line(body | {"intake": intake | {"amount": "990.00"}})
    yield "wrong_type", _line(body | {"intake": intake | {"payment_id": 31}})
    yield "missing", _line(body | {"intake": {key: intake[key] for key in intake if key != "payment_id"}})
    yield "unknown_process", _line(body | {"process": "restore_acces"})
    yield "too_large", _line(body | {"intake": intake | {"claim": "ж" * 200_000}})
    yield "too_deep", _line(body | {"intake": intake | {"claim": deep}})
    yield "too_long", _line(body | {"intake": intake | {"claim": "ж" * 4001}})


def _line(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m tests.data.make_tickets FOLDER", file=sys.stderr)
        return 2
    write_files(Path(arguments[0]), make_ticket_file())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
