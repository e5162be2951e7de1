"""Which calls are inlined: all of them, unless the copies would be too many.

In: the text of a linked module. Out: its size once everything is inlined, and the text in which as
many functions stay functions as it takes to limit that size. The tree of calls grows exponentially
with its depth: std::format has 45,000 lines of IR, and more than five million as one function.

Which operation a site belongs to depends on what is inlined, and so do wait loops. Therefore a
program within the limit is inlined completely; beyond it, functions that reach no atomic access
stay functions first. Those that pause stay functions last, with what they call for that: how long
a loop pauses after each look is irrelevant to whether it waits, which is seen within one function
only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

MOST = 60_000
"""Lines of IR that inlining makes of a program at most, if functions can stay functions."""

_DEFINE = re.compile(r'^define [^@\n]*@(?P<name>"[^"]*"|[-\w$.]+)\((?P<rest>[^\n]*)\n', re.M)
_CALL = re.compile(r'\b(?:call|invoke)\b[^@\n"]*@("[^"]*"|[-\w$.]+)\(')
_GROUP = re.compile(r"^attributes #(\d+) = \{(.*)\}$", re.M)
_ATOMIC = re.compile(r"^  (?:%\S+ = )?(?:load atomic|store atomic|atomicrmw|cmpxchg|fence)\b", re.M)
_PAUSE = re.compile(
    r'\bcall [^\n]*(?:@llvm\.x86\.sse2\.pause|@(?:sched|pthread|thrd)_yield|asm [^\n]*"pause)'
)
_NAME = re.compile(r'@("[^"]*"|[-\w$.]+)')

SMALL = 12
"""Lines of a function, with what is inlined into it, that is always inlined: calling it takes
nearly as much, and a loop that waits must not call what reads a result, as `Result::is_ok`."""


class _Function(msgspec.Struct, frozen=True):
    """A function: its lines, the functions of the module that it calls, and how often; whether it
    is to be inlined, has a parameter that is a structure, contains an atomic access or a pause,
    and is called through pointers too."""

    lines: int
    calls: dict[str, int]
    inlined: bool
    by_value: bool
    atomic: bool
    pauses: bool
    pointed: bool


class Expansion(msgspec.Struct, frozen=True):
    """Lines of IR once everything is inlined, and the module's text for that."""

    lines: int
    text: str


