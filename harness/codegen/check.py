"""The codegen check: each test compiled, read back from machine code, and compared with its source.

In: C tests, the programs that they come from, compiler configurations, a language's model, a
checker. Out: a CodegenComparison for each test, target and code, of the test's C or of a program's
operations; identical code is compared once. An outcome that the instruction set's model allows for
the code and the language's model forbids for the source is a fault of the compiler, or of the model
(WS202).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.binary.objects import Object, source
from weakspot.generators.binary.objects import Source as Threads
from weakspot.generators.binary.semantics import UnreadInstruction
from weakspot.generators.emit.isa import Mapped
from weakspot.generators.litmus import Atom, Test
from weakspot.harness.checkers import Checker
from weakspot.harness.codegen import operations
from weakspot.harness.codegen.configurations import Configuration, ObjectFile, compile_each
from weakspot.harness.codegen.operations import ProgramWithTests
from weakspot.harness.corpus import models
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.agreement import states_beyond
from weakspot.harness.values.codegen import CodegenComparison
from weakspot.harness.values.herdlog import LOOP
from weakspot.harness.values.record import Record, unique
from weakspot.harness.values.verdict import Verdict

LANGUAGE = "c11"
"""The model of the source where none is named: what compilers implement. rc11 forbids load
buffering, which no compiler prevents."""

Compile = Callable[[str, Sequence[Configuration], Callable[[ObjectFile], None]], None]


class _Code(msgspec.Struct):
    """One code of a test for a target: the configurations that produce it, and the test that was
    read from it. Code of a program's operations is the test's only with the values `taken`."""

    test: Test
    target: str
    machine: Model
    configs: list[Configuration]
    made: Mapped | None = None
    assembly: str = ""
    reason: str = ""
    program: str = ""
    taken: tuple[Atom, ...] | None = None
    unread: str = ""


class CodegenCheck:
    """Tests and the code that compilers make of them. `answers` may be called at any time, also
    after Ctrl-C: unknown answers are left out."""

    def __init__(
        self,
        tests: Sequence[Test],
        language: Sequence[Model],
        checker: Checker,
        *,
        tests_too: bool = True,
        programs: Sequence[ProgramWithTests] = (),
        compile: Compile = compile_each,
        edit: operations.Edit = operations.unchanged,
    ) -> None:
        """Checks the operations of the `programs` and, with `tests_too`, the tests' own C. `edit`
        changes the linked programs."""
        self.tests = {test.name: test for test in tests}
        self.language, self.checker, self._compile, self._edit = language, checker, compile, edit
        self.threads: Threads = source(tests if tests_too else ())
        self.programs = programs
        self.codes: dict[tuple[str, str, str, bool], _Code] = {}
        self.verdicts: dict[tuple[str, str], Verdict] = {}

    def compile(self, configs: Sequence[Configuration], advance: Callable[[], None]) -> None:
        """Compile all threads with each configuration, and read the machine code."""

        order = {each.key: at for at, each in enumerate(configs)}
        objects: list[ObjectFile] = []

        def done(made: ObjectFile) -> None:
            objects.append(made)
            advance()

        if self.threads.parts:
            self._compile(self.threads.text, configs, done)
        # in the order of the configurations, not in that in which they ended
        for made in sorted(objects, key=lambda each: order[each.config.key]):
            self._read(made)
        for name, reason in self.threads.refused.items():
            self._add(self.tests[name], configs[0], reason=reason)
        if self.programs:
            self._observe(configs, advance)

    def _observe(self, configs: Sequence[Configuration], advance: Callable[[], None]) -> None:
        found: list[operations.Answer] = []

        def done(answers: Sequence[operations.Answer]) -> None:
            found.extend(answers)
            advance()

        operations.observed(self.programs, configs, done, edit=self._edit)
        order = {each.key: at for at, each in enumerate(configs)}
        for each in sorted(found, key=lambda one: order[one.config.key]):
            test, config, program = self.tests[each.test.name], each.config, each.program
            for code in each.codes:
                self._add(test, config, code.made, code.assembly, "", program, code.taken)
            if not each.codes:
                self._add(test, config, reason=each.reason, program=program)

    def _read(self, made: ObjectFile) -> None:
        to, place = made.config.mapping, made.config.platform.name
        code = Object(made.content, to.dialect, made.config.outline) if made.content else None
        for name, parts in self.threads.parts.items():
            test = self.tests[name]
            if code is None:
                self._add(test, made.config, reason=made.reason)
                continue
            label = f"{made.config.compiler.name}-{made.config.level}-{place}"
            try:
                read = code.test(test, parts, label, f"{made.config.name}, {place}")
            except Unsupported as error:
                unread = error.unread if isinstance(error, UnreadInstruction) else ""
                assembly = code.assembly(parts)
                self._add(test, made.config, None, assembly, error.message, unread=unread)
            else:
                self._add(test, made.config, read.made, read.assembly)

    def _add(
        self,
        test: Test,
        config: Configuration,
        made: Mapped | None = None,
        assembly: str = "",
        reason: str = "",
        program: str = "",
        taken: tuple[Atom, ...] | None = None,
        unread: str = "",
    ) -> None:
        what = _HEAD.sub("", made.test.text) if made else reason
        target = config.platform.name
        key = test.name, target, what, bool(program)
        if key in self.codes:
            if config not in self.codes[key].configs:
                self.codes[key].configs.append(config)
            return
        machine = models.load()[config.mapping.model]
        self.codes[key] = _Code(
            test, target, machine, [config], made, assembly, reason, program, taken, unread
        )

    @property
    def rounds(self) -> int:
        """How often each configuration is used."""
        return bool(self.threads.parts) + bool(self.programs)

    @property
    def jobs(self) -> list[tuple[Model, list[Test]]]:
        """The questions for the checker: each model with its tests."""
        found: dict[str, tuple[Model, list[Test]]] = {}
        for code in self.codes.values():
            if code.made is not None:
                made = code.made.test
                found.setdefault(code.machine.name, (code.machine, []))[1].append(made)
        sources = [self.tests[name] for name in unique(test for test, *_ in self.codes)]
        return [*((model, sources) for model in self.language), *found.values()]

    def check(self, seconds: float, advance: Callable[[], None]) -> None:
        """Ask the checker about the sources and the codes, `seconds` each at most."""

        def done(verdict: Verdict) -> None:
            self.verdicts[verdict.test, verdict.model] = verdict
            advance()

        for model, tests in self.jobs:
            self.checker.check(tests, model, seconds=seconds, done=done)

    def answers(self) -> tuple[CodegenComparison, ...]:
        """The comparison of each code, in the order of the tests and targets."""
        place = {name: at for at, name in enumerate(self.tests)}
        found = [
            answer
            for code in self.codes.values()
            for model in self.language
            if (answer := self._answer(code, model)) is not None
        ]
        return tuple(sorted(found, key=lambda each: place[each.source]))

    def _answer(self, code: _Code, model: Model) -> CodegenComparison | None:
        test = code.test
        known = CodegenComparison(
            source=test.name,
            model=model.name,
            target=code.target,
            builds=unique(config.name for config in code.configs),
            machine=code.machine.name,
            result="Unknown",
            reason=code.reason,
            unread=code.unread,
            sites=test.sites,
            test=code.made.test if code.made else None,
            assembly=code.assembly,
            code="operations" if code.program else "test",
            program=code.program,
        )
        if code.made is None:
            return known
        language = self.verdicts.get((test.name, model.name))
        machine = self.verdicts.get((code.made.test.name, code.machine.name))
        if language is None or machine is None:
            return None  # not asked yet
        if language.observation == "Undefined":
            return msgspec.structs.replace(known, result="Undefined")
        for verdict in (language, machine):
            if verdict.observation == "Unknown" and verdict.reason_kind != "loop":
                why = f"{verdict.checker}, under {verdict.model}: {verdict.reason}"
                return msgspec.structs.replace(known, reason=why)
        more = states_beyond(code.made, machine.states, language.states, code.taken)
        return msgspec.structs.replace(
            known,
            result="Weaker" if more else "Preserved",
            beyond=tuple(more),
            reason=LOOP if machine.reason_kind == "loop" else "",
        )


def weaker(record: Record) -> list[Test]:
    """The tests whose code allows more than the source, as source and as code."""
    sources = {entry.name: entry.test for entry in record.entries}
    found: dict[str, Test] = {}
    for each in record.compiled:
        if each.result == "Weaker" and each.test is not None:
            found[each.source] = sources[each.source]
            found[each.test.name] = each.test
    return list(found.values())


_HEAD = re.compile(r"\A.*\n|(?m:^Target=.*\n)")  # the lines that name the configuration
