"""The Rust crate as Python sees it (engine/bindings)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Self, TypedDict

__version__: str

class Problem(TypedDict):
    """Why a litmus test, a model or a program cannot be used."""

    about: Literal["test", "model", "program"]
    # unsupported: it may be right, but uses what the engine does not read
    kind: Literal["invalid", "unsupported"]
    message: str
    file: str  # "" when no file is known; of a program, as its debug information names it
    line: int  # from 1; 0 when it is not known
    column: int  # in characters, from 1; 0 when it is not known
    length: int  # in characters; 0 when it is not known
    help: str  # what to do about it; may be empty

class EngineError(Exception):
    """The engine cannot use what it is given; the argument is the problem's message."""

    problem: Problem

class SiteDict(TypedDict):
    file: str
    line: int
    column: int
    function: str
    # innermost call first, up to the thread's function: "function@file:line:column" of each call
    chain: list[str]
    # R W RMW CAS F SF lock unlock create join; loop, assert and call (malloc, free …) for the
    # places that runs speak of
    kind: str
    # na rlx acq rel acq_rel sc
    order: str

class EventDict(TypedDict):
    site: int  # index into Program.sites
    # R, W, RMW (also a CAS that succeeds), CASF (a CAS that fails: a read), F (thread fence),
    # SF (signal fence), LOCK, UNLOCK, CREATE, JOIN
    kind: str
    order: str  # of this access: for CASF the failure order
    loc: str  # "q.slot[1].turn", "heap0+8"; "" for fences
    address: int  # concrete, the same in all runs for the same object
    size: int  # bytes
    read: int | None  # value read
    written: int | None
    op: str  # for RMW: xchg add sub and or xor max min …, "cas", "cas_weak"; else ""
    operand: int | None  # second operand of the RMW; the expected value for a CAS
    volatile: bool
    call: int  # ordinal of the thread's top-level call this event belongs to (its operation)
    operation: (
        str  # that call's function, e.g. "wsq_try_steal"; the thread's function outside calls
    )
    # indices of earlier events of the same thread; equal lists are one object, not to be changed
    addr: list[int]
    data: list[int]
    ctrl: list[int]
    other: int | None  # CREATE, JOIN: the thread

class RunDict(TypedDict):
    # threads[t] is the events of thread t in program order; thread 0 runs main
    threads: list[list[EventDict]]
    # "complete", "assertion", "deadlock", "bound", "memory" (invalid access, double free …)
    outcome: str
    message: str  # the failed assertion's text, or what went wrong
    site: int | None  # where
    count: int  # how many interleavings gave these same event sequences

class TraceDict(TypedDict):
    runs: list[RunDict]
    interleavings: int  # how many were executed
    exhaustive: bool  # all sequentially consistent interleavings, none cut by a bound
    how: str  # one line: what was run when not exhaustive
    bound_sites: list[int]  # loops that a bound cut
    functions: list[str]  # the start function of each thread

class EventOfExecution(TypedDict):
    # the first seven as in EventOfWitness; locations are named as in EventDict
    thread: int | None
    label: str
    kind: str  # R W RMW F LOCK UNLOCK FREE
    order: str  # na rlx acq rel acq_rel sc
    location: str
    read: str
    written: str
    site: int | None  # index into Program.sites; None for initial values

class WaitDict(TypedDict):
    thread: int
    what: str  # what it waits for: "a lock", "a condition", "its loop to end" …
    site: int

class ExecutionDict(TypedDict):
    """An execution that violates something, without the events that it does not need.

    Kept are the events that the violation depends on, in values and in whether it comes at all,
    those of the cycle and the fences between them; of a race the two accesses and the way from one
    to the other, if there is one; of a hang why nobody writes what would end it.
    """

    functions: list[str]  # the start function of each thread
    events: list[EventOfExecution]  # thread by thread in program order, initial values first
    # pairs of indices of events; co and fr lead to the next write only
    rf: list[tuple[int, int]]
    co: list[tuple[int, int]]
    fr: list[tuple[int, int]]
    # a shortest cycle of po, rf, co, fr: from, to, which; empty for an execution without one
    cycle: list[tuple[int, int, str]]
    conflict: tuple[int, int] | None  # of a race: the two accesses
    waits: list[WaitDict]  # of a hang: who stands where

