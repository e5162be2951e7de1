"""weakspot's own runner: tests become C programs, which are run in short slices.

How threads meet, and what separates two instances, changes the number of observations by factors of
thousands, and differently for each test and machine. Each slice therefore tries one setting of the
program's parameters; the settings that show most get most of the time, and the best is stored in
the user's cache folder for the next run. A slice that crashes or hangs loses only itself.

Every test is run together with its control tests. The fenced variant must show interleavings only:
any other outcome is an error of the runner, the compiler or the machine, and nothing is counted
then. For an outcome that is not observed, the weaker variants measure the strength of that negative
result: they run under the same settings, and the settings that show them get half of the test's
time.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.cycles.variants import Variant, fenced, weaker
from weakspot.generators.emit.assembly import DIALECTS
from weakspot.generators.emit.native import native_source
from weakspot.generators.emit.threads import observables, statements
from weakspot.generators.litmus import Test
from weakspot.harness import machines
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.corpus import models
from weakspot.harness.machines import Lost, Machine, Session, compilers
from weakspot.harness.machines.profile import profile
from weakspot.harness.runners import TOO_LATE, histogram_of, not_run, share
from weakspot.harness.runners.measurement import Family, Measured, read, unnamed
from weakspot.harness.runners.programs import Failed, SourceText, compiled, workshop
from weakspot.harness.runners.tuning import Memory, setting_text
from weakspot.harness.values.histogram import INTERRUPTED, ControlTest, Histogram
from weakspot.harness.values.numbers import times
from weakspot.harness.values.state import state_text, within
from weakspot.harness.values.verdict import Verdict
from weakspot.system import process
from weakspot.system.deadline import NEVER, Deadline, ending
from weakspot.system.processors import cores
from weakspot.system.tools import Requirement

_AHEAD = 40  # tests that are compiled before the first of them runs
_TOGETHER = 24  # tests that are compiled as one program, at most

#: shares of a test's time; the test itself gets what a part does not need
_FENCED, _FIRST, _WEAKER, _REST = 0.1, 0.3, 0.25, 0.35
_COMPILING = 0.6  # part of the time limit of tests in which they must have been compiled
_ENOUGH = 100  # independent hits of a variant: its rate is then known to a tenth


class Native(msgspec.Struct, frozen=True):
    """The runner. `emit` writes the C of a test and its variants."""

    emit: Callable[..., str] = native_source
    name: str = "native"
    rank: int = 0
    requires: tuple[Requirement, ...] = ()
    whole_programs: bool = True

    def available(self, machine: Machine) -> str:
        return compilers.missing(machine, (machine.emulator,) if machine.emulator else ())

    def run(
        self,
        tests: Sequence[Test],
        machine: Machine,
        *,
        seconds: float,
        done: Callable[[Histogram], None],
        end: Deadline = NEVER,
    ) -> None:
        """See Runner."""
        compilers.require(machine)
        with workshop() as folder, machines.opened(machine) as session:
            bench = _Bench(self.emit, machine, session, folder, end)
            bench.expect(tests)
            for at in range(0, len(tests), _AHEAD):
                some = tests[at : at + _AHEAD]
                bench.compile(some, _COMPILING * end.left * len(some) / (len(tests) - at))
                for number, test in enumerate(some, at):
                    try:
                        if end.passed:
                            raise Failed(TOO_LATE)
                        done(bench.histogram(test, share(seconds, end, len(tests) - number)))
                    except (Unsupported, Failed) as error:
                        done(not_run(test, machine, self.name, str(error.args[0])))
                    except Lost as error:
                        done(not_run(test, machine, self.name, error.message, lost=True))
                        raise
                    except KeyboardInterrupt:
                        if (counted := bench.counted()) is not None:
                            done(counted)
                        raise
            bench.memory.write()


RUNNER = Native()


class _Bench:
    """A machine, and what was compiled and measured on it for these tests."""

    def __init__(
        self, emit: Callable[..., str], machine: Machine, at: Session, folder: Path, end: Deadline
    ) -> None:
        self.emit, self.machine, self.at, self.folder = emit, machine, at, folder
        self.end = end
        self.memory = Memory(profile(machine, at))
        self.families: dict[str, Family] = {}  # by the text of their tests
        self.variants: dict[str, Measured] = {}  # by name: tests share them
        self.interleaved: dict[str, Verdict] = {}  # of fenced variants, by text
        self.measuring: tuple[Measured, tuple[ControlTest, ...]] | None = None

    def expect(self, tests: Sequence[Test]) -> None:
        """Group the tests in families, and ask the engine for the interleavings of all
        fenced variants at once."""
        related: dict[str, list[Test]] = {}
        for test in tests:
            if test.statements is not None:
                common = unnamed(fenced(test, test.statements).test)
                related.setdefault(common, []).append(test)
            elif test.arch == DIALECTS.get(self.machine.arch):
                self._found([test])
        for those in related.values():
            for at in range(0, len(those), _TOGETHER):
                self._found(those[at : at + _TOGETHER])
        named = {f"control{number}": text for number, text in enumerate(related)}
        Engine(witnesses=False).check(
            [Test(name=name, arch="C", text=f"C {name}\n{text}") for name, text in named.items()],
            models.resolve("sc"),
            seconds=min(20.0, self.end.left / max(1, len(named))),
            done=lambda verdict: self.interleaved.update({named[verdict.test]: verdict}),
        )

    def _found(self, tests: Sequence[Test]) -> None:
        family = Family(tests)
        self.families.update({unnamed(test): family for test in tests})

    def compile(self, tests: Sequence[Test], seconds: float) -> None:
        """Compile the tests' families on all cores, before anything runs, for `seconds` at most;
        what does not compile is reported when it is asked for. Where one test of a family does not,
        each is compiled alone."""
        end = ending(seconds)
        waiting = self._uncompiled(tests)
        self._compile(waiting, end)
        for family in waiting:
            if family.problem is not None and len(family.tests) > 1:
                for test in family.tests:
                    self._found([test])
        self._compile(self._uncompiled(tests), end)

    def _uncompiled(self, tests: Sequence[Test]) -> list[Family]:
        families = filter(None, (self.families.get(unnamed(test)) for test in tests))
        return [
            family
            for family in dict.fromkeys(families)
            if family.program is None and family.problem is None
        ]

    def _compile(self, families: Sequence[Family], end: Deadline) -> None:
        def task(family: Family, crew: process.Crew, _: object) -> None:
            members = list(family.members.values())
            try:
                asked = observables(read(members[0]))
                source = self.emit(*members)
                family.program = compiled(
                    [SourceText(source)], asked, self.machine, self.folder, crew, end=end
                )
            except (Failed, Unsupported) as error:
                family.problem = error

        process.in_parallel(
            [partial(task, each) for each in families], workers=cores(), done=lambda _: None
        )

    def histogram(self, test: Test, seconds: float) -> Histogram:
        """The test with its control tests, in about so many seconds. Raises Failed, Unsupported."""
        begin = time.monotonic()
        if test.arch != "C":
            return self._assembly(test, seconds)
        read = statements(test)
        family = self.families[unnamed(test)]
        it = self._measured(test, family)
        control = self._fenced(fenced(test, read), family, _FENCED * seconds)
        if control.wrong:
            failed = not_run(
                test,
                self.machine,
                "native",
                f"its control test failed, so nothing is counted: with {control.change} it showed "
                f"{control.wrong}, which no interleaving gives",
            )
            return msgspec.structs.replace(failed, control_tests=(control,))
        self.measuring = it, (control,)
        it.measure(_FIRST * seconds)
        variants = () if it.hits else weaker(test, read)
        share = _WEAKER * seconds / max(1, len(variants))
        seen: list[tuple[str, Measured]] = []
        for each in variants:
            with contextlib.suppress(Failed):  # a variant that does not run is no evidence
                seen.append((each.change, self._variant(each.test, family, share, _ENOUGH)))
        it.choice.hint(other.choice.best.setting for _, other in seen if other.hits)
        it.measure(max(seconds - (time.monotonic() - begin), _REST * seconds))
        if it.hits:
            seen = []  # an observation needs no further evidence
        evidence = [_control("weaker", change, other, it.missed(other)) for change, other in seen]
        self.measuring = None
        return self._histogram(it, (control, *evidence))

    def counted(self) -> Histogram | None:
        """What the test that is being measured has shown so far."""
        if self.measuring is None or not self.measuring[0].iterations:
            return None
        it, control_tests = self.measuring
        it.problem = INTERRUPTED
        return self._histogram(it, control_tests)

    def _assembly(self, test: Test, seconds: float) -> Histogram:
        """A test in assembly; it has no control tests, since its code is not changed."""
        if test.arch != DIALECTS.get(self.machine.arch):
            raise Unsupported(
                f"it is {test.arch} assembly, and {self.machine.name} is {self.machine.arch}; run "
                "it on a machine of its architecture"
            )
        it = self._measured(test, self.families[unnamed(test)])
        self.measuring = it, ()
        it.measure(seconds)
        self.measuring = None
        return self._histogram(it, ())

    def _measured(self, test: Test, family: Family) -> Measured:
        return Measured(test, family, self.machine, self.at, self.memory, self.end)

    def _variant(
        self,
        test: Test,
        family: Family,
        seconds: float,
        enough: float = math.inf,
        *,
        whole: bool = False,
    ) -> Measured:
        """The variant, run for so long, or as it was measured for another test; `whole`: under
        every setting."""
        fresh = self._measured(test, family)
        known = self.variants.get(fresh.name, fresh)
        if known is fresh or (whole and known.choice.slices < len(known.choice.tried)):
            known.measure(seconds, enough, len(known.choice.tried) if whole else 1)
            self.variants[known.name] = known
        return known

    def _fenced(self, variant: Variant, family: Family, seconds: float) -> ControlTest:
        measured = self._variant(variant.test, family, seconds, whole=True)
        if measured.problem:
            raise Failed(f"its fenced control test did not run to its end: {measured.problem}")
        verdict = self.interleaved.get(unnamed(variant.test))
        if verdict is None or verdict.observation == "Unknown":
            why = verdict.reason if verdict is not None else "not asked"
            raise Failed(
                f"skipped: the interleavings of its fenced control test are not known: {why}"
            )
        wrong = [each for each in measured.states if not within(each.state, verdict.states)]
        shown = f"{state_text(wrong[0].state)} {times(wrong[0].count)}" if wrong else ""
        return _control("fenced", variant.change, measured, None, shown)

    def _histogram(self, it: Measured, control_tests: tuple[ControlTest, ...]) -> Histogram:
        tried = it.choice.tried
        parameters = {
            "setting": setting_text(it.choice.best.setting),
            "settings": str(sum(each.slices > 0 for each in tried)),
            "slices": str(it.choice.slices),
            # less than 100 %: a hypervisor or other programs used the processors meanwhile
            "threads ran": f"{it.processor / (it.threads * max(it.seconds, 1e-9)):.0%} of the time",
            "compiler": compilers.require(self.machine).stated,
            "assembly": str(it.program.assembly),
            "variant": str(it.variant),
        }
        if it.threads > self.machine.cores:
            parameters["crowded"] = f"{it.threads} threads on {self.machine.cores} processors"
        if it.problem:
            parameters["ended_early"] = it.problem
        return histogram_of(
            it.test,
            self.machine,
            "native",
            histogram=it.states,
            target=it.hits,
            target_independent=it.independent,
            iterations=it.iterations,
            seconds=round(it.seconds, 4),
            parameters=parameters,
            hash=it.test.herd_hash,
            control_tests=control_tests,
        )


def _control(
    kind: Literal["fenced", "weaker"],
    change: str,
    measured: Measured,
    missed: float | None,
    wrong: str = "",
) -> ControlTest:
    return ControlTest(
        kind=kind,
        change=change,
        target=measured.hits,
        target_independent=measured.independent,
        iterations=measured.iterations,
        missed=missed,
        wrong=wrong,
    )
