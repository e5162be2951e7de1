"""From the answers of a run to reported findings: source lines, causes, suggested repairs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from weakspot.errors import WeakspotError
from weakspot.generators.litmus import KERNEL_ORDER, Site, Test, of_library
from weakspot.harness.campaign.folder import new_manifest
from weakspot.harness.gate import baseline
from weakspot.harness.gate.campaign import GateCampaign, Question
from weakspot.harness.gate.expectations import unmet_expectation
from weakspot.harness.gate.outcome import (
    BAD_INPUT,
    AcceptedFinding,
    ReportedFinding,
    RequiredOrder,
    SourceSpan,
    Status,
    source_of,
)
from weakspot.harness.gate.source_spans import source_span
from weakspot.harness.gate.suppressions import InvalidComment, Suppression, suppressions
from weakspot.harness.judge.findings import judge
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.judge.violations import violations_of
from weakspot.harness.values.descriptions import describe_event
from weakspot.harness.values.exploration import Exploration, Violation, between
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.record import Plan, Record
from weakspot.harness.values.repair import ELSEWHERE, SuggestedRepair
from weakspot.harness.values.verdict import Verdict
from weakspot.harness.values.witness import Execution, WitnessEvent


class GateFindings:
    """The findings of a run; `accepted` are those of the baseline."""

    def __init__(self, work: GateCampaign, accepted: Iterable[AcceptedFinding]) -> None:
        self.config, self.work = work.config, work
        self.sources = dict(self._sources())
        self.suppressions = SourceSuppressions(self.config.root, self.sources)
        self.accepted = {each.fingerprint for each in accepted}
        self.sites: dict[str, list[Site]] = {}
        self.files: dict[str, str] = {}
        self.machines: dict[str, dict[str, bool]] = {}
        explorations: list[Exploration] = []
        for each in work.answered:
            if each.exploration is None:
                continue
            # a comparison with another model that reached a limit leaves nothing undecided
            if not each.compared or each.exploration.result != "Unknown":
                explorations.append(each.exploration)
            self.machines |= each.answer.machines
            self.sites.setdefault(each.file, []).extend(each.answer.sites)
            self.files[each.exploration.program] = each.file
        manifest = new_manifest(Plan(what=tuple(self.files.values())))
        self.record = Record(manifest=manifest, explorations=tuple(explorations))

    def reported(self) -> Iterator[ReportedFinding]:
        """Findings of programs in the order of the scenarios, those of litmus tests, and scenarios
        and comments that cannot be read."""
        causes: set[tuple[str, Status]] = set()
        for each in self._found():
            reported = self.suppressions.applied(self._with_status(each))
            known = (reported.cause, reported.status)
            yield msgspec.structs.replace(reported, is_repeat=known in causes)
            causes.add(known)

    def unused_suppressions(self) -> Iterator[ReportedFinding]:
        """Comments that suppressed none of the findings reported before; meaningful after a run
        that decided the whole project."""
        for path, unused in self.suppressions.unused():
            message = f"no finding {' or '.join(unused.ids)} occurs at line {unused.at}"
            comment = self._comment("WS004", path, unused.line, unused.column, message)
            yield self._with_status(comment)

    def _found(self) -> Iterator[ReportedFinding]:
        order = {file: at for at, file in enumerate(self.files.values())}
        findings = judge(self.record)
        for finding in sorted(findings, key=lambda each: order[self.files[each.subject]]):
            yield self._program(finding)
        for question in self.work.answered:
            test, verdict = question.scenario.test, question.answer.verdict
            if test is None or verdict is None:
                continue
            if wrong := unmet_expectation(test, verdict):
                yield self._litmus(wrong, question, test, verdict)
        for file, why in self.work.unreadable.items():
            yield self._unreadable(file, why)
        for path, invalid in self.suppressions.invalid:
            yield self._comment(
                "WS003", path, invalid.line, invalid.column, invalid.message, invalid.advice
            )

    def _with_status(self, reported: ReportedFinding) -> ReportedFinding:
        finding = reported.finding
        if finding.id in BAD_INPUT:
            return reported
        status: Status = "fails"
        if reported.fingerprint in self.accepted:
            status = "accepted"
        elif {finding.id, finding.severity}.isdisjoint(self.config.gate.fail_on):
            status = "reported"
        return msgspec.structs.replace(reported, status=status)

    def _sources(self) -> Iterator[tuple[str, str]]:
        """The sources that the scenarios were made of, relative to the project, each with one of
        the scenarios."""
        for each in self.work.answered:
            if each.answer.verdict is None:
                for name in (Path(source_of(each.file)).name, *each.answer.files):
                    yield (os.path.normpath(Path(each.file).parent / name), each.file)

    def _comment(
        self, id: str, file: str, line: int, column: int, message: str, advice: str = ""
    ) -> ReportedFinding:
        there = source_span(self.config.root, file, line, column)
        finding = _of_input(id, file, there, message, advice)
        return self._input(finding, there, self.sources[file], message, there.text)

    def _unreadable(self, file: str, why: WeakspotError) -> ReportedFinding:
        """A scenario that was not checked, at the place of the error, which may be in a header."""
        match = re.fullmatch(r"(.+?)(?::(\d+))?(?::(\d+))?", why.place or "", re.DOTALL)
        path, line, column = (match[1], match[2], match[3]) if match else ("", None, None)
        name = Path(os.path.relpath(path, self.config.root)).as_posix() if path else source_of(file)
        there = source_span(self.config.root, name, int(line or 1), int(column or 0))
        finding = _of_input("WS002", file, there, f"{file}: {why.message}", why.advice)
        return self._input(finding, there, file, why.message, why.message)

    def _input(
        self, finding: Finding, there: SourceSpan, scenario: str, message: str, text: str
    ) -> ReportedFinding:
        """A finding about the input itself, which is the same one as long as the `text` is."""
        return ReportedFinding(
            finding=finding,
            message=message,
            scenario=scenario,
            fingerprint=baseline.fingerprint(finding.id, finding.subject, "", text),
            places=(there,),
            fix=finding.fix,
            models=tuple(each.name for each in self.config.models),
            cause=f"{there} {finding.id} {message}",
        )

    def _program(self, finding: Finding) -> ReportedFinding:
        file = self.files[finding.subject]
        given = violations_of(self.record, finding)
        violation = min((each for _, each in given), key=lambda each: each.size)
        witness = violation.witness
        places = self._places(file, finding, witness) or (SourceSpan(source_of(file), 1),)
        models = tuple(exploration.model for exploration, _ in given)
        all_ = self.record.explorations_of[finding.subject]
        tests = [test for exploration, _ in given for test in exploration.tests]
        # only language models define data races, a flag belongs to one model, and no model is about
        # the end of the process
        defined = finding.id not in ("WS102", "WS106", "WS108")
        at = places[0]
        reported = ReportedFinding(
            finding=finding,
            message=_with_project_paths(file, finding, given[0][1]),
            scenario=file,
            fingerprint=baseline.fingerprint(finding.id, at.file, at.function, at.text),
            places=places,
            fix=finding.fix,
            models=models,
            safe=tuple(each.model for each in all_ if each.result == "Safe" and defined),
            test=violation.test,
            shape=next((each.shape for each in tests if each.name == violation.test), ""),
            machines=self.machines.get(violation.test, {}),
            witness=witness,
            steps=tuple(self._step(file, event) for event in witness.events) if witness else (),
            cause=f"{file} {violation.test or ' '.join((finding.violation, *finding.models))}",
        )
        repair = self.work.repairs.get(file)
        if repair is None or not repair.changes or finding.id == "WS106":
            return reported
        required = list(self._required(repair))
        return msgspec.structs.replace(
            reported,
            needs=tuple(self._needs(repair, required, reported)),
            edits=repair.edits,
            fix=repair.fix,
            cause=", ".join(str(need.place) for need in required),
        )

    def _required(self, repair: SuggestedRepair) -> Iterator[RequiredOrder]:
        """What the repair changes, with the project's lines."""
        executions = repair.executions or (None,) * len(repair.changes)
        for need, execution in zip(repair.changes, executions, strict=True):
            file, _, line = need.at.rpartition(":")
            place = source_span(
                self.config.root,
                file,
                int(line),
                need.column,
                function=need.function,
                does=need.does,
            )
            yield RequiredOrder(place, f"needs {need.order}", execution)

    def _needs(
        self, repair: SuggestedRepair, required: Sequence[RequiredOrder], reported: ReportedFinding
    ) -> Iterator[RequiredOrder]:
        """What the repair changes: first the accesses that the finding's execution shows. The
        others have another execution, of the program or with the other changes made."""
        at_root = partial(_at_root, Path(reported.scenario).parent)
        explorations = self.record.explorations_of[reported.finding.subject]
        own = [at_root(each.witness) for one in explorations for each in one.violations]
        repair = msgspec.structs.replace(repair, executions=tuple(map(at_root, repair.executions)))
        unshown = repair.unshown(at_root(reported.witness), own)
        for number, need in enumerate(required):
            if number not in unshown:
                shown = reported.witness is not None
                yield msgspec.structs.replace(need, witness=None) if shown else need
        for number, execution in unshown.items():
            asks = f"{required[number].asks} {ELSEWHERE}"
            yield msgspec.structs.replace(required[number], asks=asks, witness=execution)

    def _places(
        self, file: str, finding: Finding, witness: Execution | None
    ) -> tuple[SourceSpan, ...]:
        """The finding's source lines, each with what happens there: a race, a wait, an access."""
        if witness is None:
            return tuple(self._place(file, site, None) for site in finding.sites)
        events = {event.site: event for event in witness.events}
        if witness.conflict is not None:
            racing = (witness.events[number] for number in witness.conflict)
            events |= {event.site: event for event in racing}
        places: dict[SourceSpan, None] = {}
        for site in finding.sites:
            waits = [wait for wait in witness.waits if wait.site == site]
            for wait in waits:
                there = self._place(file, site, None, wait.column)
                places[msgspec.structs.replace(there, does=f"waits for {wait.what}")] = None
            if not waits:
                places[self._place(file, site, events.get(site))] = None
        return tuple(places)

    def _step(self, file: str, event: WitnessEvent) -> SourceSpan | None:
        return self._place(file, event.site, event) if event.site else None

    def _place(
        self, file: str, site: str, event: WitnessEvent | None, column: int = 0
    ) -> SourceSpan:
        """The source span of a scenario's site, whose file is relative to the scenario's folder:
        that of the operation in a column if it is given, else of the event."""
        name, _, number = site.rpartition(":")
        line = int(number)
        here = [
            each for each in self.sites[file] if str(each) == site and column in (0, each.column)
        ]
        if event is not None:
            here.sort(key=lambda each: (not _matches(each, event), not _has_order(each, event)))
        else:
            here.sort(key=lambda each: each.kind not in ("assert", "call"))
        column = here[0].column if here else 0
        path = os.path.normpath(Path(file).parent / name)
        return source_span(
            self.config.root,
            name if of_library(name) else path,
            line,
            column,
            function=here[0].function if here else "",
            does=describe_event(event) if event is not None else "",
        )

    def _litmus(
        self, finding: Finding, question: Question, test: Test, verdict: Verdict
    ) -> ReportedFinding:
        file, model = question.file, question.model.name
        witness = msgspec.convert(verdict.witness, Execution | None, from_attributes=True)
        lines = test.text.splitlines()
        at = max(
            (n for n, line in enumerate(lines, 1) if re.search(r"\b(exists|forall)\b", line)),
            default=1,
        )
        condition = lines[at - 1].lstrip()
        there = source_span(self.config.root, file, at, len(lines[at - 1]) - len(condition) + 1)
        return ReportedFinding(
            finding=finding,
            message=finding.message,
            scenario=file,
            fingerprint=baseline.fingerprint(finding.id, file, model, condition),
            places=(there,),
            fix=finding.fix,
            models=(model,),
            test=test.name,
            cause=f"{file} {model}",
            witness=witness,
            steps=tuple(None for _ in witness.events) if witness else (),
        )