class ViolationDict(TypedDict):
    kind: str  # assertion race hang uninitialised memory lock
    message: str
    site: int | None  # of a race, the first access
    executions: int  # how many show it
    witness: ExecutionDict

class ExplorationDict(TypedDict):
    result: str  # Safe Violated Unknown
    reasons: list[str]  # why not everything was explored; empty when it was
    limit: str | None  # executions seconds stopped: what ended it early
    cut_sites: list[int]  # loops that their bound cut
    fixed: bool  # a bound that nobody sets cut something: on events, instructions, calls, threads
    violations: list[ViolationDict]  # one for each kind and place
    # how many executions end in which way, each counted once
    complete: int  # every thread ends
    blocked: int  # a thread waits for what does not come in this execution
    cut: int  # a bound ends a thread
    faulty: int  # an error ends a thread
    seconds: float

class Program:
    """A concurrent program, lowered from clean LLVM IR text.

    Raises EngineError for IR that the engine does not model.
    """

    def __init__(self, ir: str) -> None: ...
    @property
    def sites(self) -> list[SiteDict]: ...
    @property
    def fingerprint(self) -> str:
        """Equal for programs that do the same, with the same orders, at the same places."""

    @property
    def orders(self) -> list[str]:
        """The order of each site as `with_orders` takes it, "" for one that has none to choose.

        rlx acq rel acq_rel sc; of a compare-exchange those on success and on failure, as
        "acq_rel/rlx"; of a fence that is not there "none".
        """

    def with_orders(
        self, orders: Mapping[int, str], *, fences: Sequence[tuple[int, str, str]] = ()
    ) -> Self:
        """This program with other memory orders at these sites.

        `fences` are put in: beside which site, "before" or "after", of which order. Each is a new
        site after all others, which keep their numbers. Raises EngineError for an order that C
        does not allow there, and for a site that has none to choose.
        """

    @property
    def functions(self) -> list[str]: ...
    def trace(
        self,
        *,
        loops: int = 4,
        interleavings: int = 4000,
        seed: int = 0,
        shared_only: bool = True,
        spurious: bool = True,
    ) -> TraceDict:
        """Run main's threads in sequentially consistent interleavings.

        All of them when there are at most `interleavings`; else every state once, which gives the
        same event sequences; where that is too much too, every order of whole operations and a
        sample drawn with `seed`, as many in all. A loop that makes no progress waits for another
        thread's write; other loops are cut after `loops` rounds, if a shared value ends them. With
        `shared_only`, events on objects that a single thread uses are left out. With `spurious`,
        weak compare-exchanges also fail spuriously, once a run each. Runs with equal event
        sequences (sites, kinds, locations, orders; not values) are merged, the first kept.
        Releases the GIL.
        """

    def explore(
        self,
        model: str,
        *,
        folders: Sequence[str] = (),
        loops: int = 4,
        executions: int = 0,
        seconds: float = 0.0,
        jobs: int = 0,
        porf_acyclic: bool = False,
        stop_at_first: bool = False,
        done: Callable[[int], object] | None = None,
    ) -> ExplorationDict:
        """Explore every execution that the model of a cat file allows, each once.

        What main does before it starts its first thread is run once: it is the initial state.
        `model` is a path; what it includes is looked for beside it, then in `folders`. A loop
        whose round changes nothing waits for another thread's write; others whose end a shared
        value decides are cut after `loops` rounds. Weak compare-exchanges also fail spuriously,
        once a site and thread; condition variables do not wake spuriously. The work ends after
        so many `executions` or `seconds`, 0 for no limit, and with `stop_at_first` at the first
        violation. `jobs` threads work at a time, 0 for one a core; the GIL is released. `done` is
        called in the calling thread from time to time, with the number of executions so far.
        Ctrl-C ends the work at once, as does what `done` raises.

        Violated when there is a violation; Unknown when there is none and a limit cut something;
        else Safe. Raises EngineError for a model that cannot be read or applied, for one that may
        have cycles of po and rf (`porf_acyclic` says that its author knows better than the
        analysis), and for what the program does that the engine gives no meaning to.
        """

