"""Reason: why not all executions of a program were explored, or what explores further.

Whoever decides something by a reason reads its fields; `sentence` is for people.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from weakspot.harness.values.estimate import Estimate, Sample, describe_duration, describe_estimate
from weakspot.harness.values.numbers import amount, percent

ReasonKind = Literal[
    "truncated",  # a limit ended executions at a place, or a construct there is not supported
    "limit",  # a limit ended the exploration
    "no execution",
    "unproved",
    "refuted",
    "missed",
    "refused",  # the exploration did not begin
    "interrupted",
    "departures",
    "iterations",
    "sample",
    "estimate",
    "size",
    "exceeded size",
    "size of more iterations",
    "budget",
    "raise limit",
    "raise budget",
    "fewer failures",
    "smaller program",
    "resumes",
]

_SENTENCES: dict[ReasonKind, str] = {
    "no execution": "no execution was found: the model forbids them all, or none is as the program "
    "assumes",
    "unproved": "no axiom of the model implies that what the explorer relies on has no cycle with "
    "rf: po, or dependencies and what acquires, releases and fences order. The model forbids such "
    "cycles of two and three threads; it may allow longer ones, which are not explored",
    "refuted": "executions in which loads are performed after later stores of their thread were "
    "not all explored",
    "missed": "the audit found a violation that the explorer has not found: a mistake of weakspot",
    "interrupted": "interrupted",
    "fewer failures": "check --weak-failures once leaves out further spurious failures",
    "smaller program": "have the threads of the program do less: this limit is fixed",
    "resumes": "asked again, the exploration resumes here",
}


class Reason(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why an exploration is not complete, or what makes it more so.

    `limit` is the field of Bounds that was reached; "" is a fixed one, "stopped" an interruption,
    "unsupported" something that is not supported and that only a violation leads to.
    `number` is its value, or that of what the kind is about: departures, iterations, executions,
    seconds. `site` is the `file:line:column` of the loop or the operation at which executions end,
    `message` what the engine says of it, `because` why the limit was reached there. `option` is the
    option or the key that sets the limit. `spent` is how much of a budget was used, in seconds.
    """

    kind: ReasonKind
    limit: str = ""
    number: float | None = None
    site: str = ""
    message: str = ""
    because: str = ""
    option: str = ""
    spent: float | None = None
    estimate: Estimate | None = None
    sample: Sample | None = None


def sentence(reason: Reason) -> str:
    """The reason for a person."""
    number = reason.number or 0
    match reason:
        case Reason(kind="truncated"):
            site = f" at {reason.site}" if reason.site else ""
            because = f": {reason.because}" if reason.because else ""
            return f"{reason.message}{site}{because}"
        case Reason(kind="limit", limit="seconds"):
            return f"time limit of {_written(number)} s"
        case Reason(kind="limit", limit="executions"):
            return f"limit of {number:.0f} executions"
        case Reason(kind="limit"):
            return reason.limit
        case Reason(kind="refused"):
            return reason.message
        case Reason(kind="departures"):
            return f"what takes more than {amount(int(number), 'departure')} was not explored"
        case Reason(kind="iterations"):
            return f"complete for loops of at most {amount(int(number), 'iteration')}"
        case Reason(kind="sample", estimate=Estimate() as estimate, sample=Sample() as sample):
            return _of_sample(sample, estimate)
        case Reason(kind="estimate", estimate=Estimate() as estimate):
            return f"{describe_estimate(estimate)}, not all of them explored"
        case Reason(kind="size", estimate=Estimate() as estimate):
            return f"there are {describe_duration(estimate)}"
        case Reason(kind="exceeded size", estimate=Estimate() as estimate):
            more = describe_estimate(estimate).replace("about", "more than the estimated", 1)
            return f"there are {more}"
        case Reason(kind="size of more iterations", estimate=Estimate() as estimate):
            loops = f"loops of up to {number:.0f} iterations"
            return f"with {loops} there are {describe_duration(estimate)}"
        case Reason(kind="budget"):
            return f"{reason.spent:.1f} s of the budget of {number:g} s did not suffice"
        case Reason(kind="raise limit"):
            return f"{reason.option} {_written(number)} explores further"
        case Reason(kind="raise budget"):
            return f"a budget of more than {number:g} s explores further"
        case _:
            return _SENTENCES[reason.kind]


def _of_sample(sample: Sample, estimate: Estimate) -> str:
    share = sample.distinct / estimate.executions if estimate.executions else 1.0
    return (
        f"{amount(sample.distinct, 'execution')} drawn with seed {sample.seed}, "
        f"{percent(min(share, 1.0))} of {describe_estimate(estimate)}; a further draw shows "
        f"another one with probability {percent(max(1 - sample.known, 0.0))}"
    )


def _written(number: float) -> str:
    return f"{round(number, 3):.15g}"
