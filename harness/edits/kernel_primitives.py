"""The Linux kernel's names of operations: which primitive does what another one does, with another
memory order.

In: the name that is written, and a memory order in the notation of `strength`. Out: the name to
write. An access without a relative of its own gets that of plain objects, `smp_store_release`.
"""

from __future__ import annotations

import re
from functools import cache

_ATOMIC = r"(?:raw_)?atomic(?:64|_long)?"
_UPDATE = re.compile(
    rf"(?P<name>(?:try_)?(?:cmp)?xchg"
    rf"|{_ATOMIC}_(?:fetch_\w+?|\w+?_return|xchg|cmpxchg|try_cmpxchg))"
    r"(?:_relaxed|_acquire|_release)?"
)
_TEST = re.compile(rf"(?P<name>{_ATOMIC}_(?:inc|dec|sub|add))_(?:and_test|negative)")
_ACCESS = re.compile(
    rf"(?P<name>{_ATOMIC}_(?:read|set)|smp_cond_load|atomic_cond_read)"
    r"(?:_relaxed|_acquire|_release)?"
)
_SUFFIXES = {"rlx": "_relaxed", "acq": "_acquire", "rel": "_release", "sc": ""}
_PLAIN = {
    ("R", "rlx"): "READ_ONCE",
    ("R", "acq"): "smp_load_acquire",
    ("W", "rlx"): "WRITE_ONCE",
    ("W", "rel"): "smp_store_release",
}
_SAME = {
    ("rcu_dereference", "rlx"),
    ("rcu_access_pointer", "rlx"),
    ("rcu_assign_pointer", "rel"),
    ("RCU_INIT_POINTER", "rlx"),
}
"""Other names of those for plain objects, with their memory orders."""
_FENCES = {
    "rmb": "smp_rmb",
    "wmb": "smp_wmb",
    "sc": "smp_mb",
    "before-atomic": "smp_mb__before_atomic",
    "after-atomic": "smp_mb__after_atomic",
    "after-spinlock": "smp_mb__after_spinlock",
    "after-unlock-lock": "smp_mb__after_unlock_lock",
    "after-srcu-read-unlock": "smp_mb__after_srcu_read_unlock",
    "sync-rcu": "synchronize_rcu",
}
_UNNAMED = {
    "rlx": "a relaxed update",
    "acq": "an update with acquire",
    "rel": "an update with release",
    "sc": "a fully ordered update",
}
_OBJECTS = {"READ_ONCE", "WRITE_ONCE"} | {name for name, _ in _SAME}


@cache
def named(written: str, kind: str, order: str) -> str:
    """The primitive of this kind of operation with a memory order; "none" for a fence that is
    removed. A memory order that the kernel has not is itself."""
    order = order.partition("/")[0]
    if kind == "F":
        return fence(order)
    if (written, order) in _SAME:
        return written
    suffix = _SUFFIXES.get(order)
    if suffix is None or (kind in "RW" and (kind, order) not in _PLAIN):
        return order
    if kind in "RW":
        access = _ACCESS.fullmatch(written)
        if access is None:
            return _PLAIN[kind, order]
        return access["name"] + ("" if order == "rlx" and "_cond_" not in written else suffix)
    if (test := _TEST.fullmatch(written)) is not None:
        return written if order == "sc" else f"{test['name']}_return{suffix}"
    update = _UPDATE.fullmatch(written)
    return _UNNAMED[order] if update is None else update["name"] + suffix


def fence(order: str) -> str:
    """The fence of this name, or the name itself where the kernel has none."""
    return _FENCES.get(order, order)


def is_test(name: str) -> bool:
    """Whether a primitive compares the result of another one with zero."""
    return _TEST.fullmatch(name) is not None


def takes_pointer(name: str) -> bool:
    """Whether a primitive takes a pointer, instead of the object itself."""
    return name not in _OBJECTS
