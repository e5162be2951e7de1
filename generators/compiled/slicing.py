"""A thread's machine code, without what is the thread's own business.

The code is run over symbolic values: which register and which slot of the stack holds which
address. An access through the address of a location is a shared one and stays as the compiler
wrote it. A slot of the stack, or of the results, becomes a register: nobody else can see it, and
dependencies go on through it as they do through memory that a thread reads back (Armv8's
`(addr | data); rfi`, Power's `rfi` in `ii0`, rule 12 of RISC-V). Addresses are not computed any
more: a location has a register of its own that holds its address from the beginning, as `{ 0:X5=x;
}` says. What nothing depends on then, frames, spills, unused results, is left out.

Nothing is guessed: an instruction, an address or a width that is not understood ends it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.compiled.instructions import Function, Instruction, Memory
from weakspot.generators.compiled.steps import (
    FLAGS,
    Access,
    Barrier,
    Branch,
    Choice,
    Compare,
    Compute,
    Condition,
    ConditionBit,
    Copy,
    End,
    Jump,
    Machine,
    Mark,
    NotUnderstood,
    Shift,
    Step,
    Truth,
)

APART = 64
"""Bytes between two results: so far apart that no compiler writes two at once."""

_LONGEST_RETRY = 12  # instructions from a reservation to its store

_NOWHERE: Key = (-1, ())
"""Where a thread waits for ever."""

_MOST = 3000  # nodes of a thread; a hundred are many


Facts = tuple[tuple[str, str], ...]
Key = tuple[int, Facts]
"""A node: an offset, and what is known of the condition fields there, by name: "equal",
"unequal", or "conditional" where a store-conditional has set it and no branch asked yet. By the
name with a colon, of the field's first bit: "set", "clear"."""


class Address(msgspec.Struct, frozen=True):
    """Of a location (`region` is its name, in brackets), of the stack or of the results."""

    region: str
    offset: int = 0


class Bit(msgspec.Struct, frozen=True):
    """0 or 1, in the lowest byte alone unless it is the `whole` register."""

    whole: bool = True


class Fields(msgspec.Struct, frozen=True):
    """A copy of what is known of a condition field; () where nobody knows."""

    facts: Facts = ()


class Lower(msgspec.Struct, frozen=True):
    """The lower half of a value, as an unsigned number; or, `moved`, in the place of the upper.
    It may be known to be a `bit`."""

    moved: bool
    bit: bool = False


Value = Address | Bit | Fields | Lower | int | None
"""What is known of a register; None for data, of which 64 bits are the sign's."""

State = dict[str, Value]


class Line(msgspec.Struct, frozen=True):
    """A line of code: {field}s for registers with the size of each, for the location at {at} and
    the label at {to}. One that does not `stay` is only there for what it writes."""

    code: str
    reads: Mapping[str, tuple[str, int]] = {}
    writes: Mapping[str, tuple[str, int]] = {}
    words: Mapping[str, str] = {}
    at: str = ""
    to: Key | None = None
    stay: bool = False
    kind: str = ""  # reserves, conditional: of the access; fails: of a branch


class Code(msgspec.Struct, frozen=True):
    """A thread in herd7's dialect: its lines, the registers that hold addresses at the beginning,
    and those that hold its results at the end, as states name them."""

    lines: tuple[str, ...]
    addresses: dict[str, str]
    results: tuple[str, ...]


def sliced(
    function: Function, machine: Machine, locations: Sequence[str], results: int, number: int
) -> Code:
    """The code of thread `number`, a function whose arguments are pointers to the locations and,
    last, to its results, which are APART bytes from each other.

    Raises Unsupported for what is not understood, with the instruction.
    """
    if len(locations) + 1 > len(machine.arguments):
        raise Unsupported(
            f"{len(locations)} locations: their addresses do not all come in registers"
        )
    try:
        graph = _Graph(function, machine, locations, results, splitting=False)
    except _Split:
        graph = _Graph(function, machine, locations, results, splitting=True)
    return _Writer(graph, machine, results, number).code()


class _Split(Exception):
    """A condition field is copied: paths have to be told apart by what it says."""


