"""Panics that a Rust function cannot reach: the branches to them are removed.

In: the text of a module after the passes, where a panic is a failed assertion. Out: the text in
which functions that pause do not branch to panics that cannot happen.

A loop that pauses longer after each look, as crossbeam's Backoff does, counts its looks, and the
arithmetic panics on overflow. The explorer finds that a loop waits if only its pauses depend on the
counter (engine/program/src/lower/relevance.rs); here a panic does. LLVM decides whether it can
happen: in a copy of the module each panic calls a function of its own, and a call that LLVM's
passes remove is never made.
"""

from __future__ import annotations

import re
from typing import Any

from weakspot.generators.source.inlining import pauses

_PANIC = re.compile(r"call void @__assert_fail\(ptr @weakspot\.panic,[^\n]*?\)(?: #\d+)?(?=[,\n])")
_DEFINE = re.compile(
    r'^define [^@\n]*@(?P<name>"[^"]*"|[-\w$.]+)\([^\n]*\n(?P<body>.*?\n)\}\n', re.M | re.S
)
_BLOCK = re.compile(r'^(?P<label>"[^"]*"|[-\w$.]+):[^\n]*\n(?P<lines>(?:[ ;][^\n]*\n)*)', re.M)
_BRANCH = re.compile(
    r'br i1 [^,\n]+, label %(?P<then>"[^"]*"|[-\w$.]+), label %(?P<otherwise>"[^"]*"|[-\w$.]+)'
)
_INCREMENT = re.compile(
    r"(?P<sum>  (?P<pair>%\S+) = call \{ i(?P<bits>\d+), i1 \} "
    r"@llvm\.(?P<sign>[su])add\.with\.overflow\.i\d+\(i\d+ (?P<value>%[^,]+), i\d+ 1\)[^\n]*\n"
    r"  %\S+ = extractvalue \{ i\d+, i1 \} (?P=pair), 0[^\n]*\n)"
    r"  (?P<overflow>%\S+) = extractvalue \{ i\d+, i1 \} (?P=pair), 1"
)
_CALLEE = "weakspot.panic."
"""What a panic calls in the copy, with its place in the text."""

_CALLED = re.compile(rf"@{re.escape(_CALLEE)}(\d+)\b")

PASSES = (
    "simplify_cfg",
    "instruction_combine",
    "jump_threading",
    "loop_simplify",
    "loop_rotate",
    "loop_unroll",
    "instruction_combine",
    "jump_threading",
    "sccp",
    "simplify_cfg",
)
"""They compare with dominating conditions, and unroll loops such as that of `pow`."""


def without_impossible(llvm: Any, text: str, builder: Any) -> str:
    """The module without branches to panics that LLVM shows to be impossible."""
    if _PANIC.search(text) is None:
        return text  # of C and C++
    functions = [
        match
        for match in _DEFINE.finditer(text)
        if pauses(match["body"]) and _PANIC.search(match["body"])
    ]
    if not functions:
        return text
    possible = _possible(llvm, text, {match["name"].strip('"') for match in functions}, builder)
    parts, done = [], 0
    for match in functions:
        parts += [text[done : match.start("body")], _pruned(match, possible)]
        done = match.end("body")
    return "".join([*parts, text[done:]])


def _possible(llvm: Any, text: str, functions: set[str], builder: Any) -> set[int]:
    """Where in the text panics are that LLVM's passes over these functions leave."""
    places = [panic.start() for panic in _PANIC.finditer(text)]
    copy = _PANIC.sub(lambda panic: f"call void @{_CALLEE}{panic.start()}()", text)
    copy = _INCREMENT.sub(_compared, copy)
    declared = "".join(f"declare void @{_CALLEE}{at}() noreturn\n" for at in places)
    # a module must not outlive its context, which garbage collection does not know
    context = llvm.create_context()
    with llvm.parse_assembly(f"{copy}\n{declared}", context=context) as module:
        found: set[int] = set()
        for function in module.functions:
            if function.name in functions:
                passes = llvm.create_new_function_pass_manager()
                for name in PASSES:
                    getattr(passes, f"add_{name}_pass")()
                passes.run(function, builder)
                found.update(map(int, _CALLED.findall(str(function))))
        return found


def _compared(increment: re.Match[str]) -> str:
    """An increment whose overflow is a comparison, which passes compare with dominating ones."""
    bits, value = int(increment["bits"]), increment["value"]
    most = -1 if increment["sign"] == "u" else (1 << (bits - 1)) - 1
    return f"{increment['sum']}  {increment['overflow']} = icmp eq i{bits} {value}, {most}"


def _pruned(function: re.Match[str], possible: set[int]) -> str:
    """The body of a function without branches to panics that are not among the possible ones."""
    body, start = function["body"], function.start("body")
    impossible = {
        block["label"]
        for block in _BLOCK.finditer(body)
        for panic in _PANIC.finditer(block["lines"])
        if start + block.start("lines") + panic.start() not in possible
    }

    def decided(branch: re.Match[str]) -> str:
        then, otherwise = branch["then"], branch["otherwise"]
        if (then in impossible) == (otherwise in impossible):
            return branch[0]
        return f"br label %{otherwise if then in impossible else then}"

    return _BRANCH.sub(decided, body)
