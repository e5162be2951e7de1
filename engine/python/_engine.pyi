"""The Rust crate as Python sees it (engine/src/python.rs)."""

from typing import TypedDict

__version__: str

class EngineError(Exception):
    """An IR construct the engine does not model, or a broken IR text.

    args: (kind, message, place): kind is "unsupported" or "invalid"; place is
    "file:line:column" in the source where debug information gives it, else "".
    """

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

class Program:
    """A concurrent program, lowered from clean LLVM IR text.

    Raises EngineError for IR that the engine does not model.
    """

    def __init__(self, ir: str) -> None: ...
    @property
    def sites(self) -> list[SiteDict]: ...
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
