"""The engine, written in Rust (engine/bindings)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, Self, TypedDict, Unpack, overload

from weakspot.harness.values.bounds import Bounds, Part
from weakspot.harness.values.verdict import Verdict

__version__: str
Acyclic = Literal["program order", "dependencies"]
"""What a model's axioms keep from forming a cycle with rf."""

DIALECTS: tuple[str, ...]  # of the litmus tests that the engine decides, as headers name them

class Problem(TypedDict):
    """Why a litmus test, a model or a program cannot be used."""

    about: Literal["test", "model", "program"]
    # unsupported: it may be correct, but uses something that the engine does not support
    kind: Literal["invalid", "unsupported"]
    message: str
    file: str  # "" when no file is known; of a program, as its debug information names it
    line: int  # from 1; 0 when it is not known
    line_of_ir: int  # of the program's LLVM IR, from 1; 0 when it is not known
    column: int  # in characters, from 1; 0 when it is not known
    length: int  # in characters; 0 when it is not known
    help: str  # what to do about it; may be empty
    # the functions and variables of a program that are not defined, the one that it is about first
    missing: list[str]
    # what it is about, where the advice depends on it
    construct: Literal["inline assembly", "random number", "no main", ""]

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
    # R W RMW CAS F SF lock unlock create join; loop, assert and call (malloc, free …) for other
    # places that traces and violations name
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
    site: int | None  # where it failed
    count: int  # number of interleavings with these event sequences

class TraceDict(TypedDict):
    runs: list[RunDict]
    interleavings: int  # number of interleavings executed
    exhaustive: bool  # all sequentially consistent interleavings ran, none stopped at a bound
    how: str  # one line: what was run when not exhaustive
    interrupted: bool  # the time was up
    bound_sites: list[int]  # loops that reached their bound
    functions: list[str]  # the start function of each thread

class EventOfExecution(TypedDict):
    # the function of a system header that the site calls; empty for the source's own operations
    call: str | None
    # the first seven as in EventOfWitness; locations are named as in EventDict
    thread: int | None
    label: str
    kind: str  # R W RMW F LOCK UNLOCK FREE END FAILS RETURNS CLOCK
    order: str  # na rlx acq rel acq_rel sc
    location: str
    read: str
    written: str
    site: int | None  # index into Program.sites; None for initial values

class WaitDict(TypedDict):
    thread: int
    what: str  # what it waits for: "a lock", "a condition", "its loop to end" …
    site: int

class CallDict(TypedDict):
    """A call of an operation, which has returned."""

    thread: int
    call: str  # as it is written
    result: int
    before: list[int]  # indices of the calls that precede it

class CallsDict(TypedDict):
    """Calls whose results are those of no sequential order of them."""

    calls: list[CallDict]
    nearest: list[tuple[int, int]]  # the nearest sequential history: indices of calls, results
    differs: int | None  # the first call in it that returns something else

class ExecutionDict(TypedDict):
    """An execution with a violation, reduced to the events that explain it.

    It has the events on which the violation and its values depend, those of the cycle, and the
    fences between them; for a race the two accesses and a path from one to the other, if there is
    one; for a hang the reason why no thread writes the value that would end it.
    """

    functions: list[str]  # the start function of each thread
    events: list[EventOfExecution]  # thread by thread in program order, initial values first
    # pairs of indices of events; co and fr lead to the next write only
    rf: list[tuple[int, int]]
    co: list[tuple[int, int]]
    fr: list[tuple[int, int]]
    # a shortest cycle of po, rf, co, fr: from, to, which; empty for an execution without one
    cycle: list[tuple[int, int, str]]
    conflict: tuple[int, int] | None  # for a race: the two accesses
    waits: list[WaitDict]  # for a hang: the threads that wait
    calls: CallsDict | None  # for a history that is not linearizable

class ViolationDict(TypedDict):
    kind: str  # assertion race hang uninitialised memory lock linearizability flag
    message: str
    site: int | None  # for a race, the first access
    accesses: list[int | None]  # of a race, both; of a flag, the two events that it is about
    executions: int  # number of executions with it
    witness: ExecutionDict

