"""Who proposes in an organisation: the rules, a model, or the rules with a model's explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Organisation
from approvals.choosing import list_choosable
from approvals.models import ProposerChoice
from caseflow.domain.process import Process
from cases.processes import all_processes

from . import words


@dataclass(frozen=True, slots=True)
class Row:
    """One process and who proposes in it; `chosen_at` is None where its own declaration counts."""

    title: str
    slug: str
    proposer: str
    rules_take_over: bool
    chosen_at: datetime | None


class ProposerForm(forms.Form):
    """Who is to propose from now on."""

    process = forms.ChoiceField(label=gettext_lazy("Process"))
    proposer = forms.ChoiceField(
        label=gettext_lazy("Proposed by"),
        help_text=gettext_lazy(
            "Without a version of the prompt the newest is used. Proposals that stand do not change."
        ),
    )
    rules_take_over = forms.BooleanField(
        label=gettext_lazy("Rules take over while the provider of the model is left alone after faults"), required=False
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        processes = _processes()
        names = dict.fromkeys(name for process in processes for name in list_choosable(process))
        titles = [(process.slug, words.newest_title(process.slug)) for process in processes]
        self.fields["process"].choices = titles  # type: ignore[attr-defined]
        self.fields["proposer"].choices = [(name, choice_label(name)) for name in names]  # type: ignore[attr-defined]


def rows_of(organisation: Organisation) -> Sequence[Row]:
    """One query."""
    chosen = {row.process: row for row in ProposerChoice.objects.filter(organisation=organisation)}
    found = []
    for process in _processes():
        row = chosen.get(process.slug)
        found.append(
            Row(
                title=words.newest_title(process.slug),
                slug=process.slug,
                proposer=choice_label(row.proposer if row else process.proposer),
                rules_take_over=row is not None and row.rules_take_over,
                chosen_at=row.changed_at if row else None,
            )
        )
    return found


def choice_label(name: str) -> str:
    """`model:main@decide-1` in words."""
    kind, _, rest = name.partition(":")
    provider, _, prompt = rest.partition("@")
    if kind == "model":
        text = gettext("a model proposes (%(provider)s)") % {"provider": provider}
    elif kind == "explained":
        text = gettext("the rules decide, a model explains (%(provider)s)") % {"provider": provider}
    else:
        return gettext("the rules of the process") if kind == "rules" else name
    return f"{text}, {prompt}" if prompt else text


def _processes() -> list[Process]:
    """The newest version of each that a model may be asked about."""
    newest = {process.slug: process for process in sorted(all_processes().values(), key=lambda one: one.version)}
    return [process for process in newest.values() if process.prompts]