def bounded(text: str, most: int = MOST) -> Expansion:
    """The module with at most so many lines once it is inlined, if functions can stay functions."""
    functions = _functions(text)
    order = list(_callees_first(functions))
    inlined = {name for name, each in functions.items() if each.inlined}
    whole, _ = _sizes(functions, order, inlined)
    lines = 0
    # a structure is passed by value only to what is inlined
    possible = {name for name in inlined if not functions[name].by_value and whole[name] > SMALL}
    atomic = _reaching_atomics(functions, order)
    paused = _used_by_pauses(functions, order, whole, atomic)
    for candidates in (possible - atomic - paused, possible - paused, possible):
        while True:
            sizes, copies = _sizes(functions, order, inlined)
            lines = sum(sizes[each] for each in functions if _remains(functions, each, inlined))
            if lines <= most:
                break
            saved = {name: (copies[name] - 1) * sizes[name] for name in candidates & inlined}
            chosen = sorted(saved, key=lambda name: (-saved[name], name))
            chosen = [name for name in chosen[: 1 + len(order) // 200] if saved[name] > 0]
            if not chosen:
                break
            inlined.difference_update(chosen)
    stay = {name for name, each in functions.items() if each.inlined} - inlined
    return Expansion(lines, _with_functions(text, stay) if stay else text)


def pauses(body: str) -> bool:
    """Whether a function pauses or yields, as a loop does that waits."""
    return _PAUSE.search(body) is not None


def _functions(text: str) -> dict[str, _Function]:
    """The functions that a module defines."""
    always = {number for number, words in _GROUP.findall(text) if "alwaysinline" in words}
    bodies = {
        match["name"]: (match["rest"], text[match.end() : text.index("\n}\n", match.end())])
        for match in _DEFINE.finditer(text)
    }
    called = {name: Counter(_CALL.findall(body)) for name, (_, body) in bodies.items()}
    mentions = Counter(_NAME.findall(text))
    mentions.subtract(sum(called.values(), Counter()))
    found = {}
    for name, (rest, body) in bodies.items():
        group = re.search(r"#(\d+)", rest)
        found[name] = _Function(
            lines=body.count("\n") + 1,
            calls={callee: n for callee, n in called[name].items() if callee in bodies},
            inlined=" alwaysinline" in rest or (group is not None and group[1] in always),
            by_value="byval(" in rest,
            atomic=_ATOMIC.search(body) is not None,
            pauses=pauses(body),
            pointed=mentions[name] > 1,  # once where it is defined
        )
    return found


def _callees_first(functions: Mapping[str, _Function]) -> Iterator[str]:
    """The functions, each after those that are inlined into it, which are not recursive."""

    def callees_of(name: str) -> Iterator[str]:
        return (each for each in functions[name].calls if functions[each].inlined)

    seen: set[str] = set()
    for start in functions:
        waiting = [(start, callees_of(start))] if start not in seen else []
        seen.add(start)
        while waiting:
            name, callees = waiting[-1]
            callee = next((each for each in callees if each not in seen), None)
            if callee is None:
                yield name
                waiting.pop()
            else:
                seen.add(callee)
                waiting.append((callee, callees_of(callee)))


def _reaching_atomics(functions: Mapping[str, _Function], order: list[str]) -> set[str]:
    """The functions that an atomic access is in, or in what they call."""
    found = {name for name in order if functions[name].atomic}
    known = -1
    while known != len(found):  # more than once only for functions that stay functions
        known = len(found)
        found.update(name for name in order if not found.isdisjoint(functions[name].calls))
    return found


def _used_by_pauses(
    functions: Mapping[str, _Function], order: list[str], sizes: Mapping[str, int], atomic: set[str]
) -> set[str]:
    """The functions that pause, or call a small one that does, and what they call in turn that
    reaches no atomic access."""
    pausing: set[str] = set()
    for name in order:
        small = (callee for callee in functions[name].calls if sizes[callee] <= SMALL)
        if functions[name].pauses or not pausing.isdisjoint(small):
            pausing.add(name)
    found: set[str] = set()
    waiting = list(pausing)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting.extend(callee for callee in functions[name].calls if callee not in atomic)
    return found


def _remains(functions: Mapping[str, _Function], name: str, inlined: set[str]) -> bool:
    """Whether the function itself is part of the result."""
    return name not in inlined or functions[name].pointed


def _sizes(
    functions: Mapping[str, _Function], order: list[str], inlined: set[str]
) -> tuple[dict[str, int], Counter[str]]:
    """The lines of each function with what is inlined into it, and of how many copies of it the
    result consists."""
    sizes: dict[str, int] = {}
    for name in order:
        each = functions[name]
        within = (n * sizes[callee] for callee, n in each.calls.items() if callee in inlined)
        sizes[name] = each.lines + sum(within)
    copies: Counter[str] = Counter()
    for name in reversed(order):
        copies[name] += _remains(functions, name, inlined)
        for callee, n in functions[name].calls.items():
            if callee in inlined:
                copies[callee] += n * copies[name]
    return sizes, copies


def _with_functions(text: str, stay: set[str]) -> str:
    """The module in which these functions stay functions."""
    words = {int(number): each for number, each in _GROUP.findall(text)}
    first = max(words, default=0) + 1  # of the groups without `alwaysinline`

    def changed(match: re.Match[str]) -> str:
        if match["name"] not in stay:
            return match[0]
        line = match[0].replace(" alwaysinline", "")
        return re.sub(r"#(\d+)", lambda group: f"#{first + int(group[1])}", line, count=1)

    groups = (
        # a group must not be empty, so each holds a word that LLVM does not know
        f'attributes #{first + number} = {{ "weakspot"{each.replace(" alwaysinline", "")}}}\n'
        for number, each in words.items()
    )
    return "".join((_DEFINE.sub(changed, text), "\n", *groups))
