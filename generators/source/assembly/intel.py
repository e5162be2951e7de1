"""Instructions in Intel's syntax, as Rust writes them, in AT&T's.

In: an instruction of a template, as `instructions` gives it. Out: the same with its operands in the
other sequence, memory as `8(%rsp)` and its size at the instruction's name. What is not understood
stays as it is, and then has no meaning in AT&T's syntax either.
"""

from __future__ import annotations

import re

_OPERAND = r"\$\d+|\$\{\d+(?::\w)?\}"
_WIDTHS = {"byte": "b", "word": "w", "dword": "l", "qword": "q"}
_MEMORY = re.compile(
    rf"(?:(?P<size>\w+) ptr ?)?\[ ?(?P<base>{_OPERAND}|[a-z]\w*) ?(?P<offset>[-+] ?\d+)? ?\]"
)
_INSTRUCTION = re.compile(r"(?P<name>(?:lock |rep )?[a-z]\w*) (?P<operands>.*)")


def in_att_syntax(instruction: str) -> str:
    """The instruction in AT&T's syntax."""
    found = _INSTRUCTION.fullmatch(instruction)
    if found is None or re.match(r"j[a-z]+ ", instruction):
        return instruction
    suffix, operands = "", []
    for word in reversed(found["operands"].split(",")):
        memory = _MEMORY.fullmatch(word)
        if memory is None:
            operands.append(_plain(word))
            continue
        suffix = _WIDTHS.get(memory["size"] or "", "")
        offset = (memory["offset"] or "").replace(" ", "").removeprefix("+")
        operands.append(f"{offset}({_plain(memory['base'])})")
    return f"{found['name']}{suffix} {','.join(operands)}"


def _plain(word: str) -> str:
    """An operand that is not memory: a number, a register or an operand of the statement."""
    if re.fullmatch(r"-?(?:0x[0-9a-fA-F]+|\d+)", word):
        return f"$${word}"
    return word if re.fullmatch(_OPERAND, word) else f"%{word}"