class EventOfWitness(TypedDict):
    thread: int | None  # None for the initial value of a location
    label: str  # a, b, … thread by thread; "" for an initial value
    kind: str  # R W RMW F LOCK UNLOCK
    order: str  # rlx acq rel acq_rel sc na; elsewhere the sets of its annotation: mfence, x, …
    location: str
    read: str  # the value, "" when it reads nothing
    written: str

class WitnessDict(TypedDict):
    events: list[EventOfWitness]
    # pairs of indices of events; co and fr lead to the next write only
    rf: list[tuple[int, int]]
    co: list[tuple[int, int]]
    fr: list[tuple[int, int]]
    # a shortest cycle of po, rf, co, fr: from, to, which; empty for an execution without one
    cycle: list[tuple[int, int, str]]
    state: dict[str, str]
    axiom: str  # that forbids the execution; "" when the model allows it

class AnswerDict(TypedDict):
    name: str
    condition: str  # as herd7 prints it
    observation: str  # Never Sometimes Always Undefined Unknown
    condition_holds: bool | None  # None when Undefined or Unknown
    # {"0:r0": "1", "[x]": "2"}, as herd7 writes and orders them
    states: tuple[dict[str, str], ...]
    flags: tuple[str, ...]  # "*undef*" first
    positive: int  # executions that satisfy the proposition
    negative: int
    seconds: float
    loop_bound_reached: bool  # a loop may have more rounds than herd7 unrolls
    reason: str  # why Unknown
    error: Problem | None  # the model cannot be applied to this test
    malformed: Problem | None  # the test cannot be read: it has no name and no condition here
    # with `explained` only:
    witness: WitnessDict | None  # an execution with the outcome; a forbidden one when none may be
    forbidden_by: dict[str, int]  # axiom: candidates with the outcome that it is first to kill
    explanation_incomplete: bool  # a limit was reached: forbidden_by counts only a part

def check(
    tests: Sequence[str | tuple[str, str]],
    model: str,
    *,
    folders: Sequence[str] = (),
    seconds: float,
    candidates: int,
    memory: int,
    done: Callable[[int, AnswerDict], object],
    jobs: int = 0,
    explained: bool = False,
) -> None:
    """Decide litmus tests under the model of a cat file.

    `tests` are paths of files, or pairs of a name, for messages, and the text. What the model
    includes is looked for beside the including file, then in `folders`. Each test may take
    `seconds`, look at so many `candidates` and hold so many bytes of `memory`; beyond, its answer
    is Unknown with the reason, which names the limit. `jobs` threads work at a time, 0 for one a
    core; the GIL is released. `done` is called in the calling thread with each test's number and
    answer, soon after there is one. Ctrl-C ends the work at once, as does what `done` raises.

    Raises EngineError for a model that cannot be read.
    """

class OutlineDict(TypedDict):
    """The header and the sections of a litmus test in any dialect, as text."""

    dialect: str
    name: str
    condition: str  # from its quantifier on, in one line without comments; "" if there is none
    preamble: str  # what precedes the initial state: header, documentation, metadata
    initial: str  # between the braces of the initial state
    program: str
    end: str  # what follows the threads: `locations`, `filter`, the condition

def outline(text: str) -> OutlineDict:
    """The outline of a litmus test. Raises EngineError for a text that has none."""

def renamed(text: str, name: str) -> str | None:
    """A litmus test under another name; None for a text without a header."""

def straight_line(text: str) -> dict[str, object] | None:
    """The straight-line form of a C litmus test: the fields of generators.litmus.Body.

    None for a test that has none: with loops, locks, computed values or addresses, a location
    with both atomic and plain accesses, or a condition that is not `exists` over a conjunction. A
    register that is written behind a guard must be -1 before. Raises nothing.
    """

def unsuitable(model: str, *, folders: Sequence[str] = (), porf_acyclic: bool = False) -> str:
    """Why programs cannot be explored under the model of a cat file; "" if they can.

    The arguments are as those of Program.explore. Raises EngineError for a model that cannot be
    read or applied.
    """
