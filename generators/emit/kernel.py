"""The threads of a Test as the Linux kernel's C, with the primitives that linux-kernel.def has.

A location with an update that only atomic_t has is an `atomic_t`, and its other accesses are those
of that type; others are `int`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from weakspot.generators.emit.c11 import UNREACHED, guarded_registers
from weakspot.generators.litmus import (
    Atom,
    Body,
    Cas,
    Fence,
    Guard,
    Load,
    Order,
    Rmw,
    Statement,
    Store,
)

_OTHER = "other"
"""What pointers point to at first."""

IN_A_KERNEL = "it has the Linux kernel's primitives, which run in a kernel alone"
"""Why no program is made of a source or a test."""
OF_A_TEST = f"{IN_A_KERNEL}: klitmus7 makes a kernel module of it"

_SUFFIX: dict[Order, str] = {
    "once": "_relaxed",
    "acquire": "_acquire",
    "release": "_release",
    "mb": "",
}
_FENCE: dict[Order, str] = {
    "mb": "smp_mb",
    "rmb": "smp_rmb",
    "wmb": "smp_wmb",
    "before-atomic": "smp_mb__before_atomic",
    "after-atomic": "smp_mb__after_atomic",
    "sync-rcu": "synchronize_rcu",
}


def thread(number: int, body: Body) -> str:
    """A thread of a test."""
    statements = body.threads[number]
    atomic = _atomics(body)
    guarded = guarded_registers(statements)
    through = _through(statements, body.pointers)
    names: dict[str, None] = {}
    for each in statements:
        if isinstance(each, Load | Store | Rmw | Cas) and not (
            isinstance(each, Load) and each.loc in through
        ):
            names[each.loc] = None
        if isinstance(each, Store) and each.loc in body.pointers:
            names[body.pointers[each.loc]] = None
    types = dict.fromkeys(body.pointers, "int **") | dict.fromkeys(atomic, "atomic_t *")
    head = ", ".join(f"{types.get(name, 'int *')}{name}" for name in names)
    lines = [f"P{number}({head})", "{"]
    pointers = through.values()
    lines += [
        f"\tint {'*' if register in pointers else ''}{register};"
        for register in _registers(statements)
        if register not in guarded
    ]
    lines += [f"\tint {register} = {UNREACHED};" for register in guarded]
    depth = 1
    if number in body.sections:
        lines.append("\trcu_read_lock();")
    for statement in statements:
        pad = "\t" * depth
        if isinstance(statement, Guard):
            lines.append(f"{pad}if ({statement.reg} == {statement.value}) {{")
            depth += 1
            continue
        match statement:
            case Store(loc=loc, order=order) if loc in body.pointers:
                stored = _store(loc, body.pointers[loc], order, is_atomic=False)
                lines.append(f"{pad}{stored};")
            case Load(reg=reg, loc=loc, order=order) if loc in through:
                loaded = _load(through[loc], order, is_atomic=False)
                lines.append(f"{pad}{reg} = {loaded};")
            case _:
                lines.append(f"{pad}{expression(statement, atomic)};")
    lines += ["\t" * level + "}" for level in range(depth - 1, 0, -1)]
    if number in body.sections:
        lines.append("\trcu_read_unlock();")
    return "\n".join([*lines, "}", ""])


def initial(body: Body) -> Iterator[str]:
    """The initial state; klitmus7 asks for the type of an `atomic_t`."""
    atomic = _atomics(body)
    for name in body.locations:
        value = body.init.get(name, 0)
        if name in body.pointers:
            yield f"{name}={_OTHER};"
        elif name in atomic:
            yield f"atomic_t {name} = ATOMIC_INIT({value});"
        elif value:
            yield f"[{name}]={value};"


def value(each: Atom, body: Body) -> str:
    """The value that a part of the condition asks for: a number, or what a pointer points to."""
    loc = each.name
    if each.thread is not None:
        loads = (one for one in body.threads[each.thread] if isinstance(one, Load))
        loc = next((load.loc for load in loads if load.reg == each.name), "")
    return body.pointers.get(loc, str(each.value))


def _through(statements: Sequence[Statement], pointers: Mapping[str, str]) -> dict[str, str]:
    """The registers through which a thread accesses locations."""
    loads = (each for each in statements if isinstance(each, Load))
    return {pointers[each.loc]: each.reg for each in loads if each.loc in pointers}


def _atomics(body: Body) -> frozenset[str]:
    """The locations that are `atomic_t`."""
    statements = (each for thread in body.threads for each in thread)
    return frozenset(each.loc for each in statements if isinstance(each, Rmw) and each.op != "exch")


def _registers(statements: Sequence[Statement]) -> list[str]:
    return [each.reg for each in statements if isinstance(each, Load | Rmw | Cas) and each.reg]


def expression(statement: Load | Store | Rmw | Cas | Fence, atomic: frozenset[str]) -> str:
    """The statement, without what ends it."""
    match statement:
        case Fence(order=order):
            return f"{_FENCE[order]}()"
        case Load(reg=reg, loc=loc, order=order):
            return f"{reg} = {_load(loc, order, is_atomic=loc in atomic)}"
        case Store(loc=loc, value=value, order=order):
            return _store(loc, value, order, is_atomic=loc in atomic)
        case Rmw(loc=loc, op=op, operand=operand, order="noreturn"):
            return f"atomic_{op.removeprefix('fetch.')}({operand}, {loc})"
        case Rmw(reg=reg, loc=loc, op="exch", operand=operand, order=order):
            prefix = "atomic_" if loc in atomic else ""
            return f"{reg} = {prefix}xchg{_SUFFIX[order]}({loc}, {operand})"
        case Rmw(reg=reg, loc=loc, op=op, operand=operand, order=order):
            name = f"atomic_{op.replace('.', '_')}{_SUFFIX[order]}"
            return f"{reg} = {name}({operand}, {loc})"
        case Cas(reg=reg, loc=loc, expected=expected, desired=desired, success=order):
            prefix = "atomic_" if loc in atomic else ""
            return f"{reg} = {prefix}cmpxchg{_SUFFIX[order]}({loc}, {expected}, {desired})"


def _load(loc: str, order: Order, *, is_atomic: bool) -> str:
    if order == "na":
        return f"*{loc}"
    if is_atomic:
        return f"atomic_read{'_acquire' if order == 'acquire' else ''}({loc})"
    return f"smp_load_acquire({loc})" if order == "acquire" else f"READ_ONCE(*{loc})"


def _store(loc: str, value: int | str, order: Order, *, is_atomic: bool) -> str:
    if order == "na":
        return f"*{loc} = {value}"
    if is_atomic:
        return f"atomic_set{'_release' if order == 'release' else ''}({loc}, {value})"
    if order == "release":
        return f"smp_store_release({loc}, {value})"
    return f"WRITE_ONCE(*{loc}, {value})"
