"""Differences between two answers to one question, field by field.

An answer is an object of `--json`, or a file that a command wrote. Every field is compared except
those in `UNCOMPARED`; a difference is one of three kinds:

    answer    a status, state, count, site, name or number differs, or a field is missing
    wording   only text that is written for people differs: a message, a reason, a comment
    new       the new side has a field that the old one lacks
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

DifferenceKind = Literal["answer", "wording", "new"]

UNCOMPARED = {"seconds", "descents", "path", "folder", "key"}
"""Times, places on the disk, and the keys of stored jobs, which contain versions."""

WORDING = {
    *("message", "reason", "reasons", "why", "fix", "what", "notes"),
    *("title", "source", "about", "says", "where", "reference"),
}
"""Text for people: of explorations, findings and weakest orders; of claims.toml and models.toml."""

RENAMED = {"cut": ("truncated", "ended_early"), "controls": ("control_tests",)}
"""Fields by their names in older revisions, and what they are called now."""

RENAMED_VALUES = {"told": "reported", "Kept": "Preserved"}

IDENTITY = (
    *("label", "test", "program", "subject", "structure", "scenario", "name", "model", "under"),
    *("checker", "source", "target", "builds", "code", "id"),
)
"""The fields that say what an answer is about; sites are among them in a finding."""

_COMMENT = re.compile(r"\(\*.*?\*\)\n?", re.DOTALL)
_TIME = re.compile(r"\bin \d+(\.\d+)? m?s\b")


class Difference(NamedTuple):
    """`field` is the path within the answer: violations[0].sites."""

    kind: DifferenceKind
    field: str
    old: Any
    new: Any


def of_values(old: Any, new: Any, field: str = "") -> Iterator[Difference]:
    """The differences between two JSON values."""
    if isinstance(old, dict) and isinstance(new, dict):
        now = {key: _present(key, new) for key in old}
        for old_key, value in old.items():
            key = now[old_key]
            inner = f"{field}.{key}" if field else key
            if key in UNCOMPARED:
                continue
            if key not in new:
                yield Difference("answer", inner, value, None)
            elif key in WORDING or (key == "text" and "evidence[" in field):
                if _untimed(value) != _untimed(new[key]):
                    yield Difference("wording", inner, value, new[key])
            elif key == "text":
                yield from of_texts(value, new[key], inner)
            else:
                yield from of_values(value, new[key], inner)
        for key in new.keys() - set(now.values()):
            yield Difference("new", f"{field}.{key}" if field else key, None, new[key])
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from of_values(before, after, f"{field}[{number}]")
    elif canonical(_renamed(old)) != canonical(new):
        yield Difference("answer", field, old, new)


def _present(key: str, new: Mapping[str, Any]) -> str:
    """The name of an old field in the new answer, or its own."""
    return next((name for name in (key, *RENAMED.get(key, ())) if name in new), key)


def _renamed(value: Any) -> Any:
    return RENAMED_VALUES.get(value, value) if isinstance(value, str) else value


def of_texts(old: str, new: str, field: str) -> Iterator[Difference]:
    """The difference between two litmus tests: only of wording where comments alone differ."""
    if old == new:
        return
    kind: DifferenceKind = "answer" if _COMMENT.sub("", old) != _COMMENT.sub("", new) else "wording"
    changed = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
    lines = [line for line in changed if not line.startswith(("---", "+++", "@@"))]
    removed = [line[1:] for line in lines if line[0] == "-"]
    added = [line[1:] for line in lines if line[0] == "+"]
    yield Difference(kind, field, "\n".join(removed), "\n".join(added))


def identified(answers: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The answers by what they are about; several about one thing are numbered."""
    found: dict[str, Mapping[str, Any]] = {}
    for answer in answers:
        fields = (*IDENTITY, "sites") if "severity" in answer else IDENTITY
        words = [_word(answer[key]) for key in fields if answer.get(key)]
        base = name = " ".join(words)
        number = 1
        while name in found:
            number += 1
            name = f"{base} ({number})"
        found[name] = answer
    return found


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ",".join(map(str, value))


def _untimed(value: Any) -> str:
    """Without the times that messages name."""
    return _TIME.sub("in … s", canonical(value))


# --- sources whose comments were changed ------------------------------------------------------

_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)

Lines = Mapping[str, Mapping[int, int]]
"""By file name, the line in the old file for each line of the new one."""


def code(text: str) -> list[tuple[int, str]]:
    """The lines of a C source that hold code, numbered, without comments."""

    def bare(match: re.Match[str]) -> str:
        return match[0] if match[0][0] == '"' else "\n" * match[0].count("\n")

    lines = _TOKEN.sub(bare, text).splitlines()
    return [(number, line.rstrip()) for number, line in enumerate(lines, 1) if line.strip()]


def line_numbers(old: str, new: str) -> tuple[bool, dict[int, int]]:
    """Whether two versions of a source have the same code, and the old line for each new line."""
    before, after = code(old), code(new)
    matcher = difflib.SequenceMatcher(
        None, [line for _, line in before], [line for _, line in after], autojunk=False
    )
    numbers = {
        after[block.b + offset][0]: before[block.a + offset][0]
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }
    return len(numbers) == len(before) == len(after), numbers


def renumbered(value: Any, lines: Lines) -> Any:
    """The value with `file:line`, and "file" beside "line", as in the old sources."""
    if not lines:
        return value
    if isinstance(value, str):
        names = "|".join(map(re.escape, lines))
        return re.sub(
            rf"(?<![\w-])({names}):(\d+)",
            lambda match: f"{match[1]}:{lines[match[1]].get(int(match[2]), match[2])}",
            value,
        )
    if isinstance(value, list):
        return [renumbered(each, lines) for each in value]
    if isinstance(value, dict):
        found = {key: renumbered(each, lines) for key, each in value.items()}
        if isinstance(found.get("line"), int) and found.get("file") in lines:
            found["line"] = lines[found["file"]].get(found["line"], found["line"])
        return found
    return value