class AuditDict(TypedDict):
    """A harness.values.exploration.Audit, and what the search did not find."""

    descents: int
    seconds: float
    refused: str  # why the reference does not explore the program under the model
    missed: list[tuple[str, str, int | None]]  # kind, message, site: not found by the search

class EvidenceDict(TypedDict):
    """What the answer rests on: a harness.values.exploration.ExplorationEvidence."""

    reductions: list[str]
    exhausted: bool
    model: Literal["proved", "stated", "asked", "refuted", "unneeded", ""]
    audit: AuditDict | None

class ReasonDict(TypedDict):
    """Fields of a harness.values.reason.Reason. `limit` is an argument of explore, "" for a fixed
    limit, or what ended the exploration; the others are "" or None where the kind does not have
    them."""

    kind: Literal["truncated", "limit", "no execution", "unproved", "refuted", "missed", "refused"]
    limit: str
    message: str
    because: str
    site: str  # file:line:column
    number: float | None  # value of the limit

class ExplorationDict(TypedDict):
    result: str  # Safe Violated Unknown
    reasons: list[ReasonDict]  # why not everything was explored; empty when it was
    limit: str | None  # executions, seconds or stopped: why it ended early
    bound_sites: list[int]  # loops that reached their bound
    limits: list[str]  # arguments of explore that ended a thread, sorted; "" for a fixed limit
    violations: list[ViolationDict]  # one per kind and site
    warnings: list[ViolationDict]  # likewise, what is no error by itself
    # whether what operation calls return was not compared with their specification
    skips_calls: bool
    not_asserted: list[int]  # assertions that no execution comes to, as far as was explored
    mixed_sizes: int | None  # the site of an access that an atomic one of another size overlaps
    fails: bool  # whether the program has weak compare-exchanges
    threads: int  # that the program starts, in all executions together
    # numbers of executions, each counted in one of them
    complete: int  # every thread ends
    blocked: int  # a thread waits for a value that no thread writes in this execution
    # how many these stand for at most, with those in which like threads are exchanged
    represented: int
    truncated: int  # a thread reaches a bound
    faulty: int  # a thread ends with an error
    # what main returns, in how many complete executions; empty unless asked for by `results`
    results: dict[int, int]
    seconds: float
    departures: int | None  # everything up to so many was explored, and there is more
    rounds: int | None  # of loops: everything up to so many was explored, less than asked for
    loop_bound: int  # how many rounds of loops were followed
    # if twice as many take longer than the time that is left: the estimate, and executions per
    # second
    doubled: tuple[tuple[float, float, int], float] | None
    rate: float | None  # executions per second, for an estimate
    resumed: bool  # whether only what `resume` had left open was explored
    earlier: int  # how many of the executions were explored before, if this resumed there
    estimate: tuple[float, float, int] | None  # executions, standard error, descents
    sample: tuple[int, int, float] | None  # draws, distinct executions, probability of these
    evidence: EvidenceDict

ExplorationProgress = Callable[[int, tuple[float, float] | None], object]
"""Takes the number of executions so far, and an estimate of how many there are with its error."""

class ExplorationArguments(TypedDict, total=False):
    """The arguments of Program.explore besides the model. Without `bounds` only the numbers of
    loops, events, instructions and calls are limited; without `part` all executions are explored.
    """

    bounds: Bounds
    part: Part
    folders: Sequence[str]
    acyclic: Acyclic | None
    jobs: int
    stop_at_first: bool
    results: bool
    share: bool
    resume: bytes | None
    keep: Callable[[bytes], object] | None
    done: ExplorationProgress | None