class SourceSuppressions:
    """The comments in the project's sources that suppress findings, and which did; `invalid` are
    those that cannot be understood. Files are relative to the project's folder; those outside
    of it are not read."""

    def __init__(self, root: Path, files: Iterable[str]) -> None:
        self._found: dict[str, list[Suppression]] = {}
        self.invalid: list[tuple[str, InvalidComment]] = []
        self._used: set[tuple[str, Suppression]] = set()
        for file in dict.fromkeys(files):
            if Path(file).is_absolute() or file.startswith(("..", "<")):
                continue
            if not (root / file).is_file():
                continue
            text = (root / file).read_text(encoding="utf-8", errors="replace")
            self._found[file], invalid = suppressions(text, (*BAD_INPUT, "WS004"))
            self.invalid += [(file, each) for each in invalid]

    def applied(self, reported: ReportedFinding) -> ReportedFinding:
        """The finding, suppressed if a comment at one of its sites allows it."""
        places = (*reported.places, *(need.place for need in reported.needs))
        for place in places:
            for each in self._found.get(place.file, ()):
                if each.at == place.line and reported.finding.id in each.ids:
                    self._used.add((place.file, each))
                    return msgspec.structs.replace(
                        reported, status="suppressed", justification=each.reason
                    )
        return reported

    def unused(self) -> Iterator[tuple[str, Suppression]]:
        """The comments that have suppressed nothing."""
        for file, found in self._found.items():
            yield from ((file, each) for each in found if (file, each) not in self._used)


