"""The kinds of finding: ids that stay, their titles, and what each means and asks for.

Every id has a page of its own in docs/findings; what stands here is its short form, for
`weakspot explain` and for the report.
"""

from __future__ import annotations

import difflib
import importlib.resources
from typing import Literal

import msgspec

from weakspot.errors import BadInput


class Kind(msgspec.Struct, frozen=True):
    """What an id stands for. `severity` is the usual one; a finding may have a lower one."""

    id: str
    title: str
    severity: Literal["error", "warning", "note"]
    meaning: str
    advice: str

    @property
    def page(self) -> str:
        """The page that explains it, below the project's folder."""
        return f"docs/findings/{self.id}.md"

    @property
    def text(self) -> str:
        """What that page says, in Markdown."""
        folder = importlib.resources.files("weakspot.pages")
        return folder.joinpath(f"{self.id}.md").read_text(encoding="utf-8")


KINDS: dict[str, Kind] = {
    kind.id: kind
    for kind in (
        Kind(
            "WS001",
            "not as recorded",
            "error",
            "The structure's claims.toml or its golden tests say one thing, this run found "
            "another.",
            "find out which is right: correct the source or the model, or record what is true.",
        ),
        Kind(
            "WS101",
            "assertion violated",
            "error",
            "An execution of the program makes one of its assertions fail.",
            "read the witness; where it happens under sc too, no memory order repairs it.",
        ),
        Kind(
            "WS102",
            "data race",
            "error",
            "Two threads access one location, at least one of them writes, one of the accesses "
            "is plain, and nothing orders them: the program's behaviour is undefined.",
            "make the access atomic, or order the two by a release and an acquire.",
        ),
        Kind(
            "WS103",
            "hang",
            "error",
            "A thread waits for something that no thread will do any more.",
            "look for a wake-up that is sent before the waiter is registered.",
        ),
        Kind(
            "WS104",
            "uninitialised or invalid memory",
            "error",
            "A thread reads memory before anything is written to it, or after it was freed.",
            "publish the address with a release, and read it with an acquire.",
        ),
        Kind(
            "WS105",
            "mutex misused",
            "error",
            "A thread unlocks a mutex that it does not hold, or locks one that it holds: the "
            "program's behaviour is undefined.",
            "let the thread that locks unlock, on every path.",
        ),
        Kind(
            "WS201",
            "disallowed outcome seen",
            "error",
            "A machine showed an outcome that a model forbids. Either the model is wrong for "
            "this machine, or the compiler did what the model does not allow, or the claim that "
            "the model states is false.",
            "look at the assembly; if the outcome is known, record it with `seen` in claims.toml.",
        ),
        Kind(
            "WS202",
            "compiled code allows what the source forbids",
            "error",
            "The machine code that a compiler made of a test, under the model of its instruction "
            "set, has an outcome that the language's model forbids of the source. Either the "
            "compiler is wrong, or one of the models is.",
            "read the assembly beside the source's orders; report it to the compiler, use another "
            "version, or strengthen the order until the code is right.",
        ),
        Kind(
            "WS301",
            "stronger than needed",
            "warning",
            "With a weaker memory order there, and with all that relax proposes together, every "
            "scenario is still safe under the model.",
            "weaken it, unless a use that no scenario has needs it; relax --apply does.",
        ),
        Kind(
            "WS401",
            "checkers disagree",
            "error",
            "Two checkers answered the same question differently; one of them is wrong.",
            "compare the states they list; report the smaller test to the one that errs.",
        ),
        Kind(
            "WS402",
            "silence says nothing",
            "note",
            "Outcomes that every model allows were not seen on the machine, or nothing was seen of "
            "a test and of its weaker siblings. That a forbidden outcome was not seen there "
            "either is then no evidence.",
            "run longer, or on a machine with weaker ordering.",
        ),
        Kind(
            "WS403",
            "control failed",
            "error",
            "A test with a full fence between every two accesses showed a state that no "
            "interleaving gives. The runner, the compiler or the machine is wrong, and nothing "
            "that was counted together with it is believed.",
            "look at the assembly of the test; run it with the other runner, and report it.",
        ),
    )
}


def kind(name: str) -> Kind:
    """The kind called `name`, in any case; BadInput says which ids there are."""
    found = KINDS.get(name.upper())
    if found is None:
        close = difflib.get_close_matches(name.upper(), KINDS, n=1)
        advice = f"did you mean {close[0]}? " if close else ""
        raise BadInput(f"no finding is called {name}", advice=f"{advice}known: {', '.join(KINDS)}")
    return found