class Program:
    """A concurrent program, lowered from clean LLVM IR text.

    Raises EngineError for IR that the engine does not model.
    """

    def __init__(self, ir: str, changes: Sequence[object] = ()) -> None: ...
    def __getnewargs__(self) -> tuple[str, list[object]]:
        """What pickle makes the same program of: its IR, and how it was changed since."""

    @property
    def sites(self) -> list[SiteDict]: ...
    @property
    def fingerprint(self) -> str:
        """Equal for programs with the same instructions, memory orders and sites."""

    @property
    def may_lack_definitions(self) -> bool:
        """Whether an execution may reach a function or a variable that is not defined, which is an
        error."""

    @property
    def of_kernel(self) -> bool:
        """Whether it has the Linux kernel's primitives, those of <weakspot/kernel.h>."""

    @property
    def orders(self) -> list[str]:
        """The memory order of each site as `with_orders` takes it; "" where none can be chosen.

        rlx acq rel acq_rel sc; for a compare-exchange those on success and on failure, as
        "acq_rel/rlx"; "none" for a fence that is absent. Fences of the Linux kernel's model are
        rmb, wmb, before-atomic, after-atomic, after-spinlock, after-unlock-lock and sync-rcu.
        """

    def with_orders(
        self, orders: Mapping[int, str], *, fences: Sequence[tuple[int, str, str]] = ()
    ) -> Self:
        """This program with other memory orders at these sites.

        Each of `fences` is inserted: next to which site, "before" or "after", of which memory
        order. It becomes a new site after all others, whose numbers do not change. Raises
        EngineError for a memory order that C does not allow there, and for a site without one.
        """

    @property
    def signals(self) -> list[tuple[int, str, bool]]:
        """What may be left out: the site, what it is ("notification", "post" or "fence"), and
        whether it wakes several threads."""

    @property
    def volatile_sites(self) -> list[int]: ...
    def with_fewer_signals(self, sites: Sequence[int], to_one: bool) -> Self:
        """This program without the signals at these sites; with `to_one`, each wakes one thread."""

    def with_parameters(self, parameters: Sequence[int]) -> Self:
        """This program with these numbers for `weakspot_parameter`."""

    @property
    def functions(self) -> list[str]: ...
    def trace(
        self,
        *,
        loops: int = ...,
        events: int = 4000,
        interleavings: int = 4000,
        seed: int = 0,
        shared_only: bool = True,
        spurious: bool = True,
        seconds: float = 0.0,
    ) -> TraceDict:
        """Run main's threads in sequentially consistent interleavings.

        All of them if there are at most `interleavings`; otherwise every state once, which gives
        the same event sequences; if there are too many states, every sequence of whole operations
        and a sample drawn with `seed`, `interleavings` in total. A loop that makes no progress
        waits for another thread's write; a loop that ends depending on a shared value runs for at
        most `loops` rounds, and a thread for at most so many `events`. With `shared_only`, events
        on objects that a single thread uses are omitted. With `spurious`, each weak compare-
        exchange also fails spuriously once per run. Runs with equal event sequences (sites, kinds,
        locations, orders; not values) are merged into the first. After `seconds`, unless they are
        0, the trace has the runs until then, at least one. Releases the GIL.
        """

    def explore(self, model: str, **how: Unpack[ExplorationArguments]) -> ExplorationDict:
        """Explore every execution that the model of a cat file allows, each once.

        `part` says which: see Part, whose `fallback` is ignored. Those within a number of
        departures are explored by increasing numbers of these, up to the first violation. The
        result for a part is never Safe unless everything was explored nevertheless. The reference
        explores under models whose axioms forbid cycles of po and rf; with it `results` are
        counted, a violation has no witness, and a loop's rounds that change nothing count towards
        `loops` too.

        A program that seems safe is audited. What the audit finds is in the evidence, and the
        result is then not Safe.

        The code of main before its first thread starts runs once and gives the initial state.
        `model` is a path; files that it includes are searched in its folder, then in `folders`. A
        loop whose round changes nothing waits for another thread's write; a loop that ends
        depending on a shared value runs for at most `loops` rounds. Condition variables do not wake
        spuriously. The exploration ends after the `executions` or `seconds` of the `bounds`, 0 for
        no limit, and with `stop_at_first` at the first violation. It uses `jobs` threads, 0 for one
        per core, and releases the GIL. `done` is called in the calling thread from time to time,
        with the number of executions so far, and from two seconds on with an estimate of how many
        there are and its standard error. If the time does not suffice for all executions of a
        program with bounded loops, those with fewer rounds are explored too, in a quarter of it.
        Ctrl-C ends the exploration at once, as does an exception from `done`.

        When a limit, Ctrl-C or `done` ends an exploration of every execution, `keep` is called with
        what a later process passes as `resume` to continue there: with the same program, model and
        engine, and the same arguments but for `executions`, `seconds` and `jobs`. This is not
        checked, except that bytes that `keep` did not get are ignored. `executions` then includes
        those explored before.

        Several processes explore one program together if each takes a share of what is left open,
        from `divide`, as `resume`, and what `keep` gets from each is joined with `join`. With
        `share`, `keep` is always called, also when nothing is left open; nothing is explored
        besides what was left open; `executions` and `earlier` are of this share; and violations are
        in what `keep` gets, not in the result. If the result is not `resumed`, the program was
        found to need another search tree: what was left open in it, and all other shares, are worth
        nothing.

        The result is Violated if there is a violation; Unknown if there is none and a limit or a
        bound was reached; otherwise Safe. Raises EngineError for a model that cannot be read or
        applied, for one that may have cycles of po and rf (`acyclic`, what its author says that its
        axioms imply, replaces the analysis), and for operations of the program without a
        semantics here.
        """

    def join(self, one: bytes, other: bytes, bounds: Bounds) -> tuple[bytes, bool]:
        """Two shares of one exploration of this program as one, which either `keep` got or `divide`
        returned, and whether the exploration starts again: what one has found contradicts what the
        other assumes, so that nothing is explored now, and all other shares are worth nothing.

        The bounds are those of the exploration. Raises EngineError for shares of explorations that
        did not start alike, ValueError for what is no share.
        """

