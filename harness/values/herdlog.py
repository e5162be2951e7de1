"""The log format of herd7 and litmus7, read and written; no other module knows it.

Read: the output of herd7 and litmus7 (versions 7.56 to 7.58), any number of tests per text, with
other text between them. Written: what mcompare7, msum7 and scripts read; the grammar is that of
herdtools7, tools/lexLog_tools.mll. Locations are keys in herd7's present notation, `[x]`, also if
an older log has `x`.

A test's hash is herd7's digest of its parsed source; msum7 refuses to add up tests without one. It
is written if a checker or a runner gave it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

import msgspec

from weakspot.harness.values.condition import KIND, Proposition, proposition, quantifier
from weakspot.harness.values.histogram import Count, Histogram
from weakspot.harness.values.state import State, location
from weakspot.harness.values.verdict import Observation, PrintedVerdict, Verdict

if TYPE_CHECKING:
    from weakspot._engine import Quantifier

#: the reason of a verdict whose test has a loop that herd7 did not unroll completely
LOOP = "a loop is unrolled a limited number of times: outcomes may be missing"

_TEST = re.compile(r"Test (?P<name>\S+)(?: (?P<kind>\w+))?\s*$")
_STATES = re.compile(r"States (?P<count>\d+)\s*$")
_HISTOGRAM = re.compile(r"Histogram(?: \((?P<count>\d+) states\s*\))?\s*$")
_RESULT = re.compile(r"(?P<loop>Loop )?(?P<ok>Ok|No|Undef|\?\?)\b")
_COUNTED = re.compile(r"\s*(?P<count>\d+)\s*(?P<mark>[*:])>(?P<state>.*)$")
_WITNESSES = re.compile(r"Positive: (?P<pos>\d+),? Negative: (?P<neg>\d+)")
_CONDITION = re.compile(r"Condition (?P<condition>.*?)(?: is (?:NOT )?validated)?\s*$")
_OBSERVATION = re.compile(
    r"Observation (?P<name>\S+) (?P<observation>\w+)(?: (?P<pos>\d+) (?P<neg>\d+))?\s*$"
)
_TIME = re.compile(r"Time (?P<name>\S+) (?P<seconds>[\d.]+)\s*$")
_QUANTIFIERS: dict[str, Quantifier] = {kind: quantifier for quantifier, kind in KIND.items()}


class _Block(msgspec.Struct):
    """One test of a log. `pos` and `neg` count the executions that satisfy the proposition and
    those that do not, as in the Observation line."""

    name: str
    kind: str
    histogram: bool
    states: list[tuple[int, State]]
    result: str = ""
    loop: bool = False
    flags: list[str] = []
    condition: str = ""
    observation: str = ""
    pos: int | None = None
    neg: int | None = None
    seconds: float = 0.0
    hash: str = ""


class Log(msgspec.Struct, frozen=True):
    """The answers in a log, in order; `begun` is how many tests it begins: more than there are
    answers if it is truncated."""

    verdicts: tuple[Verdict, ...]
    histograms: tuple[Histogram, ...]
    begun: int


def parse(text: str) -> Log:
    """A log of herd7 or litmus7, which names neither a model nor a machine."""
    blocks = list(_blocks(text))
    return Log(
        tuple(_verdict(each, "", "") for each in blocks if not each.histogram),
        tuple(_histogram(each, "", "") for each in blocks if each.histogram),
        sum(_TEST.match(line) is not None for line in text.splitlines()),
    )


def parse_verdicts(text: str, *, model: str = "") -> list[Verdict]:
    """The verdicts in a log of herd7, in order."""
    return [_verdict(b, model, "herd7") for b in _blocks(text) if not b.histogram]


def parse_histograms(text: str, *, machine: str = "") -> list[Histogram]:
    """The histograms in a log of litmus7, in order."""
    return [_histogram(b, machine, "litmus7") for b in _blocks(text) if b.histogram]


def format_verdict(verdict: Verdict) -> str:
    """The verdict as herd7 prints it.

    herd7 prints nothing for a test without an answer; here that is a comment line, which readers of
    logs skip.
    """
    from weakspot import _engine

    return _engine.herd_log(verdict)


def printed(verdict: Verdict, form: str) -> PrintedVerdict:
    """The verdict printed as `json` or `herd`; with the form "" without a text."""
    text = ""
    if form == "json":
        text = msgspec.json.encode(verdict).decode() + "\n"
    elif form == "herd":
        text = format_verdict(verdict)
    return PrintedVerdict(verdict, text)


def format_histogram(histogram: Histogram) -> str:
    """The histogram as litmus7 prints it: `*` marks the states that satisfy the proposition, or, if
    the condition is forall, those that do not."""
    if histogram.reason and not histogram.histogram:
        where = f"{histogram.test} {histogram.machine}"
        return f"# {where}: not run: {_one_line(histogram.reason)}\n\n"
    asked = quantifier(histogram.condition)
    holds = proposition(histogram.condition)
    lines = [
        f"Test {histogram.test} {KIND[asked]}",
        f"Histogram ({len(histogram.histogram)} states)",
    ]
    for count in histogram.histogram:
        marked = _marked(count.state, asked, holds)
        lines.append(f"{count.count:<6}{'*' if marked else ':'}>{_state_text(count.state)}")
    pos, neg = histogram.target, histogram.iterations - histogram.target
    observation = "Never" if pos == 0 else "Always" if neg == 0 else "Sometimes"
    validated = _holds(asked, observation)
    lines += ["Ok" if validated else "No", "", "Witnesses"]
    shown = (neg, pos) if asked == "~exists" else (pos, neg)
    lines.append(f"Positive: {shown[0]}, Negative: {shown[1]}")
    if histogram.condition:
        verdict = "is validated" if validated else "is NOT validated"
        lines.append(f"Condition {_one_line(histogram.condition)} {verdict}")
    if histogram.hash:
        lines.append(f"Hash={histogram.hash}")
    lines.append(f"Observation {histogram.test} {observation} {pos} {neg}")
    lines.append(f"Time {histogram.test} {histogram.seconds:.2f}")
    return "\n".join(lines) + "\n\n"


def format_histograms(histograms: Iterable[Histogram]) -> str:
    """The histograms as one log."""
    return "".join(format_histogram(one) for one in histograms)


def _blocks(text: str) -> Iterator[_Block]:
    lines = iter(text.splitlines())
    block: _Block | None = None
    name = kind = ""
    for line in lines:
        if match := _TEST.match(line):
            if block is not None:
                yield block
            block, name, kind = None, match["name"], match["kind"] or ""
        elif name and (match := _STATES.match(line) or _HISTOGRAM.match(line)):
            block = _Block(name, kind, line.startswith("Histogram"), [])
            result = _read_states(lines, block, match["count"])
            name = ""
            if result is None:
                block = None  # truncated: no answer
            else:
                block.result, block.loop = result
        elif block is not None:
            _read_line(line, block)
    if block is not None:
        yield block


def _read_states(lines: Iterator[str], block: _Block, count: str | None) -> tuple[str, bool] | None:
    """Read the states and the line after them: the result (Ok, No) and whether it says Loop."""
    remaining = None if count is None else int(count)
    for line in lines:
        if remaining is None or remaining == 0:
            match = _RESULT.match(line)
            if match and (remaining == 0 or "=" not in line):
                return match["ok"], bool(match["loop"])
            if remaining == 0:
                return None
        else:
            remaining -= 1
        counted = _COUNTED.match(line)
        if counted:
            block.states.append((int(counted["count"]), _state(counted["state"])))
        else:
            block.states.append((1, _state(line)))
    return None


def _read_line(line: str, block: _Block) -> None:
    if line.startswith("Flag "):
        block.flags.append(line[len("Flag ") :].strip())
    elif match := _CONDITION.match(line):
        block.condition = match["condition"]
    elif match := _WITNESSES.match(line):
        if block.pos is None:
            pos, neg = int(match["pos"]), int(match["neg"])
            swapped = block.kind == "Forbidden"
            block.pos, block.neg = (neg, pos) if swapped else (pos, neg)
    elif match := _OBSERVATION.match(line):
        block.observation = match["observation"]
        if match["pos"] is not None:
            block.pos, block.neg = int(match["pos"]), int(match["neg"])
    elif match := _TIME.match(line):
        block.seconds = float(match["seconds"])
    elif line.startswith("Hash="):
        block.hash = line[len("Hash=") :].strip()


def _state(line: str) -> State:
    """`0:r0=1; [x]=2;`, with or without a comment. A fault has no value."""
    state: State = {}
    for item in line.partition("#")[0].split(";"):
        item = item.strip()
        if item:
            name, _, value = item.partition("=")
            name = name.strip()
            is_fault = name.lower().lstrip("~").startswith("fault")
            value = value.strip()
            # a whole array is `x={1,0}`, without brackets
            name = name if value.startswith("{") else location(name)
            state[item if is_fault else name] = "" if is_fault else value
    return state


def _state_text(state: State) -> str:
    return " ".join(f"{name}={value};" if value else f"{name};" for name, value in state.items())


def _verdict(block: _Block, model: str, checker: str) -> Verdict:
    undefined = block.result == "Undef"
    condition = block.condition
    if not condition and block.kind in _QUANTIFIERS:
        condition = _QUANTIFIERS[block.kind]
    observation = "Undefined" if undefined else block.observation
    if observation not in ("Never", "Sometimes", "Always", "Undefined"):
        observation = "Unknown"
    return Verdict(
        test=block.name,
        model=model,
        checker=checker,
        observation=cast(Observation, observation),
        condition_holds={"Ok": True, "No": False}.get(block.result),
        states=tuple(state for _, state in block.states),
        flags=tuple(block.flags),
        seconds=block.seconds,
        condition=condition,
        witnesses=None if block.pos is None or block.neg is None else (block.pos, block.neg),
        reason=LOOP if block.loop else "",
        reason_kind="loop" if block.loop else "",
        hash=block.hash,
    )


def _histogram(block: _Block, machine: str, runner: str) -> Histogram:
    counts = tuple(Count(state, count) for count, state in block.states)
    return Histogram(
        test=block.name,
        machine=machine,
        runner=runner,
        histogram=counts,
        target=block.pos or 0,
        iterations=sum(count.count for count in counts),
        seconds=block.seconds,
        condition=block.condition,
        hash=block.hash,
    )


def _holds(asked: Quantifier, observation: str) -> bool:
    if asked == "forall":
        return observation == "Always"
    return (observation != "Never") == (asked == "exists")


def _marked(state: State, asked: Quantifier, holds: Proposition | None) -> bool:
    if holds is None:
        return False
    try:
        satisfied = holds(state)
    except KeyError:
        return False
    return satisfied != (asked == "forall")


def _one_line(text: str) -> str:
    return " ".join(text.split())