class _Node(msgspec.Struct):
    lines: list[Line]
    #: where it goes on, and None for the function's end
    following: Key | None
    #: where its branch leads
    branch: Key | None = None


class _Graph:
    """The nodes that can be reached, each with its lines."""

    def __init__(
        self,
        function: Function,
        machine: Machine,
        locations: Sequence[str],
        results: int,
        *,
        splitting: bool,
    ) -> None:
        self.function, self.machine, self.results = function, machine, results
        self.splitting = splitting
        self.slots: dict[str, dict[int, int]] = {"stack": {}, "out": {}}
        entry: State = {machine.stack: Address("stack")}
        for argument, loc in zip(machine.arguments, locations, strict=False):
            entry[argument] = Address(f"[{loc}]")
        entry[machine.arguments[len(locations)]] = Address("out")
        self.entry: Key = (function.start, ())
        states: dict[Key, State] = {self.entry: entry}
        waiting: list[Key] = [self.entry]
        while waiting:
            key = waiting.pop()
            state = dict(states[key])
            node = self._node(key, state)
            for to in (node.following, node.branch):
                if to is None:
                    continue
                joined = _joined(states[to], state) if to in states else state
                if to not in states or joined != states[to]:
                    states[to] = dict(joined)
                    waiting.append(to)
            if len(states) > _MOST:
                raise Unsupported(f"{function.name}: too many paths")
        self.nodes = {key: self._node(key, dict(state)) for key, state in states.items()}

    def _node(self, key: Key, state: State) -> _Node:
        """The node, and the state after it, which takes the place of the one before."""
        offset, facts = key
        instruction = self.function.at(offset)
        if instruction is None:
            raise Unsupported(
                f"no instruction at {offset - self.function.start:#x} of {self.function.name}"
            )
        try:
            return self._performed(instruction, dict(facts), state)
        except NotUnderstood as why:
            place = instruction.at - self.function.start
            what = f": {why}" if str(why) else ""
            raise Unsupported(f"instruction at {place:#x}, {instruction}{what}") from None

    def _performed(self, instruction: Instruction, facts: dict[str, str], state: State) -> _Node:
        following = instruction.at + instruction.length
        node = _Node([], None)
        for step in self.machine.steps(instruction):
            match step:
                case End():
                    return node
                case Jump(target=target):
                    node.following = _key(target, facts)
                    return node
                case Branch(target=target):
                    self._want(state, {field: (of, 4) for field, of in step.reads.items()})
                    self._alike([state.get(of) for of in step.reads.values()])
                    return self._branched(step, following, facts, node)
                case Condition(to=to, field=field):
                    if not self.splitting:
                        raise _Split
                    if facts.get(field) == "conditional":
                        # the branch that is put here depends on nothing that was read: in the
                        # model the field depends on no value that a store-conditional has
                        node.lines.append(
                            Line(
                                "bne {f}{to}",
                                {"f": (field, 4)},
                                to=_key(instruction.at, facts | {field: "unequal"}),
                                stay=True,
                            )
                        )
                        node.branch = node.lines[-1].to
                        node.following = _key(instruction.at, facts | {field: "equal"})
                        return node
                    known = _key(0, {n: f for n, f in facts.items() if n.rstrip(":") == field})[1]
                    if not known:
                        raise NotUnderstood("copies a condition that no branch has asked for")
                    state[to] = Fields(known)
                case Choice(to=to, a=a, b=b, field=field):
                    if not self.splitting:
                        raise _Split
                    if f"{field}:" not in facts:
                        raise NotUnderstood("chooses by a bit of which nothing is known")
                    chosen = a if facts[f"{field}:"] == "set" else b
                    node.lines += self._lines(Copy(to, chosen, 4), state)
                case Mark(field=field, set=mark):
                    if self.splitting:
                        facts[f"{field}:"] = "set" if mark else "clear"
                case _:
                    node.lines += self._lines(step, state)
                    self._learn(step, facts)
        node.following = _key(following, facts)
        return node

    def _branched(self, step: Branch, following: int, facts: dict[str, str], node: _Node) -> _Node:
        other = dict(facts)
        if self.splitting and step.equal is not None and step.target != following:
            field = next(iter(step.reads.values()))
            other[field] = "equal" if step.equal else "unequal"
            facts[field] = "unequal" if step.equal else "equal"
        node.branch = _key(step.target, other)
        node.following = _key(following, facts)
        reads = {field: (register, 4) for field, register in step.reads.items()}
        kind = "fails" if step.fails else ""
        node.lines.append(Line(step.code, reads, to=node.branch, stay=True, kind=kind))
        return node

    def _alike(self, compared: Sequence[Value]) -> None:
        """Raises NotUnderstood if one is unsigned and another may be negative."""
        lower = [isinstance(each, Lower) for each in compared]
        if any(lower) and any(
            not (isinstance(each, Lower | Bit) or (isinstance(each, int) and each >= 0))
            for each in compared
        ):
            raise NotUnderstood("compares an unsigned number with a signed one")

    def _learn(self, step: Step, facts: dict[str, str]) -> None:
        """What a step tells of the condition fields."""
        if not self.splitting:
            return
        match step:
            case Access(flags=field) if field:
                facts[field] = "conditional"
                facts.pop(f"{field}:", None)
            case Compare(flags=field) | Compute(flags=field):
                facts.pop(field, None)
                facts.pop(f"{field}:", None)

    # --- one step, and what it changes in the state -------------------------------------------

    def _lines(self, step: Step, state: State) -> list[Line]:
        match step:
            case Copy():
                return self._copy(step, state)
            case Compute():
                return self._compute(step, state)
            case Compare():
                return self._compare(step, state)
            case Shift(to=to, of=of, left=left):
                value = state.get(of)
                moved = isinstance(value, Lower) and value.moved
                if isinstance(value, Address | Fields) or moved is left:
                    raise NotUnderstood
                small = isinstance(value, Bit) or (isinstance(value, Lower) and value.bit)
                state[to] = Bit() if small and not left else Lower(left, small)
                copy = self.machine.copy(False, 4)
                return [] if to == of else [Line(copy, {"a": (of, 4)}, {"t": (to, 4)})]
            case Truth(code=code, to=to, reads=reads, size=size):
                sources = {field: (reg, 4) for field, reg in reads.items()}
                self._want(state, sources)
                state[to] = self._bit(to, size, state)
                sinks = {"t": (to, 4)} | ({"s": ("scratch", 4)} if "{s}" in code else {})
                return [Line(code, sources, sinks)]
            case ConditionBit(to=to, of=of, field=field, first=first):
                value = state.get(of)
                known = dict(value.facts) if isinstance(value, Fields) else {}
                fact = known.get(f"{field}:" if first else field)
                if fact is None:
                    raise NotUnderstood("a bit of a condition field of which nothing is known")
                return self._put(to, int(fact in ("equal", "set")), state)
            case Access():
                return self._access(step, state)
            case Barrier(code=code):
                return [Line(code, stay=True)]
        raise NotUnderstood

    def _copy(self, step: Copy, state: State) -> list[Line]:
        to, of, size = step.to, step.of, step.size
        if isinstance(of, Memory):
            private, name = self._place(of, size, state)
            if not private:
                if isinstance(to, Memory) or not step.code or size != 4:
                    raise NotUnderstood(f"reads {size} bytes of a location in a way not known")
                state[to] = None
                return [Line(step.code, {}, {"r": (to, 4)}, at=name, stay=True)]
            of = name
        value = of if isinstance(of, int) else state.get(of)
        if isinstance(to, Memory):
            private, name = self._place(to, size, state)
            if not private:
                if not step.code or size != 4 or isinstance(value, Address):
                    raise NotUnderstood(f"writes {size} bytes to a location in a way not known")
                words, sources, before = self._operands({"r": of}, state)
                return [*before, Line(step.code, sources, {}, words, name, stay=True)]
            to = name
        if isinstance(value, int):
            return self._put(to, value, state, size)
        if isinstance(value, Address | Fields):
            if size != 8:
                raise NotUnderstood("moves a part of an address")
            state[to] = value
            return []
        assert isinstance(of, str)
        if isinstance(value, Bit):
            if size > 1 and not value.whole:
                raise NotUnderstood("reads a register of which only a byte is known")
            state[to] = self._bit(to, size, state, step.whole)
        elif size < 4:
            raise NotUnderstood("moves a part of a value")
        else:
            state[to] = None
        if to == of:
            return []
        width = max(size, 4)
        return [Line(self.machine.copy(False, width), {"a": (of, width)}, {"t": (to, width)})]

    def _bit(self, to: str, size: int, state: State, whole: bool = False) -> Bit:
        """What a register is that 0 or 1 is written to, `size` bytes of it."""
        old = state.get(to)
        blank = isinstance(old, int) and 0 <= old < 256
        merged = size == 1 and self.machine.merges and not to.startswith(("stack", "out"))
        return Bit(whole=whole or blank or not merged)

    def _put(self, to: str, number: int, state: State, size: int = 4) -> list[Line]:
        if size == 1 and not 0 <= number < 2:
            raise NotUnderstood("writes a byte of a value")
        number = _signed(number)
        merged = size == 1 and not self._bit(to, size, state).whole
        state[to] = Bit(whole=False) if merged else number
        word = self.machine.number(number, False)
        return [Line(self.machine.copy(True, 4), {}, {"t": (to, 4)}, {"a": word or str(number)})]

    def _compute(self, step: Compute, state: State) -> list[Line]:
        to, a, b = (self._private(each, step.size, state) for each in (step.to, step.a, step.b))
        assert isinstance(to, str)
        left, right = (each if isinstance(each, int) else state.get(each) for each in (a, b))
        if step.op == "add" and isinstance(right, Address):
            left, right = right, left
        if isinstance(left, Address) and isinstance(right, int) and step.op in ("add", "sub"):
            by = right if step.op == "add" else -right
            state[to] = Address(left.region, left.offset + by)
            if step.flags:
                state[step.flags] = Fields()
            return []
        if isinstance(left, Address | Fields) or isinstance(right, Address | Fields):
            raise NotUnderstood("computes with an address")
        if isinstance(left, int) and isinstance(right, int):
            if step.flags:
                state[step.flags] = Fields()
            return self._put(to, _folded(step.op, left, right), state)
        if step.op == "and" and isinstance(left, Bit) and isinstance(right, int) and right % 2:
            assert isinstance(a, str)
            state[to] = Bit(whole=left.whole or step.size > 1)
            if step.flags:
                state[step.flags] = Fields()
            copy = self.machine.copy(False, 4)
            return [] if to == a else [Line(copy, {"a": (a, 4)}, {"t": (to, 4)})]
        if step.size < 4:
            raise NotUnderstood("computes with a part of a value")
        words, sources, before = self._operands({"a": a, "b": b}, state, {"b"})
        code = self.machine.compute(step.op, "b" in words, bool(step.flags))
        if code is None and "b" in words and not step.flags:
            words, sources, before = self._operands({"a": a, "b": b}, state, (), reg=True)
            code = self.machine.compute(step.op, False, False)
        if code is None:
            raise NotUnderstood(f"no such instruction in the dialect: {step.op}")
        small = step.op in ("and", "xor", "or") and all(
            isinstance(each, Bit) or (isinstance(each, int) and each in (0, 1))
            for each in (left, right)
        )
        state[to] = Bit() if small else None
        sinks = {"t": (to, 4)}
        if step.flags:
            state[step.flags] = None
            sinks["f"] = (step.flags, 4)
        return [*before, Line(code, sources, sinks, words)]

    def _compare(self, step: Compare, state: State) -> list[Line]:
        a, b = (self._private(each, step.size, state) for each in (step.a, step.b))
        assert isinstance(a, str)
        value = state.get(a)
        if isinstance(value, Address) or (step.size < 4 and not isinstance(value, Bit)):
            raise NotUnderstood("compares what is no whole value")
        if step.bits:
            if not (isinstance(value, Bit) and b == 1) and a != b:
                raise NotUnderstood("asks for bits")
            b = 0
        elif isinstance(value, Bit) and not value.whole and step.size > 1:
            raise NotUnderstood("compares a register of which only a byte is known")
        words, sources, before = self._operands({"a": a, "b": b}, state, {"b"}, step.size == 1)
        code = self.machine.compare("b" in words)
        if code is None:
            raise NotUnderstood("no such comparison in the dialect")
        state[step.flags] = None
        return [*before, Line(code, sources, {"f": (step.flags, 4)}, words)]

    def _access(self, step: Access, state: State) -> list[Line]:
        private, name = self._place(step.at, step.size, state)
        if private or step.size != 4:
            raise NotUnderstood("an atomic access that is not of a location, or not of an int")
        words, sources, before = self._operands(step.reads, state)
        sinks = {}
        for field, register in step.writes.items():
            state[register] = None
            sinks[field] = (register, 4)
        line = Line(step.code, sources, sinks, words, name, stay=True, kind=step.kind)
        return [*before, line]

    def _operands(
        self,
        given: Mapping[str, str | int],
        state: State,
        immediate: Collection[str] = (),
        narrow: bool = False,
        reg: bool = False,
    ) -> tuple[dict[str, str], dict[str, tuple[str, int]], list[Line]]:
        """The operands of a line: those that are words, those that are registers, and what puts
        numbers into registers before it. `immediate` are the fields where arithmetic has numbers;
        `reg` asks for registers alone, `narrow` for their lowest byte."""
        words: dict[str, str] = {}
        sources: dict[str, tuple[str, int]] = {}
        before: list[Line] = []
        for field, of in given.items():
            if isinstance(of, str):
                sources[field] = (of, 4)
                continue
            stored = field not in immediate
            word = None if reg else self.machine.number(_signed(of), stored)
            if word is not None:
                words[field] = word
                continue
            scratch = f"number{len(before)}"
            before += self._put(scratch, of, {})
            sources[field] = (scratch, 4)
        self._want(state, sources, narrow)
        return words, sources, before

    def _want(
        self, state: State, sources: Mapping[str, tuple[str, int]], narrow: bool = False
    ) -> None:
        """Raises NotUnderstood for an operand that is no value; if `narrow`, its lowest byte."""
        for register, _ in sources.values():
            value = state.get(register)
            if isinstance(value, Address | Fields) or (isinstance(value, Lower) and value.moved):
                raise NotUnderstood("has an address, or flags that nothing set, for a value")
            if isinstance(value, Bit) and not value.whole and not narrow:
                raise NotUnderstood("reads a register of which only a byte is known")

    def _private(self, of: str | int | Memory, size: int, state: State) -> str | int:
        if not isinstance(of, Memory):
            return of
        private, name = self._place(of, size, state)
        if not private:
            raise NotUnderstood("computes with a location in memory")
        return name

    def _place(self, at: Memory, size: int, state: State) -> tuple[bool, str]:
        """Whether it is the thread's own, and then the register that stands for it; else the
        location."""
        base = state.get(at.base)
        if not isinstance(base, Address) or at.index:
            raise NotUnderstood("accesses memory at an address that is not known")
        offset = base.offset + at.displacement
        if base.region.startswith("["):
            if offset:
                raise NotUnderstood("accesses memory beside a location")
            return False, base.region[1:-1]
        if base.region == "out" and (
            offset % APART or not 0 <= offset < self.results * APART or size != 4
        ):
            raise NotUnderstood("accesses memory beside a result")
        known = self.slots[base.region]
        for other, width in known.items():
            same = (other, width) == (offset, size)
            if not same and other < offset + size and offset < other + width:
                raise NotUnderstood("accesses a part of what is in the stack")
        known[offset] = size
        return True, f"{base.region}{offset:+d}"