class EventOfWitness(TypedDict):
    thread: int | None  # None for the initial value of a location
    label: str  # a, b, … thread by thread; "" for an initial value
    kind: str  # R W RMW F LOCK UNLOCK
    order: str  # in C rlx acq rel acq_rel sc na; in assembly its annotations: mfence, x, …
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
    axiom: str  # the axiom that forbids the execution; "" when the model allows it

class AnswerDict(TypedDict):
    name: str  # empty, as the condition, if the test cannot be read
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
    reason: str  # why the observation is Unknown
    error: Problem | None  # the model cannot be applied to this test
    malformed: Problem | None  # the test cannot be read: name and condition are empty
    witness: WitnessDict | None  # with `explained` only, as `forbidden_by`
    forbidden_by: dict[str, int]  # axiom: number of candidates that it is the first to forbid
    explanation_incomplete: bool  # a limit was reached: forbidden_by counts only a part

class PrintedAnswer:
    """The answer for a test, printed."""

    observation: Final[str]
    reason: Final[str]
    seconds: Final[float]
    text: Final[str]
    error: Final[Problem | None]  # as in an Answer
    malformed: Final[Problem | None]

class LitmusFile:
    """A `.litmus` file that was found in a folder."""

    name: Final[str]  # of the test in the header; that of the file, if it is no litmus test
    arch: Final[str]  # the dialect; "" of a file that is no litmus test
    path: Final[str]
    folder: Final[str]  # the one that was named

class LitmusFiles(Sequence[LitmusFile]):
    """Files of litmus tests, in the order of the names of the tests. A slice is a part of them, and
    copies nothing."""

    dialects: Final[Sequence[str]]  # of the tests, each once

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: int) -> LitmusFile: ...
    @overload
    def __getitem__(self, at: slice) -> Self: ...

class LoadedModel:
    """A model for several calls of `check_files`, which share what is computed from it alone.

    Raises EngineError for a model that cannot be read.
    """

    def __init__(self, path: str, *, folders: Sequence[str] = ()) -> None:
        """Read a cat file or a configuration; `folders` as for `check`."""

def check_files(
    files: Sequence[LitmusFile],
    model: LoadedModel,
    *,
    names: tuple[str, str],
    form: str,
    seconds: float,
    candidates: int,
    memory: int,
    done: Callable[[int, PrintedAnswer], object],
    jobs: int = 0,
) -> None:
    """As `check`, for files of folders. `names` are those of model and checker, `form` is json, for
    one Verdict per line, herd, for entries of a log, or "" for no text."""

