"""Calls that become calls of functions in `library/`, in the text of LLVM IR.

`syscall` has any number of arguments and a meaning that depends on the first: each system call that
is known is a function. A function whose name begins with `__VERIFIER_atomic_` is an atomic section
(SV-COMP, "Rules", data races and atomicity).
"""

from __future__ import annotations

import re

_PARENTHESISED = r"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)"
"""A part of a constant expression."""

_SYSCALL = re.compile(
    r"^(?P<indent> +)(?P<result>%\S+ = )?(?:tail )?(?P<how>call|invoke) (?:noundef )?i64 "
    r"\(i64, \.\.\.\) "
    r"@syscall\(i64 (?:noundef )?(?P<number>\d+|%[-\w.$]+)"
    rf"(?P<arguments>(?:[^()\n]|{_PARENTHESISED})*)\)[^\n]*?(?P<place>, !dbg !\d+)?"
    r"(?:, !noalias !\d+)?$",
    re.MULTILINE,
)
_SYSTEM_CALLS = {
    202: ("weakspot_futex", 6),
    186: ("weakspot_gettid", 0),
    24: ("weakspot_yield", 0),
    309: ("weakspot_getcpu", 3),
    324: ("weakspot_membarrier", 2),
    334: ("weakspot_rseq", 4),
    203: ("weakspot_setaffinity", 3),
    39: ("weakspot_getpid", 0),
}
"""System calls of Linux on x86-64 by number: the function, and the number of its arguments."""
_ANY = ("weakspot_syscall", 7)
"""The function for a number that is not a constant, which is its first argument."""

_ARGUMENT = re.compile(
    r"(?P<type>ptr|i32|i64) (?:(?:noundef|nonnull|signext|zeroext|noalias|readonly|readnone) "
    r"|align \d+ |dereferenceable(?:_or_null)?\(\d+\) |captures\(none\) )*(?P<value>\S.*)"
)

_INTRINSICS = {
    r"(?:x86\.rdtsc|readcyclecounter)": "weakspot_cycles",
    r"x86\.rdtscp": "weakspot_cycles_of",
    r"thread\.pointer(?:\.p0)?": "weakspot_thread_pointer",
    r"x86\.sse2\.mfence": "weakspot_mfence",
    r"x86\.sse2\.lfence": "weakspot_lfence",
    r"x86\.sse\.sfence": "weakspot_sfence",
}
"""What instructions do for which clang has functions of its own."""

_ATOMIC_FUNCTION = re.compile(
    r"^ +(?:%\S+ = )?(?:tail )?call [^@\n]*@__VERIFIER_atomic_(?!begin\(|end\()\w+\([^\n]*?"
    r"(?P<place>, !dbg !\d+)?$",
    re.MULTILINE,
)


def replace_system_calls(text: str) -> str:
    """The IR with known system calls replaced; others stay calls of `syscall`."""
    used: set[str] = set()

    def replaced(match: re.Match[str]) -> str:
        number, arguments = match["number"], match["arguments"]
        if number.startswith("%"):
            (name, count), arguments = _ANY, f"i64 {number}{arguments}"
        else:
            name, count = _SYSTEM_CALLS.get(int(number), ("", 0))
        texts = re.findall(rf"(?:[^(),\n]|{_PARENTHESISED})+", arguments)
        given = [_ARGUMENT.fullmatch(each.strip()) for each in texts][:count]
        if not name or None in given:
            return match[0]
        used.add(f"declare i64 @{name}({', '.join(['i64'] * count)})\n")
        lines, values = [], []
        for at, argument in enumerate(given):
            assert argument is not None
            type_, value = argument["type"], argument["value"]
            if type_ == "i64":
                values.append(f"i64 {value}")
                continue
            wide = f"%system.{match.start()}.{at}"
            cast = "ptrtoint" if type_ == "ptr" else "zext"
            lines.append(
                f"{match['indent']}{wide} = {cast} {type_} {value} to i64{match['place'] or ''}"
            )
            values.append(f"i64 {wide}")
        values += ["i64 0"] * (count - len(values))
        call = f"{match['result'] or ''}{match['how']} i64 @{name}({', '.join(values)})"
        return "\n".join([*lines, f"{match['indent']}{call}{match['place'] or ''}"])

    text = _SYSCALL.sub(replaced, text)
    for pattern, name in _INTRINSICS.items():
        text = re.sub(rf"@llvm\.{pattern}\(", f"@{name}(", text)
    return "".join([text, *sorted(used)])


def enclose_atomic_functions(text: str) -> str:
    """The IR with each call of a `__VERIFIER_atomic_` function in an atomic section."""

    def enclosed(match: re.Match[str]) -> str:
        begin, end = (
            f"  call void @__VERIFIER_atomic_{which}(){match['place'] or ''}"
            for which in ("begin", "end")
        )
        return f"{begin}\n{match[0]}\n{end}"

    changed = _ATOMIC_FUNCTION.sub(enclosed, text)
    for which in ("begin", "end") if changed != text else ():
        name = f"@__VERIFIER_atomic_{which}"
        if not re.search(rf"^(?:declare|define) [^\n]*{name}\(", changed, re.MULTILINE):
            changed += f"declare void {name}()\n"
    return changed
