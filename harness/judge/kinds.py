"""The kinds of finding: stable ids, titles, and a short form of what each means and advises.

Every id has a page in docs/findings, which `weakspot explain` prints. A new kind is an entry in
KINDS and a page.
"""

from __future__ import annotations

import difflib
from typing import Literal

import msgspec

from weakspot.errors import BadInput
from weakspot.system import packages


class FindingKind(msgspec.Struct, frozen=True):
    """What an id stands for. `severity` is the usual one; a finding may have a lower one."""

    id: str
    title: str
    severity: Literal["error", "warning", "note"]
    meaning: str
    advice: str

    @property
    def page(self) -> str:
        """The path of its page, relative to the project's folder."""
        return f"docs/findings/{self.id}.md"

    @property
    def text(self) -> str:
        """The page, in Markdown."""
        page = packages.folder("weakspot.pages") / f"{self.id}.md"
        return page.read_text(encoding="utf-8")


KINDS: dict[str, FindingKind] = {
    kind.id: kind
    for kind in (
        FindingKind(
            "WS001",
            "not as recorded",
            "error",
            "The structure's claims.toml or its golden tests record one thing; this run found "
            "another.",
            "find out which is right: correct the source or the model, or record what is true.",
        ),
        FindingKind(
            "WS002",
            "scenario not checked",
            "error",
            "A scenario of the project cannot be read or compiled, or contains a construct that "
            "weakspot does not model; nothing is known about it.",
            "correct the file, or the options in [build] of weakspot.toml.",
        ),
        FindingKind(
            "WS003",
            "comment not understood",
            "error",
            "A comment that starts with `weakspot:` names an unknown finding or gives no reason.",
            "write `weakspot: allow WS102 because REASON`.",
        ),
        FindingKind(
            "WS004",
            "comment without effect",
            "warning",
            "A comment allows a finding that does not occur at its line.",
            "remove the comment.",
        ),
        FindingKind(
            "WS101",
            "assertion violated",
            "error",
            "An execution of the program makes one of its assertions fail.",
            "read the witness; if the violation also happens under sc, no memory order prevents "
            "it.",
        ),
        FindingKind(
            "WS102",
            "data race",
            "error",
            "Two threads access one location, at least one of them writes, one of the accesses "
            "is plain, and happens-before does not order them: the behaviour is undefined.",
            "make the access atomic, or order the two by a release and an acquire.",
        ),
        FindingKind(
            "WS103",
            "hang",
            "error",
            "A thread waits for something that no other thread will ever do.",
            "look for a wake-up that is sent before the waiter is registered.",
        ),
        FindingKind(
            "WS104",
            "uninitialised or invalid memory",
            "error",
            "A thread reads memory before anything is written to it, uses it after it was freed, "
            "or uses it although its allocation does not happen before.",
            "publish the address with a release, and read it with an acquire.",
        ),
        FindingKind(
            "WS105",
            "synchronisation object misused",
            "error",
            "A thread unlocks a mutex that it does not hold, uses a mutex, condition variable or "
            "barrier that was destroyed, or initialises or destroys one that is in use: the "
            "behaviour is undefined.",
            "let the thread that locks the mutex unlock it, on every path; destroy an object after "
            "its last use, for example after joining the threads that use it.",
        ),
        FindingKind(
            "WS106",
            "main does not wait for a thread",
            "warning",
            "Main may return, or call exit, while a thread still runs. The process then ends, and "
            "the rest of the thread does not happen.",
            "join the thread before main returns, or let main end with pthread_exit.",
        ),
        FindingKind(
            "WS107",
            "not linearizable",
            "error",
            "No sequential order of the calls explains the results of concurrent calls: in every "
            "order that keeps a call after those that had returned before it began, some call "
            "returns something else. The object does not behave as its specification says.",
            "compare the calls with the nearest sequential order; if it does not happen under sc, "
            "a memory order is too weak.",
        ),
        FindingKind(
            "WS108",
            "flag of the model",
            "error",
            "An execution of the program raises a flag that the model's cat file defines, other "
            "than one that means a data race. The finding has the flag's name.",
            "read in the cat file what the flag means; the events that it is about are in the "
            "witness.",
        ),
        FindingKind(
            "WS201",
            "disallowed outcome seen",
            "error",
            "A machine showed an outcome that a model forbids. Either the model is wrong for "
            "this machine, or the compiler did what the model does not allow, or the claim that "
            "the model states is false.",
            "look at the assembly; if the outcome is known, record it with `seen` in claims.toml.",
        ),
        FindingKind(
            "WS202",
            "compiled code allows what the source forbids",
            "error",
            "The machine code that a compiler emitted for a test has, under the model of its "
            "instruction set, an outcome that the language's model forbids for the source. Either "
            "the compiler is wrong, or one of the models is.",
            "read the assembly beside the source's memory orders; report it to the compiler's "
            "authors, use another version, or strengthen the memory order until the code is right.",
        ),
        FindingKind(
            "WS301",
            "stronger than needed",
            "warning",
            "With a weaker memory order at this place, and with everything else that relax "
            "proposes, every scenario is still safe under the model.",
            "weaken it with `weakspot relax --apply`, unless a use without a scenario needs it.",
        ),
        FindingKind(
            "WS401",
            "checkers disagree",
            "error",
            "Two checkers answered the same question differently; one of them is wrong.",
            "compare the states they list, and report the smallest such test to the authors of "
            "the checker that is wrong.",
        ),
        FindingKind(
            "WS402",
            "negative result without evidence",
            "note",
            "Outcomes that every model allows were not observed on the machine, or neither a test "
            "nor any of its weaker variants was. Not observing a forbidden outcome on this machine "
            "is then no evidence.",
            "run longer, or on a machine with weaker ordering.",
        ),
        FindingKind(
            "WS403",
            "control test failed",
            "error",
            "A test with a full fence between every two accesses showed a state that no "
            "interleaving gives. The runner, the compiler or the machine is wrong, and the counts "
            "from the same run are discarded.",
            "look at the assembly of the test; run it with the other runner, and report it.",
        ),
        FindingKind(
            "WS404",
            "explorer contradicts its reference",
            "error",
            "The explorer found no violation, and its audit found one: weakspot has a mistake.",
            "report it with the program, the model and the options; `--without all` explores the "
            "program without reductions.",
        ),
    )
}


def kind(name: str) -> FindingKind:
    """The kind with that id, in upper or lower case. Raises BadInput that lists the ids."""
    found = KINDS.get(name.upper())
    if found is None:
        close = difflib.get_close_matches(name.upper(), KINDS, n=1)
        advice = f"did you mean {close[0]}? " if close else ""
        raise BadInput(f"unknown finding {name}", advice=f"{advice}the ids are {', '.join(KINDS)}")
    return found
