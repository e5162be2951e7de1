"""From the work's answers to what is told: findings with their places, their cause, what helps."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from weakspot import __version__
from weakspot.generators.litmus import Site
from weakspot.harness.gate import baseline, mend
from weakspot.harness.gate.config import fails
from weakspot.harness.gate.expected import unmet
from weakspot.harness.gate.outcome import Accepted, Place, Status, Told
from weakspot.harness.gate.places import place
from weakspot.harness.gate.work import Answered, Work
from weakspot.harness.judge.findings import judge
from weakspot.harness.judge.violations import violations_of
from weakspot.harness.values.descriptions import describe_event
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.record import FORMAT, Manifest, Plan, Record, program_name
from weakspot.harness.values.witness import Execution, WitnessEvent


class Telling:
    """What is told of the work, where these findings are accepted."""

    def __init__(self, work: Work, accepted: Iterable[Accepted]) -> None:
        self.config, self.work = work.config, work
        self.accepted = {each.fingerprint for each in accepted}
        self.sites: dict[str, list[Site]] = {}
        self.files: dict[str, str] = {}
        self.machines: dict[str, dict[str, bool]] = {}
        explorations: list[Exploration] = []
        for each in work.answered:
            if each.answer.exploration is None:
                continue
            # a limit where it is only told where something happens leaves nothing undecided
            if not each.job.compared or each.answer.exploration.result != "Unknown":
                explorations.append(each.answer.exploration)
            self.machines |= each.answer.machines
            self.sites.setdefault(each.job.file, []).extend(each.answer.sites)
            self.files[each.answer.exploration.program] = each.job.file
        manifest = Manifest(format=FORMAT, weakspot=__version__, plan=Plan(what=()), started="")
        self.record = Record(manifest=manifest, explorations=tuple(explorations))

    def told(self) -> Iterator[Told]:
        mends = mend.mends(self.work)
        causes: set[tuple[str, Status]] = set()
        order = {file: at for at, file in enumerate(self.files.values())}
        findings = judge(self.record)
        for finding in sorted(findings, key=lambda each: order[self.files[each.subject]]):
            told = self._program(finding)
            helps = mends[told.scenario]
            cause = f"{told.scenario} {told.test or told.message}"
            if helps.needs:
                cause = ", ".join(str(need.place) for need in helps.needs)
                told = msgspec.structs.replace(told, needs=helps.needs, fix=helps.fix)
            known = (cause, told.status)
            yield msgspec.structs.replace(told, cause=cause, again=known in causes)
            causes.add(known)
        for answered in self.work.answered:
            if answered.answer.verdict is not None:
                test = self.work.tests[answered.job.file]
                if wrong := unmet(test, answered.answer.verdict):
                    yield self._litmus(wrong, answered)

    def _status(self, finding: Finding, fingerprint: str) -> Status:
        if fingerprint in self.accepted:
            return "accepted"
        return "fails" if fails(self.config, finding.id, finding.severity) else "told"

    def _program(self, finding: Finding) -> Told:
        file = self.files[finding.subject]
        given = violations_of(self.record, finding)
        violation = min((each for _, each in given), key=_length)
        witness = violation.witness
        places = self._places(file, finding, witness) or (Place(file, 1),)
        models = tuple(exploration.model for exploration, _ in given)
        all_ = self.record.explorations_of[finding.subject]
        tests = [test for exploration, _ in given for test in exploration.tests]
        knows = finding.id != "WS102"  # only models of languages know races
        mark = baseline.fingerprint(finding.id, places[0].file, places[0].function, places[0].text)
        return Told(
            finding=finding,
            message=self._of_project(file, finding),
            scenario=file,
            fingerprint=mark,
            status=self._status(finding, mark),
            places=places,
            fix=finding.fix,
            models=models,
            safe=tuple(each.model for each in all_ if each.result == "Safe" and knows),
            test=violation.test,
            shape=next((each.shape for each in tests if each.name == violation.test), ""),
            machines=self.machines.get(violation.test, {}),
            witness=witness,
            steps=tuple(self._step(file, event) for event in witness.events) if witness else (),
        )

    def _of_project(self, file: str, finding: Finding) -> str:
        """The message, with places named from the project's folder as everywhere else."""
        message = finding.message.removeprefix(f"{program_name(file, Path(file).stem)}: ")
        for name in {site.file for site in self.sites[file]}:
            spelled = rf"(?<![\w./-]){re.escape(name)}(?=:\d)"
            path = os.path.normpath(Path(file).parent / name)
            message = re.sub(spelled, path.replace("\\", r"\\"), message)
        return message

    def _places(self, file: str, finding: Finding, witness: Execution | None) -> tuple[Place, ...]:
        """The finding's places, each with what happens there: a race, a wait, an access."""
        if witness is None:
            return tuple(self._place(file, site, None) for site in finding.sites)
        events = {event.site: event for event in witness.events}
        if witness.conflict is not None:
            racing = (witness.events[number] for number in witness.conflict)
            events |= {event.site: event for event in racing}
        waits = {wait.site: f"waits for {wait.what}" for wait in witness.waits}
        places = (self._place(file, site, events.get(site)) for site in finding.sites)
        return tuple(
            msgspec.structs.replace(place, does=waits.get(site, place.does))
            for site, place in zip(finding.sites, places, strict=True)
        )

    def _step(self, file: str, event: WitnessEvent) -> Place | None:
        return self._place(file, event.site, event) if event.site else None

    def _place(self, file: str, site: str, event: WitnessEvent | None) -> Place:
        """The place in the project of a site of a scenario, which is relative to its folder."""
        name, _, number = site.rpartition(":")
        line = int(number)
        here = [each for each in self.sites[file] if str(each) == site]
        if event is not None:
            here.sort(key=lambda each: (not _does(each, event), each.order != event.order))
        else:
            here.sort(key=lambda each: each.kind not in ("assert", "call"))
        column = here[0].column if here else 0
        path = os.path.normpath(Path(file).parent / name)
        return place(
            self.config.root,
            name if name.startswith("<") else path,
            line,
            column,
            function=here[0].function if here else "",
            does=describe_event(event) if event is not None else "",
        )

    def _litmus(self, finding: Finding, answered: Answered) -> Told:
        file, model = answered.job.file, answered.job.model.name
        test, verdict = self.work.tests[file], answered.answer.verdict
        assert verdict is not None
        witness = msgspec.convert(verdict.witness, Execution | None, from_attributes=True)
        lines = test.text.splitlines()
        at = max(
            (n for n, line in enumerate(lines, 1) if re.search(r"\b(exists|forall)\b", line)),
            default=1,
        )
        condition = lines[at - 1].lstrip()
        there = place(self.config.root, file, at, len(lines[at - 1]) - len(condition) + 1)
        mark = baseline.fingerprint(finding.id, file, model, condition)
        return Told(
            finding=finding,
            message=finding.message,
            scenario=file,
            fingerprint=mark,
            status=self._status(finding, mark),
            places=(there,),
            fix=finding.fix,
            models=(model,),
            test=test.name,
            cause=f"{file} {model}",
            witness=witness,
            steps=tuple(None for _ in witness.events) if witness else (),
        )


def _length(violation: Violation) -> int:
    return len(violation.witness.events) if violation.witness is not None else 1 << 30


def _does(site: Site, event: WitnessEvent) -> bool:
    """Whether the event is one of the site's operation."""
    kinds = {"RMW": ("RMW", "CAS"), "R": ("R", "CAS"), "FREE": ("call",)}
    return site.kind.upper() in kinds.get(event.kind, (event.kind,))
