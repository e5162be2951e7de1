"""The machines that a project knows: those it names, and those that campaigns ran on.

In: the names of the configuration, the folder of campaigns, a file there that holds the last probe
of each machine. Out: a KnownMachine for each, also for one that is gone; and new probes.

A machine of one campaign is that of another one if MachineInfo.is_same says so: a machine may be
renamed, and one name may lead to other hardware than before, which is then listed by itself.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from weakspot.errors import MissingTool, ToolFailed, Unsupported, WeakspotError
from weakspot.harness import machines
from weakspot.harness.campaign.folder import campaigns, now, read_manifest
from weakspot.harness.machines import Named, Session
from weakspot.harness.machines.profile import profile
from weakspot.harness.runners.steadiness import steadiness_probe
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.record import Entry, MachineInfo, unique
from weakspot.system.files import Journal, disk, pretty, replace, rows, value
from weakspot.system.process import in_parallel

FILE = "machines.json"
"""In the folder of campaigns: the last probe of each machine."""

HERE = "local"
_PROBES, _EVERY = 12, 0.25
"""How often, and with how many seconds between, a probe measures how evenly a machine runs."""

_AT_ONCE = 16
"""How many other machines are probed at the same time."""


_Result = tuple[str, MachineInfo | WeakspotError]
"""A machine, and what its probe found, or why it could not be reached."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """The last attempt to reach a machine. `info` is what it was when it was last `reached`;
    `reason` says why it could not be reached `at` this time."""

    name: str
    at: str
    reached: str = ""
    info: MachineInfo | None = None
    reason: str = ""


class ShownShape(msgspec.Struct, frozen=True):
    """How many tests of a shape ran on a machine, and how many of these it showed."""

    shape: str
    tests: int
    shown: int


class KnownMachine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine. `address` is "" if the project names it no longer; `aliases` are other names that
    it had. `campaigns` counts those it has a part in, `last` is when the last of them was started.
    `profile` is the newest that is known. `reached` and `reason` are those of its Probe."""

    name: str
    address: str = ""
    aliases: tuple[str, ...] = ()
    arch: str = ""
    emulated: bool = False
    profile: dict[str, object] = {}
    probed: str = ""
    reached: str = ""
    reason: str = ""
    campaigns: int = 0
    last: str = ""
    shapes: tuple[ShownShape, ...] = ()

    @property
    def info(self) -> MachineInfo:
        return MachineInfo(self.name, self.arch, self.emulated, self.profile)


class _File(msgspec.Struct, frozen=True):
    probes: tuple[Probe, ...] = ()


def known(root: Path, named: Named, asked: Sequence[str] = ()) -> list[KnownMachine]:
    """This machine, those that are named, those in `asked`, and those of the campaigns below
    `root`. Raises BadInput for a damaged file, with its place."""
    found: list[_Machine] = []
    for folder in campaigns(root):
        manifest = read_manifest(folder)
        for info in manifest.machines:
            _of(info, found).take_campaign(folder, manifest.started, info)
    probes = _read(root)
    for each in probes.values():
        if each.info is not None:
            _of(each.info, found).take_probe(each)
    listed = []
    for name in unique((HERE, *named, *asked)):
        called = [each for each in found if name in each.names]
        machine = max(called, key=lambda each: each.newest, default=_Machine(name))
        if machine not in listed:
            machine.name, machine.address = name, _address(name, named)
            listed.append(machine)
        if name in probes:
            machine.take_probe(probes[name])
    return [each.known() for each in (*listed, *(each for each in found if each not in listed))]


def probe(
    names: Sequence[str], root: Path, named: Named, report: Callable[[str], None]
) -> dict[str, WeakspotError]:
    """Probe the machines of these names, and remember what is found; for each that could not be
    reached, why. Those that are this computer are probed last and one by one, undisturbed."""
    errors: dict[str, WeakspotError] = {}
    probes = _read(root)

    def one(name: str, _: object, done: Callable[[_Result], None]) -> None:
        try:
            done((name, _probed(name, named)))
        except (ToolFailed, MissingTool, Unsupported) as error:
            done((name, error))

    def keep(result: _Result) -> None:
        name, found = result
        report(name)
        before, at = probes.get(name), now()
        reached, reason = (before.reached if before else ""), ""
        info = before.info if before else None
        if isinstance(found, MachineInfo):
            reached, info = at, found
        else:
            errors[name], reason = found, found.message.removeprefix(f"{name}: ")
        probes[name] = Probe(name=name, at=at, reached=reached, info=info, reason=reason)

    elsewhere = [name for name in names if machines.check(name, named)[0].elsewhere]
    tasks = [partial(one, name) for name in elsewhere]
    in_parallel(tasks, workers=min(_AT_ONCE, len(tasks)), done=keep)
    for name in names:
        if name not in elsewhere:
            one(name, None, keep)
    with disk(root):
        root.mkdir(parents=True, exist_ok=True)
    replace(root / FILE, pretty(_File(tuple(probes.values()))))
    return errors