class Answer:
    """The answer for a test."""

    observation: Final[str]  # Never Sometimes Always Undefined Unknown
    error: Final[Problem | None]  # the model cannot be applied to this test
    malformed: Final[Problem | None]  # the test cannot be read
    # with `explained` only: an execution with the outcome; forbidden if none is allowed
    witness: Final[WitnessDict | None]

    def json(self, test: str, model: str, checker: str) -> str:
        """The Verdict with these names as JSON, without its witness and sites. A loop that is not
        unrolled completely leaves Never and Always open."""

    def as_dict(self) -> AnswerDict:
        """All that is known."""

def litmus_files(
    folders: Sequence[str],
    *,
    is_entered: Callable[[str], bool],
    is_program: Callable[[str], bool],
    dialects: Sequence[str],
    distinguish: Callable[[str, Sequence[tuple[str, str]]], Sequence[str]],
    stored: int = 0,
    jobs: int = 0,
) -> LitmusFiles | None:
    """The litmus tests below folders, found as by `below`: files with a header of one of the
    `dialects`, an initial state, and a final condition or a list of locations; the threads are not
    read. The texts of the first files are `stored`, up to so many bytes.

    `distinguish` gets the name of several files, with the path and the folder of each, and returns
    their names; if these are equal, the first file alone is left. None if there is no test in one
    of the folders, or a program in any, or if names are equal even so."""

def below(
    folder: str, *, is_entered: Callable[[str], bool], is_program: Callable[[str], bool]
) -> list[str]:
    """The paths of the litmus tests and programs below a folder, in their order. `is_entered` is
    asked about the folders in it, `is_program` about files that are not called `.litmus`."""

def herd_hash(text: str) -> str:
    """herdtools7's digest of a litmus test; empty if it cannot be computed with certainty."""

def herd_log(verdict: Verdict) -> str:
    """A Verdict as an entry of a log of herd7, with the empty line after it."""

def check(
    tests: Sequence[str | tuple[str, str]],
    model: str,
    *,
    folders: Sequence[str] = (),
    seconds: float,
    candidates: int,
    memory: int,
    done: Callable[[int, Answer], object],
    jobs: int = 0,
    explained: bool = False,
) -> None:
    """Decide litmus tests under the model of a cat file, or of a configuration of herd7 (.cfg).

    `tests` are paths of files, or pairs of a file name, for messages, and the text. Files that the
    model includes are searched in the folder of the including file, then in `folders`. Each test
    may take `seconds`, `candidates` and `memory` in bytes; when it reaches a limit, its answer is
    Unknown, and the reason names the limit. The work uses `jobs` threads, 0 for one per core, and
    releases the GIL. `done` is called in the calling thread with each test's number and answer,
    soon after it is found. Ctrl-C ends the work at once, as does an exception from `done`.

    Raises EngineError for a model that cannot be read.
    """

Quantifier = Literal["exists", "~exists", "forall"]

class Condition:
    """A final condition, `exists (0:r0=1 /\\ [x]=2)`, for states as herd7 and litmus7 print them.

    The test's dialect is not needed: a register has the name that is printed. Raises EngineError
    for a condition that is not supported (faults, page tables, vectors).
    """

    def __init__(self, text: str) -> None: ...
    def holds(self, state: Mapping[str, str]) -> bool:
        """Whether `{"0:r0": "1", "[x]": "2"}` satisfies the proposition, without the quantifier.

        Raises KeyError for a state without a value that can be read for each name in it.
        """

def quantifier(condition: str) -> Quantifier:
    """The quantifier with which a condition begins, exists if there is none. Raises nothing."""

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

def divide(exploration: bytes, most: int) -> tuple[bytes, list[bytes]]:
    """What an exploration has found, with nothing left open, and what it has left open as at most
    so many shares; none if nothing is. The first share is expected to be the largest.

    `exploration` is what the `keep` of Program.explore got. Raises ValueError for anything else.
    """

def reductions() -> list[tuple[str, str]]:
    """The reductions that can be switched off: their names, and the executions that each leaves
    out."""

def unsuitable(model: str, *, folders: Sequence[str] = (), acyclic: Acyclic | None = None) -> str:
    """Why programs cannot be explored under the model of a cat file; "" if they can.

    The arguments are as those of Program.explore. Raises EngineError for a model that cannot be
    read or applied.
    """
