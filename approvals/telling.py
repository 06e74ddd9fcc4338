"""What a model is told of a case: facts and fields on the process's list, and nothing else; no personal value.

Personal facts go as placeholders, the customer's own words as fenced data in which known values and what looks like an
address, a number of a phone or a card, or a person's name are replaced as well. A name that nothing marks as one cannot
be told from another word: a process that must not risk it does not list its claim in `told_intake`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from caseflow.domain.process import Facts, IntakeBody, Process, is_personal, value_at

MAX_CLAIM = 4000  #: characters of a customer's words that are sent
MAX_FACT = 200  #: characters of a fact that are sent

#: Beside format characters (Cf): what is drawn as nothing, too, and would cut an address in two.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_FIRST_HIDDEN = 0xF0000  #: characters of private use stand for what is hidden until all of it is found
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.UNICODE)
_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
#: Nine digits and more, however they are grouped: phones, cards, accounts, papers.
_NUMBER = re.compile(r"\+?\(?\d(?:[\s()./_-]{0,3}\d){8,}")
_ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_NAME = re.compile(
    r"(?i:\bменя зовут|\bмо[её] имя|\bс уважением|\bmy name is|\bi am called|\bregards|\bsincerely(?: yours)?)"
    r"[\s,:-]{1,4}(?P<name>(?:[A-ZА-ЯЁ](?![\w'’.+-]*@)[\w'’.-]*[ \t]?){1,4})"
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
    for name in sorted(process.personal_intake - set(process.told_intake)):
        hidden.keep(f"[{name}]", _text_of(intake.get(name), texts))
    told = {path: _told_fact(process, path, facts, hidden) for path in process.told_facts}
    fields, words = {}, []
    for name in process.told_intake:
        if name in process.personal_intake:
            words.append(hidden.without(_text_of(intake.get(name), texts))[:MAX_CLAIM])
        else:
            fields[name] = intake.get(name)
    head = json.dumps({"facts": told, "intake": fields, **more}, ensure_ascii=False, sort_keys=True, indent=1)
    claim = _unfenced("\n".join(words))
    document = f"{head}\n\n<<<customer {fence}\n{claim}\ncustomer {fence}>>>"
    return Told(document, told, fields, hidden.placeholders, str(value_at(facts, "customer.language") or ""))


def restored(text: str, placeholders: Mapping[str, str]) -> str:
    """A model's words with the personal values in them again: for a screen, and only there."""
    if not placeholders:
        return text
    return re.sub("|".join(map(re.escape, placeholders)), lambda found: placeholders[found.group(0)], text)


class _Hidden:
    """Personal values and what stands for them."""

    def __init__(self) -> None:
        self.placeholders: dict[str, str] = {}

    def keep(self, placeholder: str, value: str) -> None:
        if value:
            self.placeholders[placeholder] = value

    def without(self, text: str) -> str:
        """The words as a reader sees them, with nothing personal that can be told from other words."""
        found: list[str] = []

        def hide(placeholder: str) -> str:
            # No pattern finds anything in what stands for a value, as it could in the placeholder itself.
            found.append(placeholder)
            return chr(_FIRST_HIDDEN + len(found) - 1)

        values = sorted({_seen(value) for value in self.placeholders.values()}, key=len, reverse=True)
        known = [f"(?i:{re.escape(value)})" for value in values if len(value) > 2]
        # Addresses, names and known values: whichever begins first, so that none leaves a half of another.
        mail = re.compile("|".join([_MAIL.pattern, _NAME.pattern, *known]))
        text = _seen(text)
        for kind, pattern in (("link", _LINK), ("mail", mail), ("account", _ACCOUNT), ("number", _NUMBER)):
            text = pattern.sub(self._as(kind, hide), text)
        return "".join(found[ord(one) - _FIRST_HIDDEN] if ord(one) >= _FIRST_HIDDEN else one for one in text)

    def _as(self, kind: str, hide: Callable[[str], str]) -> Callable[[re.Match[str]], str]:
        """Hides what is found; of a name, what comes after the words that mark it as one."""

        def hidden(found: re.Match[str]) -> str:
            value = found.group(found.lastgroup or 0)
            return found.group(0).removesuffix(value) + hide(self._next(found.lastgroup or kind, value))

        return hidden

    def _next(self, kind: str, value: str) -> str:
        seen = value.casefold()
        known = next((name for name, kept in self.placeholders.items() if _seen(kept).casefold() == seen), None)
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
        return value[:MAX_FACT] if isinstance(value, str) else value
    return f"[{path}]"


def _text_of(value: Any, texts: Mapping[str, str]) -> str:
    """A personal value: a reference to a text of the case, or the value itself outside a case."""
    if isinstance(value, Mapping):
        return texts.get(str(value.get("personal", "")), "")
    return "" if value is None else str(value)


def _seen(text: str) -> str:
    """As a reader sees it: every character in one form, none that is not drawn or steers the others, one dash."""
    text = "".join(_drawn(character) for character in unicodedata.normalize("NFKC", text))
    return unicodedata.normalize("NFKC", text)


def _drawn(character: str) -> str:
    if character.isspace():
        return "\n" if character == "\n" else " "
    kind = unicodedata.category(character)
    if kind == "Pd" or character == "\N{MINUS SIGN}":
        return "-"
    if kind in ("Cc", "Cf") or _UNSEEN.match(character):
        return ""
    return character if character.isprintable() else " "


def _unfenced(text: str) -> str:
    """Nothing in the words looks like a fence."""
    return text.replace("<<<", "‹‹‹").replace(">>>", "›››")
