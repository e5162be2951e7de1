"""Templates of inline assembly statements, as LLVM writes them, as lists of instructions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weakspot.generators.source.assembly.operands import NotUnderstood

_DIALECTS = re.compile(r"\$\((.*?)\$\|.*?\$\)")
"""What is written in the dialect of AT&T and, after a bar, in Intel's."""
_LABEL = re.compile(r"[\w.$]+(?:\$\{:uid\})?: ?")
_CAPITALS = re.compile(r"^[A-Z][A-Z0-9]*(?: [A-Z][A-Z0-9]*)*(?= |$)")
"""A mnemonic with its prefixes, in capital letters, which mean the same."""
_NUMBERED = re.compile(r"\d+[bf]")
JUMP = re.compile(r"j([a-z]+) (\S+)")
_TURN = re.compile(r"rolq \$\$(\d+),(%r\w+)")
_PREFIXES = re.compile(r"(?:lock|rep|xacquire|xrelease|\.byte 0xf[23])(?: lock)?")
_ELISION = re.compile(r"(?:xacquire|xrelease|\.byte 0xf[23]) (?=lock |xchg|mov)")
"""A hint that a lock may be elided, which processors without elision ignore (Intel's SDM, volume 1,
16.3.1)."""


def instructions(template: str) -> list[str]:
    """The instructions of a template, each with its prefix: "lock xaddl $0,$1"."""
    text = template.replace("\\09", " ").replace("\\0A", "\n").replace("\\0D", "\n")
    text = _DIALECTS.sub(r"\1", text)
    text = re.sub(r"#(?!\d).*|/\*.*?\*/", " ", text)
    found: list[str] = []
    for part in re.split(r"[;\n]", text):
        one = re.sub(r"\s+", " ", part.strip())
        one = re.sub(r" ?, ?", ",", one)
        while label := _LABEL.match(one):
            found.append(label[0].strip())
            one = one[label.end() :]
        if not one:
            continue
        one = _CAPITALS.sub(lambda words: words[0].lower(), one)
        if found and _PREFIXES.fullmatch(found[-1]):
            one = f"{found.pop()} {one}"
        found.append(_ELISION.sub("", one))
    return found


def without_full_turns(found: Sequence[str]) -> list[str]:
    """The instructions, where those that rotate a register in a row, by its width in total, are one
    that rotates it by nothing: the request to a tool that begins so is ignored without the tool."""
    kept: list[str] = []
    for text in found:
        turn, before = _TURN.fullmatch(text), _TURN.fullmatch(kept[-1]) if kept else None
        if turn and before and turn[2] == before[2]:
            kept[-1] = f"rolq $${(int(turn[1]) + int(before[1])) % 64},{turn[2]}"
        else:
            kept.append(text)
    return kept


def with_own_labels(found: Sequence[str]) -> list[str]:
    """The instructions with a name of its own for each local label and for each jump to one. Raises
    NotUnderstood for a jump to elsewhere."""
    labels = [(at, each[:-1]) for at, each in enumerate(found) if each.endswith(":")]

    def target(name: str, at: int) -> str:
        number, way = (name[:-1], name[-1]) if _NUMBERED.fullmatch(name) else (name, "")
        there = [
            place
            for place, each in labels
            if each == number and (way != "b" or place <= at) and (way != "f" or place > at)
        ]
        if not there:
            raise NotUnderstood(f"a jump to {name}")
        return f"label{there[-1] if way == 'b' else there[0]}"

    def renamed(at: int, text: str) -> str:
        if text.endswith(":"):
            return f"label{at}:"
        jump = JUMP.fullmatch(text)
        return f"j{jump[1]} {target(jump[2], at)}" if jump else text

    return [renamed(at, each) for at, each in enumerate(found)]
