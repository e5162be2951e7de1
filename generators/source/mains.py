"""Which sources have a `main`, by the text alone.

In: the code of a file, and the options for the compiler. Out: whether it is that of a program, or
only with a macro that is not defined.
"""

from __future__ import annotations

import re
from pathlib import Path

from weakspot.generators.source.build import Build

_MAIN = re.compile(rb"\bmain\s*\(")
_NO_CODE = re.compile(rb"//[^\n]*|/\*.*?\*/|([\"'])(?:\\.|(?!\1)[^\\\n])*\1", re.DOTALL)
"""Comments and literals."""


_DIRECTIVE = re.compile(rb"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)")
_DEFINE = re.compile(rb"^\s*#\s*define\s+(\w+)", re.MULTILINE)
_IS_DEFINED = re.compile(rb"(?:\s*defined\b)?[\s(]*([A-Za-z]\w*)[\s)]*")
"""A condition that demands one macro. A name that begins with _ may be the compiler's."""


def code_of(file: Path) -> bytes:
    """The text of a file without its comments and literals."""
    return _NO_CODE.sub(b" ", file.read_bytes())


def mentions_main(text: bytes) -> bool:
    """Whether a file's code has a main, under whatever condition."""
    return _MAIN.search(text) is not None


def has_main(text: bytes, build: Build) -> bool:
    """Whether a file has a main without a macro that neither the build nor the file defines, as one
    that tries out the rest of the file has."""
    words = [word for layer in build.layers for word in (*layer.defines, *layer.flags)]
    defined = {word.removeprefix("-D").partition("=")[0].encode() for word in words}
    defined |= set(_DEFINE.findall(text))
    left_out: list[bool] = []
    for line in text.splitlines():
        directive = _DIRECTIVE.match(line)
        if directive is None:
            if not any(left_out) and _MAIN.search(line):
                return True
        elif directive[1] in (b"if", b"ifdef"):
            macro = _IS_DEFINED.fullmatch(directive[2])
            left_out.append(macro is not None and macro[1] not in defined)
        elif directive[1] == b"ifndef":
            left_out.append(False)
        elif left_out:
            left_out.pop()
            if directive[1] != b"endif":
                left_out.append(False)
    return False
