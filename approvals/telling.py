"""What a model is told of a case: facts and fields on the process's list, and nothing else; no personal value.

Personal facts go as placeholders, the customer's own words as fenced data in which known values and what looks like an
address, a number of a phone or a card, or a person's name are replaced as well. A name that nothing marks as one cannot
be told from another word: a process that must not risk it does not list its claim in `told_intake`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from caseflow.domain.process import Facts, IntakeBody, Process, is_personal, value_at

MAX_CLAIM = 4000  #: characters of a customer's words that are sent

_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.UNICODE)
_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
#: Nine digits and more, however they are grouped: phones, cards, accounts, papers. Not a part of our own numbers.
_NUMBER = re.compile(r"(?<![\w-])\+?\(?\d(?:[\s().-]{0,3}\d){8,29}(?![\w-])")
_ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_NAME = re.compile(
    r"(?i:\bменя зовут|\bмо[её] имя|\bс уважением|\bmy name is|\bi am called|\bregards|\bsincerely)"
    r"[\s,:—-]{1,4}((?:[A-ZА-ЯЁ][\w'’.-]*[ \t]?){1,4})"
)


@dataclass(frozen=True, slots=True)
class Told:
    """`document` is the message; `facts` are its facts by path, as told; `placeholders` say what each stands for."""

    document: str
    facts: Mapping[str, Any]
    intake: Mapping[str, Any]
    placeholders: Mapping[str, str]
    language: str


def tell(
    process: Process,
    facts: Facts,
    intake: IntakeBody,
    texts: Mapping[str, str],
    *,
    fence: str,
    more: Mapping[str, Any],
) -> Told:
    """`fence` is a word that nobody outside can guess; `more` are further fields of the JSON object."""
    hidden = _Hidden()
    # Every personal value of the case is looked for in the words, also of paths that no model is told of.
    for path, value in _personal_facts(process, facts, texts).items():
        hidden.keep(f"[{path}]", value)
    told = {path: _told_fact(process, path, facts, hidden) for path in process.told_facts}
    fields, words = {}, []
    for name in process.told_intake:
        if name in process.personal_intake:
            words.append(hidden.without(_text_of(intake.get(name), texts)[:MAX_CLAIM]))
        else:
            fields[name] = intake.get(name)
    head = json.dumps({"facts": told, "intake": fields, **more}, ensure_ascii=False, sort_keys=True, indent=1)
    claim = _unfenced("\n".join(words))
    document = f"{head}\n\n<<<customer {fence}\n{claim}\ncustomer {fence}>>>"
    return Told(document, told, fields, hidden.placeholders, str(value_at(facts, "customer.language") or ""))


def restored(text: str, placeholders: Mapping[str, str]) -> str:
    """A model's words with the personal values in them again: for a screen, and only there."""
    for placeholder, value in placeholders.items():
        text = text.replace(placeholder, value)
    return text


class _Hidden:
    """Personal values and what stands for them."""

    def __init__(self) -> None:
        self.placeholders: dict[str, str] = {}

    def keep(self, placeholder: str, value: str) -> None:
        self.placeholders[placeholder] = value

    def without(self, text: str) -> str:
        for placeholder, value in sorted(self.placeholders.items(), key=lambda pair: -len(pair[1])):
            if len(value) > 2:
                text = re.sub(re.escape(value), placeholder.replace("\\", ""), text, flags=re.IGNORECASE)
        for kind, pattern in (("link", _LINK), ("mail", _MAIL), ("account", _ACCOUNT), ("number", _NUMBER)):
            text = pattern.sub(self._as(kind, lambda found: found.group(0)), text)
        return _NAME.sub(lambda found: found.group(0).replace(found.group(1), self._next("name", found.group(1))), text)

    def _as(self, kind: str, value: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str]:
        return lambda found: self._next(kind, value(found))

    def _next(self, kind: str, value: str) -> str:
        known = next((name for name, kept in self.placeholders.items() if kept == value), None)
        if known is None:
            known = f"[{kind}-{1 + sum(name.startswith(f'[{kind}-') for name in self.placeholders)}]"
            self.placeholders[known] = value
        return known


def _personal_facts(process: Process, facts: Facts, texts: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name, values in facts.items():
        for key, value in values.items():
            path = f"{name}.{key}"
            if value is not None and is_personal(process, path):
                found[path] = _text_of(value, texts)
    return {path: text for path, text in found.items() if text}


def _told_fact(process: Process, path: str, facts: Facts, hidden: _Hidden) -> Any:
    value = value_at(facts, path)
    if value is None or not is_personal(process, path):
        return value
    return f"[{path}]"


def _text_of(value: Any, texts: Mapping[str, str]) -> str:
    """A personal value: a reference to a text of the case, or the value itself outside a case."""
    if isinstance(value, Mapping):
        return texts.get(str(value.get("personal", "")), "")
    return "" if value is None else str(value)


def _unfenced(text: str) -> str:
    """Nothing in the words looks like a fence, and no character steers how the rest is read."""
    text = "".join(" " if not (character.isprintable() or character == "\n") else character for character in text)
    return text.replace("<<<", "‹‹‹").replace(">>>", "›››")
