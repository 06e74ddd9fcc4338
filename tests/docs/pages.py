"""Every page of the checkout as text: prose, code in it, headings and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Folders that hold no page of ours.
ELSEWHERE = frozenset({"node_modules", "staticfiles", "screenshots"})

FENCE = re.compile(r"^(```+|~~~+)[^\n]*\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^|\n)\n((?: {4}[^\n]*\n?)+)")
INLINE = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Page:
    path: Path

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def blocks(self) -> list[str]:
        """Code that stands on lines of its own."""
        prose = FENCE.sub("\n", self.text)
        return [found[1] for found in FENCE.findall(self.text)] + INDENTED.findall(prose)

    @cached_property
    def inline(self) -> list[str]:
        """Code within sentences."""
        return [" ".join(found.split()) for found in INLINE.findall(FENCE.sub("\n", self.text))]

    @property
    def code(self) -> list[str]:
        return [*self.blocks, *self.inline]

    @cached_property
    def anchors(self) -> set[str]:
        """What `#…` may name, as GitHub makes it of headings; a repeated one gets a number."""
        found: dict[str, int] = {}
        anchors = set()
        for heading in HEADING.findall(FENCE.sub("\n", self.text)):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
            name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
            anchors.add(name if name not in found else f"{name}-{found[name]}")
            found[name] = found.get(name, 0) + 1
        return anchors

    @property
    def links(self) -> list[str]:
        return [link for link in LINK.findall(FENCE.sub("\n", self.text)) if "://" not in link]


def all_pages() -> list[Page]:
    folders = [entry for entry in ROOT.iterdir() if entry.is_dir() and not entry.name.startswith(".")]
    inside = [path for folder in folders if folder.name not in ELSEWHERE for path in folder.rglob("*.md")]
    return [Page(path) for path in sorted([*ROOT.glob("*.md"), *inside])]
