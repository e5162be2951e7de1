"""The values that checkers, runners, judge, store and report exchange. All frozen; the JSON form
of each is a contract (`--json`, and the lines of a campaign's files)."""

from __future__ import annotations

from typing import Literal

import msgspec

from weakspot.generators.litmus import Test

Observation = Literal["Never", "Sometimes", "Always", "Undefined", "Unknown"]
State = dict[str, str]


class WitnessEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event of a witness. `thread` is None for the initial value of a location, which has no
    label. `kind`: R, W, RMW, F, LOCK, UNLOCK, of a program also FREE; `order` as the model's sets
    name it: rlx, sc, mfence. `read` and `written` are values, empty for what the event does not
    do. `site` is the `file:line` that the event comes from, where that is known."""

    thread: int | None
    label: str
    kind: str
    order: str = ""
    location: str = ""
    read: str = ""
    written: str = ""
    site: str = ""


class Witness(msgspec.Struct, frozen=True, kw_only=True):
    """One execution, which shows why an outcome is possible or what forbids it.

    Edges are pairs of indices of `events`, which stand thread by thread in program order; co
    leads from a write to the next of its location, fr from a read to the first write that it
    comes too early for. `cycle` is a shortest cycle of po, rf, co and fr, empty when the threads
    simply take turns. `axiom` is what forbids the execution, "" when the model allows it.
    """

    events: tuple[WitnessEvent, ...]
    rf: tuple[tuple[int, int], ...] = ()
    co: tuple[tuple[int, int], ...] = ()
    fr: tuple[tuple[int, int], ...] = ()
    cycle: tuple[tuple[int, int, str], ...] = ()
    state: State = {}
    axiom: str = ""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a checker says of a Test under a Model.

    `observation` is that of the condition's proposition, in herd7's words; Undefined when the
    model flags a data race; Unknown when a limit was hit or the checker cannot read the test
    (`reason` says which). `condition_holds` is herd7's Ok/No, None when unknown. `states` may
    be empty for a checker that does not enumerate (CBMC). `witnesses` are the executions that
    satisfy and do not satisfy the proposition, when the checker counts them. `witness` is an
    execution with the outcome that the condition asks about, a forbidden one when there is no
    other; `forbidden_by` says how many candidates with that outcome each axiom kills first.
    """

    test: str
    model: str
    checker: str
    observation: Observation
    condition_holds: bool | None
    states: tuple[State, ...] = ()
    flags: tuple[str, ...] = ()
    seconds: float = 0.0
    sites: tuple[str, ...] = ()
    condition: str = ""
    witnesses: tuple[int, int] | None = None
    reason: str = ""
    hash: str = ""  # herd7's digest of the parsed test, where the checker gives one
    witness: Witness | None = None
    forbidden_by: dict[str, int] = {}


class Count(msgspec.Struct, frozen=True):
    state: State
    count: int


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """A sibling of a test, run by the same runner in the same way, and what it says of the run.

    `kind` is "fenced": the sibling with all fences, which must show interleavings only; `wrong`
    names a state that is none. Or "weaker": the sibling that lacks one order; `missed` is the
    probability that the test would not have been seen so often as it was run, were its outcome
    as likely as this sibling's under each setting of the runner; None if the sibling was not
    seen.
    """

    kind: Literal["fenced", "weaker"]
    change: str  # what is different from the test
    target: int
    target_independent: int
    iterations: int
    missed: float | None = None
    wrong: str = ""


