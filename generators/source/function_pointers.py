"""Pointers to functions that the engine performs, in the text of LLVM IR.

In: a linked module. Out: the module in which each pointer to such a function is one to a function
that calls it, so that `free` can be the destructor of a key.
"""

from __future__ import annotations

import re

_TYPE = r"(?:void|ptr|i\d+|float|double)"
_DECLARED = re.compile(
    rf"^declare (?:[\w()]+ )*?(?P<result>{_TYPE}) @(?P<name>\w+)\("
    rf"(?P<parameters>(?:{_TYPE}(?: [\w()]+)*(?:, )?)*)\)",
    re.MULTILINE,
)
_PERFORMED = (
    *("malloc", "calloc", "realloc", "free", "aligned_alloc"),
    *("memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strcmp", "strncmp", "strchr"),
    *("pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_unlock"),
    *("pthread_mutex_destroy", "pthread_cond_destroy", "pthread_cond_signal"),
    *("pthread_cond_broadcast", "abort", "__cxa_pure_virtual"),
)
_USED = re.compile(rf"@({'|'.join(_PERFORMED)})(?![\w$.(])")


def callable_pointers(text: str) -> str:
    """The module with its pointers to these functions replaced, unless it defines them."""
    used = set(_USED.findall(text))
    declared = {each["name"]: each for each in _DECLARED.finditer(text) if each["name"] in used}
    if not declared:
        return text

    def replaced(match: re.Match[str]) -> str:
        return f"@weakspot_pointer_{match[1]}" if match[1] in declared else match[0]

    return _USED.sub(replaced, text) + "".join(_caller(each) for each in declared.values())


def _caller(declared: re.Match[str]) -> str:
    """A function that calls the declared one."""
    name, result = declared["name"], declared["result"]
    types = re.findall(rf"(?:^|, )({_TYPE})", declared["parameters"])
    arguments = ", ".join(f"{type_} %{at}" for at, type_ in enumerate(types))
    value = "" if result == "void" else "%result = "
    returned = "void" if result == "void" else f"{result} %result"
    return (
        f"\ndefine internal {result} @weakspot_pointer_{name}({arguments}) {{\n"
        f"start:\n  {value}call {result} @{name}({arguments})\n  ret {returned}\n}}\n"
    )