def _key(target: int, facts: Mapping[str, str]) -> Key:
    return target, tuple(sorted(facts.items()))


def _joined(one: State, other: State) -> State:
    """What is known whichever way was taken."""
    found: State = {}
    for name in one.keys() & other.keys():
        a, b = one[name], other[name]
        if a == b:
            found[name] = a
            continue
        if isinstance(a, Address) or isinstance(b, Address):
            # neither address: whoever uses it is told
            found[name] = Fields()
            continue
        small = [each for each in (a, b) if isinstance(each, Bit) or each in (0, 1)]
        whole = all(each.whole for each in small if isinstance(each, Bit))
        found[name] = Bit(whole=whole) if len(small) == 2 else None
    return found


def _signed(number: int) -> int:
    return ((number & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


def _folded(op: str, a: int, b: int) -> int:
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "and":
            return a & b
        case "or":
            return a | b
    return a ^ b


class _Writer:
    """The text of a graph."""

    def __init__(self, graph: _Graph, machine: Machine, results: int, number: int) -> None:
        self.graph, self.machine, self.number = graph, machine, number
        self.results = [f"out{at * APART:+d}" for at in range(results)]
        self.nodes = graph.nodes
        #: whether two condition fields are in use at once: else all are the first, which code of
        #: herd7's dialect does not name
        self.fields = False
        self.own = 0
        self._slice()
        self.names = self._registers()

    def _slice(self) -> None:
        """Leave out what only computes what nothing reads."""
        live: dict[Key | None, set[str]] = {key: set() for key in self.nodes}
        live[None] = set(self.results)
        changed = True
        while changed:
            changed = False
            for key, node in self.nodes.items():
                wanted = self._wanted(node, live)
                if wanted != live[key]:
                    live[key], changed = wanted, True
        for node in self.nodes.values():
            node.lines = list(self._kept(node, live))
        for key, node in self.nodes.items():
            self._give_up(key, node, live)
        if unknown := live[self.graph.entry]:
            raise Unsupported(
                f"{self.graph.function.name} reads {min(unknown)}, which nothing has set"
            )

    def _give_up(self, key: Key, node: _Node, live: Mapping[Key | None, set[str]]) -> None:
        """Let a failed store-conditional that would only try again end the execution.

        Such a round reads and has no effect: whatever comes with it comes without it too, and
        to follow each would take long. An endless loop has no execution, to herd7 as well.
        """
        head = node.branch
        if node.lines[-1:] == [] or node.lines[-1].kind != "fails" or head is None:
            return
        tested = {name for name, _ in node.lines[-1].reads.values()}
        written: set[str] = set()
        reserved = ""
        at: Key | None = head
        for _ in range(_LONGEST_RETRY):
            if at is None:
                return
            here = self.nodes[at]
            for line in here.lines:
                names = {name for name, _ in line.writes.values()}
                if line.kind == "reserves":
                    reserved = next(iter(names), "")
                elif reserved in names:
                    reserved = ""
                written |= names
                if line.kind == "conditional":
                    if here.following == key and tested <= names and not written & live[head]:
                        node.lines[-1] = msgspec.structs.replace(node.lines[-1], to=_NOWHERE)
                        node.branch = None
                        self._acquire(node, reserved, live)
                    return
                if line.stay and line.to is None and line.kind != "reserves":
                    return
            at = here.following

    def _acquire(self, node: _Node, reserved: str, live: Mapping[Key | None, set[str]]) -> None:
        """Where the machine's manual promises more than its model has: see Machine.acquires."""
        code, barrier = self.machine.acquires
        if not barrier or node.following is None or not reserved:
            return
        after = self.nodes[node.following]
        in_use = any(_is_field(name) for name in live[node.following])
        if after.lines[:1] == [Line(barrier, stay=True)] and not in_use:
            after.lines.insert(0, Line(code, {"v": (reserved, 4)}, stay=True))

    def _after(self, node: _Node, live: Mapping[Key | None, set[str]]) -> set[str]:
        after = set(live[node.following])
        return after | live[node.branch] if node.branch is not None else after

    def _wanted(self, node: _Node, live: Mapping[Key | None, set[str]]) -> set[str]:
        wanted = self._after(node, live)
        for line in reversed(node.lines):
            written = {name for name, _ in line.writes.values()}
            if line.stay or written & wanted:
                wanted -= written
                wanted |= {name for name, _ in line.reads.values()}
        return wanted

    def _kept(self, node: _Node, live: Mapping[Key | None, set[str]]) -> list[Line]:
        wanted = self._after(node, live)
        kept = []
        for line in reversed(node.lines):
            written = {name for name, _ in line.writes.values()}
            if line.stay or written & wanted:
                wanted -= written
                wanted |= {name for name, _ in line.reads.values()}
                kept.append(line)
                fields = {name for name in wanted | written if _is_field(name)}
                self.fields = self.fields or len(fields) > 1
        return kept[::-1]

    def _registers(self) -> dict[str, str]:
        """The register of each name: its own, or a fresh one for what was in memory."""
        used: dict[str, None] = {}
        places: dict[str, None] = {}
        for node in self.nodes.values():
            for line in node.lines:
                used.update(dict.fromkeys(name for name, _ in line.reads.values()))
                used.update(dict.fromkeys(name for name, _ in line.writes.values()))
                if line.at and not self.machine.named:
                    places[f"[{line.at}]"] = None
        used.update(dict.fromkeys(self.results))
        known = set(self.machine.fresh)
        found = {name: name for name in used if name in known}
        free = [name for name in self.machine.fresh if name not in found]
        for name in (*places, *used):
            if name in found or name == FLAGS or _is_field(name):
                continue
            if not free:
                raise Unsupported(
                    f"{self.graph.function.name} needs more registers than "
                    f"{self.machine.dialect} has"
                )
            found[name] = free.pop()
        return found

    def code(self) -> Code:
        """Its lines in an order in which most go on to the next."""
        placed: list[Key] = []
        seen: set[Key] = set()
        waiting = [self.graph.entry]
        while waiting:
            key: Key | None = waiting.pop()
            while key is not None and (key := self._past(key)) is not None and key not in seen:
                seen.add(key)
                placed.append(key)
                node = self.nodes[key]
                if node.branch is not None:
                    waiting.append(node.branch)
                key = node.following
        lines: list[tuple[Key | None, str]] = []  # what is labelled for whom, and the line
        wanted: dict[Key | None, str] = {}
        for at, key in enumerate(placed):
            node = self.nodes[key]
            lines += [(key, "")]
            for line in node.lines:
                lines.append((None, self._text(line, wanted)))
            to = self._past(node.following)
            if (placed[at + 1] if at + 1 < len(placed) else None) != to:
                lines.append((None, self.machine.jump.format(to=self._label(to, wanted))))
        text: list[str] = []
        for which, written in lines:
            if written:
                text.append(written)
            elif which in wanted:
                text.append(f"{wanted[which]}:")
        if _NOWHERE in wanted:
            if placed and self._past(self.nodes[placed[-1]].following) is None:
                text.append(self.machine.jump.format(to=self._label(None, wanted)))
            text += [f"{wanted[_NOWHERE]}:", self.machine.jump.format(to=wanted[_NOWHERE])]
        if None in wanted:
            text.append(f"{wanted[None]}:")
        return Code(
            tuple(part for each in text for part in each.split("\n")),
            {
                self.machine.state_name(register): name[1:-1]
                for name, register in self.names.items()
                if name.startswith("[")
            },
            tuple(self.machine.state_name(self.names[name]) for name in self.results),
        )

    def _past(self, key: Key | None) -> Key | None:
        """Where a way goes on that has nothing to do here."""
        seen = set()
        while key is not None and key not in seen:
            seen.add(key)
            node = self.nodes[key]
            if node.lines:
                return key
            key = node.following
        return key

    def _label(self, key: Key | None, wanted: dict[Key | None, str]) -> str:
        if key not in wanted:
            wanted[key] = f"L{self.number}{len(wanted)}"
        return wanted[key]

    def _text(self, line: Line, wanted: dict[Key | None, str]) -> str:
        words = dict(line.words)
        for field, (name, size) in (*line.reads.items(), *line.writes.items()):
            if name == FLAGS:
                continue
            if _is_field(name):
                words[field] = f"{name}," if self.fields else ""
            else:
                words[field] = self.machine.register(self.names[name], size)
        if line.at:
            at = line.at
            words["at"] = (
                at if self.machine.named else self.machine.register(self.names[f"[{at}]"], 8)
            )
        if line.to is not None:
            past = line.to if line.to == _NOWHERE else self._past(line.to)
            words["to"] = self._label(past, wanted)
        if "{own}" in line.code:
            self.own += 1
            words["own"] = f"M{self.number}{self.own}"
        return line.code.format_map(words)


def _is_field(name: str) -> bool:
    return name.startswith("cr")
