"""The threads of a Test as C11."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weakspot.generators.litmus import C_ORDER, Cas, Fence, Guard, Load, Rmw, Statement, Store

#: the value of a register whose load is not reached; no generated write stores it
UNREACHED = -1

#: the C function of each read-modify-write
CALL = {
    "exch": "atomic_exchange_explicit",
    "fetch.add": "atomic_fetch_add_explicit",
    "fetch.sub": "atomic_fetch_sub_explicit",
    "fetch.or": "atomic_fetch_or_explicit",
    "fetch.and": "atomic_fetch_and_explicit",
    "fetch.xor": "atomic_fetch_xor_explicit",
}


def thread(
    number: int, statements: Sequence[Statement], plain: frozenset[str], expected: dict[str, int]
) -> str:
    """A thread of a test; the locations that hold expected values are added to `expected`."""
    parameters: dict[str, str] = {}
    lines: list[str] = []
    guarded = guarded_registers(statements)
    lines.extend(f"  int {reg} = {UNREACHED};" for reg in guarded)
    depth = 1
    for statement in statements:
        pad = "  " * depth
        if isinstance(statement, Guard):
            lines.append(f"{pad}if ({statement.reg} == {statement.value}) {{")
            depth += 1
            continue
        if not isinstance(statement, Fence):
            kind = "int*" if statement.loc in plain else "atomic_int*"
            parameters[statement.loc] = kind
        if isinstance(statement, Cas):
            cell = f"e{len(expected)}"
            expected[cell] = statement.expected
            parameters[cell] = "int*"
            right = expression(statement, cell)
        else:
            right = expression(statement)
        if isinstance(statement, Load | Rmw | Cas):
            declare = "" if statement.reg in guarded else "int "
            right = f"{declare}{statement.reg} = {right}"
        lines.append(f"{pad}{right};")
    lines.extend("  " * level + "}" for level in range(depth - 1, 0, -1))
    head = ", ".join(f"{kind} {name}" for name, kind in parameters.items())
    return "\n".join([f"P{number} ({head}) {{", *lines, "}", ""])


def guarded_registers(statements: Sequence[Statement]) -> list[str]:
    """The registers that are UNREACHED unless a guard lets their statement run."""
    first = next((n for n, s in enumerate(statements) if isinstance(s, Guard)), len(statements))
    return [s.reg for s in statements[first:] if isinstance(s, Load | Rmw | Cas)]


def expression(
    statement: Load | Store | Rmw | Cas | Fence,
    cell: str = "",
    value: Callable[[str, int], str] = lambda _, number: str(number),
) -> str:
    """The C expression of a statement but a Guard. `cell` points to the expected value of a
    compare-exchange; `value` writes a number that is put into a location."""
    match statement:
        case Load(loc=loc, order="na"):
            return f"*{loc}"
        case Load(loc=loc, order=order):
            return f"atomic_load_explicit({loc},{C_ORDER[order]})"
        case Store(loc=loc, value=number, order="na"):
            return f"*{loc} = {value(loc, number)}"
        case Store(loc=loc, value=number, order=order):
            return f"atomic_store_explicit({loc},{value(loc, number)},{C_ORDER[order]})"
        case Rmw(loc=loc, op=op, operand=operand, order=order):
            return f"{CALL[op]}({loc},{value(loc, operand)},{C_ORDER[order]})"
        case Cas(loc=loc, desired=desired, success=success, failure=failure, weak=weak):
            strength = "weak" if weak else "strong"
            return (
                f"atomic_compare_exchange_{strength}_explicit"
                f"({loc},{cell},{value(loc, desired)},{C_ORDER[success]},{C_ORDER[failure]})"
            )
        case Fence(order=order):
            return f"atomic_thread_fence({C_ORDER[order]})"
