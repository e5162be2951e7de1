"""A Test as C for CBMC, which decides reachability under its memory models sc, tso and pso.

The threads are `__CPROVER_ASYNC_n` blocks over plain globals: CBMC's models order plain accesses
(Alglave, Kroening and Tautschnig, "Partial orders for efficient bounded model checking of
concurrent software", CAV 2013). Atomics stand for what they compile to, as models/tso.cat and
models/pso.cat say: a read-modify-write is an atomic section between full fences, a seq_cst store
has a full fence after it, under pso a release store or fence has a store barrier before. A
compare-exchange that fails is a plain load, as it is for those models (x86 would fence there, so
they allow no less than the machine does). CBMC's store barrier, like SPARC's, also keeps stores
after the release behind those before it.

Main waits until every thread is done, with its stores out, then looks at the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from weakspot.generators.emit.c11 import UNREACHED, guarded_registers
from weakspot.generators.litmus import Body, Cas, Fence, Guard, Load, Order, Rmw, Statement, Store

MemoryModel = Literal["sc", "tso", "pso"]

#: what the two assertions say when they hold
NEVER, ALWAYS = "the outcome is not reached", "every execution has the outcome"

_FULL = '__CPROVER_fence("WWfence", "RRfence", "RWfence", "WRfence");'
_STORE_BARRIER = '__CPROVER_fence("WWfence", "RWfence");'
_RELEASES = ("rel", "acq_rel", "sc")
_UPDATE = {
    "exch": "{value}",
    "fetch.add": "{old} + {value}",
    "fetch.sub": "{old} - {value}",
    "fetch.or": "{old} | {value}",
    "fetch.and": "{old} & {value}",
    "fetch.xor": "{old} ^ {value}",
}


def cbmc_source(body: Body, memory: MemoryModel) -> str:
    """The C source whose assertions NEVER and ALWAYS answer the Test under a memory model."""
    final = {
        (thread, statement.reg)
        for thread, statements in enumerate(body.threads)
        for statement in statements
        if isinstance(statement, Load | Rmw | Cas)
    }
    final |= {(atom.thread, atom.name) for atom in body.atoms if atom.thread is not None}
    lines = [f"int v_{loc} = {body.init.get(loc, 0)};" for loc in body.locations]
    lines += [f"int {_final(thread, reg)};" for thread, reg in sorted(final)]
    lines += [f"_Bool done_{thread};" for thread in range(len(body.threads))]
    lines += ["_Bool nondet_bool(void);", "", "int main(void)", "{"]
    for number, statements in enumerate(body.threads):
        lines += _thread(number, statements, memory, sorted(r for t, r in final if t == number))
    done = " && ".join(f"done_{thread}" for thread in range(len(body.threads)))
    outcome = " && ".join(
        f"{f'v_{atom.name}' if atom.thread is None else _final(atom.thread, atom.name)}"
        f" == {atom.value}"
        for atom in body.atoms
    )
    lines += [
        f"  __CPROVER_assume({done or '1'});",
        f"  {_FULL}",
        f"  _Bool outcome = {outcome or '1'};",
        f'  __CPROVER_assert(!outcome, "{NEVER}");',
        f'  __CPROVER_assert(outcome, "{ALWAYS}");',
        "  return 0;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _final(thread: int, reg: str) -> str:
    return f"out_{thread}_{reg}"


def _thread(
    number: int, statements: Sequence[Statement], memory: MemoryModel, registers: Sequence[str]
) -> list[str]:
    unreached = guarded_registers(statements)
    lines = [f"__CPROVER_ASYNC_{number + 1}: {{"]
    lines += [f"  int {reg} = {UNREACHED if reg in unreached else 0};" for reg in registers]
    depth = 0
    for statement in statements:
        if isinstance(statement, Guard):
            lines.append(f"  if ({statement.reg} == {statement.value}) {{")
            depth += 1
        else:
            lines += [f"  {line}" for line in _statement(statement, memory)]
    lines.append("  " + "}" * depth)
    lines.append(f"  {_FULL}")
    lines += [f"  {_final(number, reg)} = {reg};" for reg in registers]
    return [*lines, f"  {_FULL}", f"  done_{number} = 1;", "};"]


def _statement(statement: Load | Store | Rmw | Cas | Fence, memory: MemoryModel) -> list[str]:
    match statement:
        case Load(reg=reg, loc=loc):
            return [f"{reg} = v_{loc};"]
        case Store(loc=loc, value=value, order=order):
            store = [*_before(order, memory), f"v_{loc} = {value};"]
            return [*store, _FULL] if order == "sc" and memory != "sc" else store
        case Rmw(reg=reg, loc=loc, op=op, operand=operand):
            new = _UPDATE[op].format(old=reg, value=operand)
            return _locked([f"{reg} = v_{loc};", f"v_{loc} = {new};"], memory)
        case Cas(reg=reg, loc=loc, expected=expected, desired=desired, weak=weak):
            take = [f"__CPROVER_assume(v_{loc} == {expected});", f"v_{loc} = {desired};"]
            differs = "" if weak else f"__CPROVER_assume(v_{loc} != {expected});"
            return [
                f"{reg} = nondet_bool();",
                f"if ({reg}) {{",
                *_locked(take, memory),
                f"}} else {{ {differs} }}",
            ]
        case Fence(order="sc"):
            return [_FULL] if memory != "sc" else []
        case Fence(order=order):
            return _before(order, memory)


def _before(order: Order, memory: MemoryModel) -> list[str]:
    return [_STORE_BARRIER] if memory == "pso" and order in _RELEASES else []


def _locked(section: list[str], memory: MemoryModel) -> list[str]:
    fence = [_FULL] if memory != "sc" else []
    return [*fence, "__CPROVER_atomic_begin();", *section, "__CPROVER_atomic_end();", *fence]