class Histogram(msgspec.Struct, frozen=True, kw_only=True):
    """What a runner counted of a Test on a Machine.

    `target` counts the runs whose state satisfies the condition's proposition;
    `target_independent` counts those that do not stem from one and the same episode, None when
    the runner cannot tell. `emulated` marks a machine that is not real hardware. `controls` are
    the siblings that say what the counts, or their absence, are worth.
    """

    test: str
    machine: str
    runner: str
    histogram: tuple[Count, ...]
    target: int
    iterations: int
    seconds: float
    target_independent: int | None = None
    condition: str = ""
    arch: str = ""
    emulated: bool = False
    parameters: dict[str, str] = {}
    sites: tuple[str, ...] = ()
    reason: str = ""  # why there is no histogram, when there is none
    lost: bool = False  # the machine went away meanwhile: to be run again
    hash: str = ""  # litmus7's digest of the parsed test, the same as herd7's
    controls: tuple[Control, ...] = ()


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong in instances of a program, and in how many. `message` is the assertion, the
    signal of a crash, or who does not end; `site` is `file:line`, where that is known; `values`
    are those of the variables that the assertion names, and how often each were seen."""

    kind: Literal["assertion", "crash", "hang"]
    message: str
    count: int
    site: str = ""
    function: str = ""
    values: tuple[Count, ...] = ()


class ProgramRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a runner counted of a Program on a Machine: of so many `instances`, each a run of its
    main, which ones failed. In `overlapped` of them all its threads ran at one moment, at least.

    `emulated` marks a machine that is not real hardware. `cut` says what ended the run before its
    time; `reason` why nothing was run.
    """

    program: str
    machine: str
    runner: str
    instances: int = 0
    overlapped: int = 0
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0
    arch: str = ""
    emulated: bool = False
    parameters: dict[str, str] = {}
    cut: str = ""
    reason: str = ""

    @property
    def failed(self) -> int:
        return sum(each.count for each in self.failures)


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """What compilers made of a C Test, and how it compares with what the language allows. `code`
    says of what: of the test's own C, or of the operations of `program` that it comes from.

    `builds` are the ways to compile that give the same code for `target` (a mapping's name):
    "gcc-12 -O2". `result` is Kept where `machine`, the instruction set's model, allows no outcome
    of the code that `model` forbids of the source; Weaker where it does: these are `beyond`, in
    the source's names; Undefined where the source has a data race; Unknown where something was not
    understood or a limit was hit (`reason`). `reason` of a Kept one says what was bounded. `test`
    is the code as a litmus test, None where it was not understood.
    """

    source: str
    model: str
    target: str
    builds: tuple[str, ...]
    machine: str
    code: Literal["test", "operations"] = "test"
    program: str = ""
    result: Literal["Kept", "Weaker", "Undefined", "Unknown"]
    beyond: tuple[State, ...] = ()
    reason: str = ""
    sites: tuple[str, ...] = ()
    test: Test | None = None
    assembly: str = ""


class Wait(msgspec.Struct, frozen=True):
    """Where a thread stands for ever, and for what: "a lock", "another thread's write"."""

    thread: int
    what: str
    site: str


class Execution(Witness, frozen=True, kw_only=True):
    """A witness of a whole program, without the events that the violation does not need.

    `functions` are the start functions of the threads. `conflict` are the two accesses that
    race, `waits` who stands where when the program hangs.
    """

    functions: tuple[str, ...] = ()
    conflict: tuple[int, int] | None = None
    waits: tuple[Wait, ...] = ()


Result = Literal["Safe", "Violated", "Unknown"]
ViolationKind = Literal["assertion", "race", "hang", "uninitialised", "memory", "lock"]


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """What a program does wrong. `sites` are `file:line` of the place, of both accesses that
    race, of all threads that hang. `test` names the litmus test that the witness's critical
    cycle makes; it is empty where threads that simply take turns do the same."""

    kind: ViolationKind
    message: str
    sites: tuple[str, ...] = ()
    test: str = ""
    witness: Execution | None = None


class Exploration(msgspec.Struct, frozen=True, kw_only=True):
    """What exploring a Program under a Model gave.

    Safe: no execution that the model allows violates anything. `reasons` say what was cut, where
    and by which bound; without a violation the result is then Unknown. Each
    execution is counted once: `complete` where every thread ends, `blocked` where one waits for
    what does not come in it, `cut` where a bound ends one, `faulty` where an error does. `tests`
    are the litmus tests that violations name.
    """

    program: str
    model: str
    result: Result
    violations: tuple[Violation, ...] = ()
    complete: int = 0
    blocked: int = 0
    cut: int = 0
    faulty: int = 0
    seconds: float = 0.0
    reasons: tuple[str, ...] = ()
    tests: tuple[Test, ...] = ()

    @property
    def executions(self) -> int:
        return self.complete + self.blocked + self.cut + self.faulty


class Evidence(msgspec.Struct, frozen=True):
    """One thing a finding rests on: a verdict, a histogram or an exploration, in a line; or code,
    in several."""

    kind: Literal["verdict", "histogram", "exploration", "claim", "code"]
    text: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a person is told. `recorded` is true when the structure's claims.toml says so too."""

    id: str
    severity: Literal["error", "warning", "note"]
    message: str
    subject: str  # the test or program it speaks of
    sites: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    fix: str = ""
    recorded: bool = False
