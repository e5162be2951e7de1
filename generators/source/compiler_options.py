"""What the options of a compiler's command are for: where headers are searched, what changes the
meaning of a source, what clang alone takes, and what is left out."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from weakspot.errors import BadInput


class Option(msgspec.Struct, frozen=True):
    """An option with its value, and what it is used for."""

    use: Literal["search", "meaning", "clang", "left out"]
    words: tuple[str, ...]


_SEARCH = ("-isystem", "-iquote", "-idirafter", "-I")
_FILES = ("-include", "-imacros")
_VALUED = (
    *("-o", "-MF", "-MT", "-MQ", "-MJ", "-L", "-l", "-T", "-u", "-z", "-target", "-arch", "-B"),
    *("-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-mllvm", "-isysroot", "--param"),
    *("-framework", "-e", "-G", "-aux-info", "-dumpbase", "-x", "--sysroot", "-gcc-toolchain"),
)
"""Options whose value is the next word."""

_LEFT_OUT = re.compile(
    r"-(?:c|S|E|o.*|M.*|O.*|g.*|pipe|v|save-temps.*|fsyntax-only|x.*|###)"
    r"|-(?:l.*|L.*|Wl,.*|Wa,.*|shared.*|static.*|rdynamic|no-?pie|pie|T.*|u|z|s|fuse-ld=.*|n(?:o)?std"
    r"(?:lib|libc|startfiles).*)"
    r"|-f(?:no-)?(?:sanitize.*|profile.*|coverage.*|test-coverage|lto.*|PIE|pie"
    r"|stack-.*|cf-protection.*|instrument-.*|xray.*|integrated-.*)|--coverage|-p|-pg"
    r"|-m(?:arch|cpu|tune|abi|float-abi|fpu)=.*|-m(?:32|64|x32|16|thumb|arm)|--?target(?:=.*)?|-arch"
    r"|--sysroot.*|-isysroot|--gcc-toolchain=.*|-stdlib=.*"
)
"""Options that say where to write, how to link, how to optimize and instrument, or for which
machine: a source is read for one machine, without optimization, and means the same."""

_MEANING = re.compile(r"-[DU].+|-std=.+|-ansi|-pthread|-f(?:no-)?(?:un)?signed-char|-fshort-enums")
_CLANG = re.compile(
    r"-f(?:no-)?(?:exceptions|rtti|char8_t|short-wchar|ms-extensions|gnu-keywords|gnu89-inline"
    r"|builtin(?:-\w+)?|wrapv|blocks|openmp|delayed-template-parsing|sized-deallocation"
    r"|aligned-allocation|threadsafe-statics|freestanding|hosted|operator-names|PIC|pic"
    r"|dollars-in-identifiers|digraphs|(?:template-depth|constexpr-depth|constexpr-steps)=\d+)"
    r"|-m(?:no-)?(?:sse|ssse|avx|aes|bmi|popcnt|lzcnt|pclmul|crc32|cx16|fma|f16c|sha|rdrnd|rtm"
    r"|waitpkg|clflushopt|clwb|movbe|prfchw)[\w.]*"
    r"|-nostdinc(?:\+\+)?|-trigraphs"
)
_OF_COMPILERS = re.compile(r"-(?:O|g|f|m).+|-[Og]|-pthread")
_NOT_OF_A_SCENARIO = re.compile(r"-D(?:NDEBUG|_FORTIFY_SOURCE)(?:=.*)?")
"""Macros of a release build: without assertions there is nothing to check."""


def is_of_compilers(word: str) -> bool:
    """Whether a word of a command line is an option of compilers that takes no other word: one for
    optimization, debugging, code generation or the machine."""
    known = (_LEFT_OUT, _MEANING, _CLANG)
    return bool(_OF_COMPILERS.fullmatch(word)) and any(each.fullmatch(word) for each in known)


def sorted_out(
    words: Sequence[str], folder: Path, *, known_only: bool = False
) -> tuple[Option, ...]:
    """The options among the words of a command that is run in the folder, with those of response
    files (`@FILE`) in their places; other words, such as the source, are not options. With
    `known_only`, options that are not known are left out, as for commands of other compilers, and
    so are macros that remove assertions."""
    return tuple(_sorted(list(_expanded(words, folder)), folder, known_only))


def _expanded(words: Sequence[str], folder: Path) -> Iterator[str]:
    """The words, with those of response files in their places, which may name others."""
    for word in words:
        if not word.startswith("@"):
            yield word
            continue
        path = folder / word[1:]
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
            yield from _expanded(shlex.split(text), folder)
        except OSError as error:
            raise BadInput(
                f"cannot read the response file {word}: {error.strerror}",
                place=str(path),
                advice="write it, or list its options instead",
            ) from error
        except (ValueError, RecursionError) as error:
            raise BadInput(
                f"the response file {word} does not hold options: {error}",
                place=str(path),
                advice="close its quotation marks, and do not let it name itself",
            ) from error


def _sorted(words: list[str], folder: Path, known_only: bool) -> Iterator[Option]:
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("-") or word in ("-", "--"):
            continue
        following = words[at] if at < len(words) else ""
        name = next((each for each in (*_SEARCH, *_FILES) if word.startswith(each)), "")
        if name:
            value = word.removeprefix(name)
            if not value:
                value, at = following, at + 1
            path = os.path.normpath(folder / value)
            if name in _SEARCH:
                yield Option("search", (name, path))
            else:
                # a file that is not in the folder is searched for like a header
                found = Path(path).is_file()
                yield Option("meaning" if found else "clang", (name, path if found else value))
            continue
        if word in ("-D", "-U"):
            word, at = word + following, at + 1
        value_of = (following,) if word in _VALUED and following else ()
        at += len(value_of)
        if _LEFT_OUT.fullmatch(word) or (known_only and _NOT_OF_A_SCENARIO.fullmatch(word)):
            yield Option("left out", (word, *value_of))
        elif _MEANING.fullmatch(word):
            yield Option("meaning", (word,))
        elif _CLANG.fullmatch(word) or not known_only:
            yield Option("clang", (word, *value_of))
        else:
            yield Option("left out", (word, *value_of))
