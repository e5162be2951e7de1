"""The words that a shell offers for an argument, after what is typed of it.

click asks these functions when a shell completes a command; where they offer nothing of weakspot's
own, the shell offers files.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def what(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """WHAT: structures of the corpus; files where nothing is typed yet or a file begins so."""
    from weakspot.harness.corpus import structures as corpus

    if not typed or glob.glob(f"{glob.escape(typed)}*"):  # noqa: PTH207  # any path
        return [CompletionItem(typed, type="file")]
    return _of((*corpus.names(), "all"), typed) or [CompletionItem(typed, type="file")]


def structures(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The structures of the corpus."""
    from weakspot.harness.corpus import structures as corpus

    return _of(corpus.names(), typed)


def models(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Models, the last of several with commas between; or a cat file."""
    from weakspot.harness.corpus import models as corpus

    before, comma, last = typed.rpartition(",")
    found = [f"{before}{comma}{name}" for name in corpus.available()]
    return _of(found, typed) or [CompletionItem(last, type="file")]


def kinds(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Kinds of objects; or a file with a sequential implementation."""
    from weakspot.harness.clients.kinds import KINDS

    return _of(KINDS.names(), typed) or [CompletionItem(typed, type="file")]


def findings(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The ids of findings."""
    from weakspot.harness.judge.kinds import KINDS

    return _of(KINDS, typed.upper())


def _of(words: Iterable[str], typed: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(typed)]