def _with_project_paths(file: str, finding: Finding, violation: Violation) -> str:
    """The message, in which a race names files relative to the project's folder."""
    folder = Path(file).parent
    accesses = (os.path.normpath(folder / access) for access in violation.accesses)
    what = violation.message.removesuffix(between(violation.accesses))
    return finding.what.replace(violation.message, what + between(accesses))


def _at_root(folder: Path, witness: Execution | None) -> Execution | None:
    """The witness with the files of its events, relative to the scenario's folder, relative to the
    project's."""
    if witness is None:
        return None

    def at_root(site: str) -> str:
        return os.path.normpath(folder / site) if site and not of_library(site) else site

    return msgspec.structs.replace(
        witness,
        events=tuple(
            msgspec.structs.replace(each, site=at_root(each.site), caller=at_root(each.caller))
            for each in witness.events
        ),
    )


def _of_input(id: str, file: str, there: SourceSpan, message: str, advice: str | None) -> Finding:
    kind = KINDS[id]
    return Finding(
        id=id,
        severity=kind.severity,
        message=message,
        subject=file,
        sites=(str(there),),
        fix=advice or kind.advice,
    )


def _has_order(site: Site, event: WitnessEvent) -> bool:
    """Whether the event has the memory order of the site."""
    return event.order in (site.order, KERNEL_ORDER.get(site.order))


def _matches(site: Site, event: WitnessEvent) -> bool:
    """Whether the event comes from an operation of the site's kind."""
    kinds = {"RMW": ("RMW", "CAS"), "R": ("R", "CAS"), "FREE": ("call",)}
    return site.kind.upper() in kinds.get(event.kind, (event.kind,))