def _probed(name: str, named: Named) -> MachineInfo:
    machine = machines.resolve(name, named)
    with machines.opened(machine) as at:
        facts = msgspec.to_builtins(profile(machine, at), enc_hook=str)
        facts["clock_error"] = clock_error(at)
    with steadiness_probe(machine, every=_EVERY) as gauge:
        for _ in range(_PROBES):
            time.sleep(_EVERY)
            gauge.probe()
        facts.update(msgspec.to_builtins(gauge.found))
    return MachineInfo(machine.name, machine.arch, machine.emulated, facts)


def clock_error(at: Session) -> float | None:
    """By how many seconds at least a machine's clock is ahead of this computer's (negative: behind
    it); 0.0 if both may be right, None if the machine does not say."""
    before = time.time()
    printed = at.shell("date +%s").out.strip()
    after = time.time()
    if not printed.isdecimal():
        return None
    there = int(printed)  # the second that has begun
    return float(round(min(0.0, there + 1 - before) + max(0.0, there - after), 1))


def _address(name: str, named: Named) -> str:
    return named[name].address if name in named else name


def _read(root: Path) -> dict[str, Probe]:
    advice = "remove the file; weakspot machines --probe writes it again"
    found = value(root / FILE, _File, "a damaged list of probes", advice) or _File()
    return {each.name: each for each in found.probes}


class _Machine:
    """A machine while what is known of it is collected."""

    def __init__(self, name: str) -> None:
        self.name, self.address = name, ""
        self.infos: list[MachineInfo] = []
        self.folders: list[tuple[Path, str]] = []
        self.last = ""
        self.probe: Probe | None = None

    def take_campaign(self, folder: Path, started: str, info: MachineInfo) -> None:
        self.infos.append(info)
        self.name, self.last = info.name, started
        self.folders.append((folder, info.name))

    def take_probe(self, probe: Probe) -> None:
        if probe.info is not None:
            self.infos.append(probe.info)
        if self.probe is None or self.probe.at < probe.at:
            self.probe = probe

    @property
    def names(self) -> tuple[str, ...]:
        return unique(each.name for each in self.infos)

    @property
    def newest(self) -> str:
        """When it was last there, in the manifests' form of time."""
        return max(self.last, self.probe.reached if self.probe else "")

    def known(self) -> KnownMachine:
        newest = self.infos[-1] if self.infos else MachineInfo(self.name, "", False)
        measured = {name: value for each in self.infos for name, value in each.profile.items()}
        return KnownMachine(
            name=self.name,
            address=self.address,
            aliases=tuple(name for name in self.names if name != self.name),
            arch=newest.arch,
            emulated=newest.emulated,
            profile={**measured, **newest.profile},
            probed=self.probe.at if self.probe else "",
            reached=self.probe.reached if self.probe else "",
            reason=self.probe.reason if self.probe else "",
            campaigns=len(self.folders),
            last=self.last,
            shapes=tuple(_shapes(self.folders)),
        )


def _of(info: MachineInfo, found: list[_Machine]) -> _Machine:
    """The machine among those found that this is, or a new one."""
    machine = next((each for each in reversed(found) if each.infos[-1].is_same(info)), None)
    if machine is None:
        found.append(machine := _Machine(info.name))
    return machine


def _shapes(folders: Iterable[tuple[Path, str]]) -> Iterator[ShownShape]:
    """What the machine of that name in each campaign showed. Counts of a test whose text has
    changed since, and of tests without a shape, are left out."""
    ran: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for folder, machine in folders:
        entries = rows(folder / "tests" / "tests.jsonl", Entry)
        shapes = {each.test.name: (each.test.shape, each.digest) for each in entries}
        for key, counts in Journal(folder / "histograms.jsonl", Histogram).read()[0]:
            shape, digest = shapes.get(counts.test, ("", ""))
            if counts.machine != machine or not shape or not counts.iterations:
                continue
            if key.partition(":")[0] == digest:
                ran[shape][digest] = ran[shape].get(digest, False) or counts.target > 0
    for shape, tests in sorted(ran.items(), key=lambda each: (-len(each[1]), each[0])):
        yield ShownShape(shape, len(tests), sum(tests.values()))
