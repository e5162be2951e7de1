"""The forecast of a campaign, as lines: what `weakspot plan` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from weakspot.harness.campaign.forecast import Division, Forecast, Phase, Repetition, WorkerShare
from weakspot.harness.campaign.hardware import RANKS
from weakspot.harness.report.terminal import columns
from weakspot.harness.values.numbers import amount
from weakspot.system.durations import duration_text

_SHOWN = 5
_SOURCES = {
    "repeated": "as in earlier campaigns",
    "similar": "as for an earlier version",
    "estimated": "estimated",
    "sampled": "from a sample",
    "usual": "at the usual rate",
    "given": "set by the options",
    "unknown": "unknown",
}


def lines(found: Forecast) -> Iterator[Text]:
    """Everything that it says."""
    names = (*found.models, *found.checkers, *found.machines)
    yield Text(
        f"{amount(found.programs, 'program')} and {amount(found.tests, 'test')}: {', '.join(names)}"
    )
    yield Text()
    yield from _phases(found)
    yield from _additions(found)
    if found.workers:
        yield from _workers(found.workers)
    for each in found.divisions:
        yield from _division(each)
    if found.notes:
        yield Text()
        yield from (Text(f"note: {each}", "dim") for each in found.notes)


def _phases(found: Forecast) -> Iterator[Text]:
    rows: list[list[str | Text]] = [[Text(each, "dim") for each in ("", "questions", "time", "")]]
    for phase in found.phases:
        left = phase.jobs - phase.stored
        count = f"{phase.jobs:,}" if left == phase.jobs else f"{left:,} of {phase.jobs:,}"
        known = left > phase.sources.get("unknown", 0) or not left
        time = duration_text(phase.seconds) if known else "?"
        rows.append([phase.name, count, time, Text(_source(phase), "dim")])
    yield from columns(rows)
    total = f"about {duration_text(found.seconds)} in all"
    if found.unknown:
        total += f", plus the time of {amount(found.unknown, 'question')} without an estimate"
    earlier = (
        f"based on {amount(found.campaigns, 'earlier campaign')}"
        if found.campaigns
        else "without an earlier campaign to compare with"
    )
    yield Text.assemble((total, "bold"), f", {earlier}")


def _source(phase: Phase) -> str:
    sources = {name: count for name, count in phase.sources.items() if count}
    if phase.name == "generating":
        return "measured now"
    if len(sources) == 1:
        return _SOURCES[next(iter(sources))]
    return ", ".join(f"{count:,} {_SOURCES[name]}" for name, count in sources.items())


def _additions(found: Forecast) -> Iterator[Text]:
    """Which tests add nothing."""
    answered = {name: count for name, count in found.answered.items() if count}
    if not answered and not found.repetitions:
        return
    yield Text()
    yield Text("What adds nothing", "bold")
    for name, count in answered.items():
        yield Text(f"  {name}: {count:,} of these questions were answered by earlier campaigns")
    by_arch: dict[str, list[Repetition]] = {}
    for each in found.repetitions:
        by_arch.setdefault(each.arch, []).append(each)
    for arch, those in by_arch.items():
        more = sum(len(each.tests) - 1 for each in those)
        if arch:
            verb = "has" if more == 1 else "have"
            how = f"{verb} the assembly of another one on {arch}, as compilers map C11"
        else:
            how = f"{'is' if more == 1 else 'are'} another one under a second name"
        yield Text(f"  {amount(more, 'test')} {how}:")
        yield from (Text(f"    {' = '.join(each.tests)}") for each in those[:_SHOWN])
        if len(those) > _SHOWN:
            yield Text(f"    and {amount(len(those) - _SHOWN, 'group')} more: --json", "dim")


def _division(each: Division) -> Iterator[Text]:
    yield Text()
    title = f"{duration_text(each.budget)} on {each.machine}" if each.budget else each.machine
    yield Text(title, "bold")
    rows: list[Sequence[str | Text]] = []
    for share in each.shares:
        if not share.count:
            continue
        time = duration_text(share.seconds) if share.seconds else ""
        rows.append([share.what, f"{share.chosen:,} of {share.count:,}", time])
    yield from columns(rows, indent=2)
    ranks = next((share.ranks for share in each.shares if any(share.ranks)), ())
    if each.budget and ranks:
        yield Text("  in this order:", "dim")
        counted = zip(ranks, RANKS, strict=True)
        rows = [[f"{count:,}", why] for count, why in counted if count]
        yield from columns(rows, indent=4)


def _workers(workers: Sequence[WorkerShare]) -> Iterator[Text]:
    yield Text()
    yield Text("Workers, if they are as fast as this computer", "bold")
    yield from columns(
        [
            [
                each.worker,
                amount(each.threads, "thread"),
                f"about {amount(each.questions, 'question')}",
            ]
            for each in workers
        ],
        indent=2,
    )
