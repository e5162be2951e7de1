"""A thread's machine code as a graph of symbolic states.

A node is an instruction with what is known before it. Where condition fields of Power are copied,
paths on which a branch has determined the field stay separate, so that the copy is a constant on
each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.binary.instructions import Function, Instruction
from weakspot.generators.binary.semantics import (
    Access,
    Branch,
    Choice,
    Compare,
    Compute,
    Condition,
    Copy,
    End,
    Jump,
    Mark,
    NotUnderstood,
    Semantics,
    Step,
    UnreadInstruction,
)
from weakspot.generators.binary.simulation import Address, Bit, Fields, Key, Line, Simulator, State

_MOST = 3000  # nodes of a thread; more than a hundred are rare


class Split(Exception):
    """A condition field is copied: paths have to be separated by its value."""


class Node(msgspec.Struct):
    lines: list[Line]
    #: the next node, and None for the function's end
    following: Key | None
    #: the target of its branch
    branch: Key | None = None


class Graph:
    """The reachable nodes, each with its lines."""

    def __init__(
        self,
        function: Function,
        semantics: Semantics,
        locations: Sequence[str],
        results: int,
        *,
        splitting: bool,
    ) -> None:
        self.function, self.semantics, self.splitting = function, semantics, splitting
        self.simulator = Simulator(semantics, results)
        entry: State = {semantics.stack: Address("stack")}
        for argument, loc in zip(semantics.arguments, locations, strict=False):
            entry[argument] = Address(f"[{loc}]")
        entry[semantics.arguments[len(locations)]] = Address("out")
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

    def _node(self, key: Key, state: State) -> Node:
        """The node; `state` becomes the state after it."""
        offset, facts = key
        instruction = self.function.at(offset)
        if instruction is None:
            raise Unsupported(
                f"no instruction at {offset - self.function.start:#x} of {self.function.name}"
            )
        try:
            return self._performed(instruction, dict(facts), state)
        except NotUnderstood as why:
            relative = instruction.at - self.function.start
            what = f": {why}" if str(why) else ""
            message = f"instruction at {relative:#x}, {instruction}{what}"
            raise UnreadInstruction(message, f"{instruction.name}{what}") from None

    def _performed(self, instruction: Instruction, facts: dict[str, str], state: State) -> Node:
        following = instruction.at + instruction.length
        node = Node([], None)
        for step in self.semantics.steps(instruction):
            match step:
                case End():
                    return node
                case Jump(target=target):
                    node.following = _key(target, facts)
                    return node
                case Branch(target=target):
                    self.simulator.want(state, {field: (of, 4) for field, of in step.reads.items()})
                    self.simulator.alike([state.get(of) for of in step.reads.values()])
                    return self._branched(step, following, facts, node)
                case Condition(to=to, field=field):
                    if not self.splitting:
                        raise Split
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
                        raise Split
                    if f"{field}:" not in facts:
                        raise NotUnderstood("chooses by a bit of which nothing is known")
                    chosen = a if facts[f"{field}:"] == "set" else b
                    node.lines += self.simulator.perform(Copy(to, chosen, 4), state)
                case Mark(field=field, set=mark):
                    if self.splitting:
                        facts[f"{field}:"] = "set" if mark else "clear"
                case _:
                    node.lines += self.simulator.perform(step, state)
                    self._learn(step, facts)
        node.following = _key(following, facts)
        return node

    def _branched(self, step: Branch, following: int, facts: dict[str, str], node: Node) -> Node:
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

    def _learn(self, step: Step, facts: dict[str, str]) -> None:
        """Update what is known of the condition fields after a step."""
        if not self.splitting:
            return
        match step:
            case Access(flags=field) if field:
                facts[field] = "conditional"
                facts.pop(f"{field}:", None)
            case Compare(flags=field) | Compute(flags=field):
                facts.pop(field, None)
                facts.pop(f"{field}:", None)


def _key(target: int, facts: Mapping[str, str]) -> Key:
    return target, tuple(sorted(facts.items()))


def _joined(one: State, other: State) -> State:
    """What both states agree on."""
    found: State = {}
    for name in one.keys() & other.keys():
        a, b = one[name], other[name]
        if a == b:
            found[name] = a
            continue
        if isinstance(a, Address) or isinstance(b, Address):
            # neither address: using it is an error
            found[name] = Fields()
            continue
        small = [each for each in (a, b) if isinstance(each, Bit) or each in (0, 1)]
        whole = all(each.whole for each in small if isinstance(each, Bit))
        found[name] = Bit(whole=whole) if len(small) == 2 else None
    return found
