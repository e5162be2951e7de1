"""A thread's machine code, reduced to its shared accesses and what they depend on.

Each location has a register that holds its address from the beginning, as in `{ 0:X5=x; }`; the
thread's own memory becomes registers. Frames, spills and unused results, on which nothing depends,
are left out.

Nothing is guessed: an instruction, address or width that is not understood is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.binary.graph import Graph, Node, Split
from weakspot.generators.binary.instructions import Function
from weakspot.generators.binary.semantics import FLAGS, Semantics
from weakspot.generators.binary.simulation import APART, Key, Line

_LONGEST_RETRY = 12  # instructions from a reservation to its store

_NOWHERE: Key = (-1, ())
"""Where a thread waits forever."""


class ThreadCode(msgspec.Struct, frozen=True):
    """A thread in herd7's dialect: its lines, the registers that hold addresses at the beginning,
    and those that hold its results at the end, as states name them."""

    lines: tuple[str, ...]
    addresses: dict[str, str]
    results: tuple[str, ...]


def sliced(
    function: Function, semantics: Semantics, locations: Sequence[str], results: int, number: int
) -> ThreadCode:
    """The code of thread `number`, a function whose arguments are pointers to the locations and,
    last, to its results, which are APART bytes from each other.

    Raises Unsupported for what is not understood, with the instruction.
    """
    if len(locations) + 1 > len(semantics.arguments):
        raise Unsupported(
            f"{len(locations)} locations: their addresses do not all come in registers"
        )
    try:
        graph = Graph(function, semantics, locations, results, splitting=False)
    except Split:
        graph = Graph(function, semantics, locations, results, splitting=True)
    return _Writer(graph, semantics, results, number).code()


class _Writer:
    """The text of a graph."""

    def __init__(self, graph: Graph, semantics: Semantics, results: int, number: int) -> None:
        self.graph, self.semantics, self.number = graph, semantics, number
        self.results = [f"out{at * APART:+d}" for at in range(results)]
        self.nodes = graph.nodes
        #: whether two condition fields are in use at once: else all are the first, which code of
        #: herd7's dialect does not name
        self.fields = False
        self.own = 0
        self._slice()
        self.names = self._registers()

    def _slice(self) -> None:
        """Leave out lines whose results nothing reads."""
        live: dict[Key | None, set[str]] = {key: set() for key in self.nodes}
        live[None] = set(self.results)
        changed = True
        while changed:
            changed = False
            for key, node in self.nodes.items():
                _, wanted = self._reduced(node, live)
                if wanted != live[key]:
                    live[key], changed = wanted, True
        for node in self.nodes.values():
            node.lines, _ = self._reduced(node, live)
        for key, node in self.nodes.items():
            self._give_up(key, node, live)
        if unknown := live[self.graph.entry]:
            raise Unsupported(
                f"{self.graph.function.name} reads {min(unknown)}, which nothing has set"
            )

    def _give_up(self, key: Key, node: Node, live: Mapping[Key | None, set[str]]) -> None:
        """End the execution at a failed store-conditional that would only try again.

        Such a round reads and has no effect: every outcome with it is possible without it, and
        following each would take long. An endless loop has no execution for herd7 either.
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

    def _acquire(self, node: Node, reserved: str, live: Mapping[Key | None, set[str]]) -> None:
        """Add code where the manual promises more than the model has: see Semantics.acquires."""
        code, barrier = self.semantics.acquires
        if not barrier or node.following is None or not reserved:
            return
        after = self.nodes[node.following]
        in_use = any(_is_field(name) for name in live[node.following])
        if after.lines[:1] == [Line(barrier, stay=True)] and not in_use:
            after.lines.insert(0, Line(code, {"v": (reserved, 4)}, stay=True))

    def _after(self, node: Node, live: Mapping[Key | None, set[str]]) -> set[str]:
        after = set(live[node.following])
        return after | live[node.branch] if node.branch is not None else after

    def _reduced(
        self, node: Node, live: Mapping[Key | None, set[str]]
    ) -> tuple[list[Line], set[str]]:
        """The lines of a node whose results are read, and the names that are live before it."""
        wanted = self._after(node, live)
        lines = []
        for line in reversed(node.lines):
            written = {name for name, _ in line.writes.values()}
            if line.stay or written & wanted:
                wanted -= written
                wanted |= {name for name, _ in line.reads.values()}
                lines.append(line)
                fields = {name for name in wanted | written if _is_field(name)}
                self.fields = self.fields or len(fields) > 1
        return lines[::-1], wanted

    def _registers(self) -> dict[str, str]:
        """The register for each name: its own, or a free one for what was in memory."""
        used: dict[str, None] = {}
        cells: dict[str, None] = {}
        for node in self.nodes.values():
            for line in node.lines:
                used.update(dict.fromkeys(name for name, _ in line.reads.values()))
                used.update(dict.fromkeys(name for name, _ in line.writes.values()))
                if line.at and not self.semantics.named:
                    cells[f"[{line.at}]"] = None
        used.update(dict.fromkeys(self.results))
        known = set(self.semantics.fresh)
        found = {name: name for name in used if name in known}
        free = [name for name in self.semantics.fresh if name not in found]
        for name in (*cells, *used):
            if name in found or name == FLAGS or _is_field(name):
                continue
            if not free:
                raise Unsupported(
                    f"{self.graph.function.name} needs more registers than "
                    f"{self.semantics.dialect} has"
                )
            found[name] = free.pop()
        return found

    def code(self) -> ThreadCode:
        """The lines, in an order in which most are followed by their successor."""
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
        lines: list[tuple[Key | None, str]] = []  # with the instruction that a label stands for
        wanted: dict[Key | None, str] = {}
        for at, key in enumerate(placed):
            node = self.nodes[key]
            lines += [(key, "")]
            for line in node.lines:
                lines.append((None, self._text(line, wanted)))
            to = self._past(node.following)
            if (placed[at + 1] if at + 1 < len(placed) else None) != to:
                lines.append((None, self.semantics.jump.format(to=self._label(to, wanted))))
        text: list[str] = []
        for which, written in lines:
            if written:
                text.append(written)
            elif which in wanted:
                text.append(f"{wanted[which]}:")
        if _NOWHERE in wanted:
            if placed and self._past(self.nodes[placed[-1]].following) is None:
                text.append(self.semantics.jump.format(to=self._label(None, wanted)))
            text += [f"{wanted[_NOWHERE]}:", self.semantics.jump.format(to=wanted[_NOWHERE])]
        if None in wanted:
            text.append(f"{wanted[None]}:")
        return ThreadCode(
            tuple(part for each in text for part in each.split("\n")),
            {
                self.semantics.state_name(register): name[1:-1]
                for name, register in self.names.items()
                if name.startswith("[")
            },
            tuple(self.semantics.state_name(self.names[name]) for name in self.results),
        )

    def _past(self, key: Key | None) -> Key | None:
        """The next node with lines, from a node that may have none."""
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
                words[field] = self.semantics.register(self.names[name], size)
        if line.at:
            at = line.at
            words["at"] = (
                at if self.semantics.named else self.semantics.register(self.names[f"[{at}]"], 8)
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
