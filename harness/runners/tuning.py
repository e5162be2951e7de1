"""The settings of native programs: which one the next slice uses, and which was best on this
machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from weakspot.harness.machines.profile import Profile
from weakspot.system import cache

CURIOUS = 8
"""One slice in so many uses the setting that was tried least."""

Setting = dict[str, int]
"""Parameters of a program, by name; the comment at the head of the template explains each."""

#: settings that are tried for every test. Slots show most where they are a little longer than a
#: line takes from one processor's cache to another's; prefetching at random makes every order of
#: arrival likely, and stores that are pushed before a test's own keep these in the store buffer. A
#: locked instruction has to wait until all that were pushed before it are out: its thread is due
#: first.
SETTINGS: tuple[Setting, ...] = (
    {"slot": 170, "jitter": 31, "sets": 2},
    {},
    {"slot": 200, "jitter": 63, "sets": 2, "fetch": -1},
    {"sets": 2, "shuffle": 1},
    {"slot": 250, "jitter": 63, "sets": 2, "fetch": -1, "push": 16},
    {"slot": 250, "jitter": 63, "sets": 2, "fetch": -1, "push": 16, "lead": -30},
    {"slot": 250, "jitter": 63, "sets": 2, "fetch": -1, "push": 16, "lead": 30},
    {"slot": 200, "jitter": 63, "sets": 2, "fetch": -1, "lead": 30},
    {"slot": 120, "jitter": 31},
    {"slot": 200, "jitter": 63, "sets": 2, "fetch": -1, "lead": -30},
    {"delay": 15},
    {"slot": 400, "jitter": 511, "sets": 2, "fetch": -1},
    {"instances": 1024, "shuffle": 1},
    {"push": 16, "index": 0, "sets": 2},
    {"slot": 300, "jitter": 127},
    {"instances": 64, "delay": 63},
    {"slot": 700, "jitter": 255, "sets": 2},
    {"stride": 128, "turn": 0},
)


#: for tests that can run perpetually, with a processor for each thread and without: threads that
#: share one run best in slices longer than the scheduler's
PERPETUAL: tuple[Setting, ...] = (
    {"perpetual": 1, "instances": 100},
    {"perpetual": 1, "instances": 3000},
)
CROWDED: tuple[Setting, ...] = (
    {"perpetual": 1, "instances": 3000},
    {"perpetual": 1, "instances": 100_000},
)

#: for more threads than processors, with each of the threads alone: the others take turns while
#: what it has stored is buffered
ALONE: tuple[Setting, ...] = (
    {"slot": 250, "jitter": 63, "sets": 2, "fetch": -1, "push": 16},
    {"push": 16, "index": 0, "sets": 2},
    {},
)

#: for whole programs. Where main runs a thread itself no processor is idle; where it does not,
#: what it does between the last creation and the first join is part of the test. Prefetching what
#: others have written matters most: a store that misses waits in the store buffer.
WHOLE: tuple[Setting, ...] = (
    {"caller": 1, "fetch": -1},
    {"caller": 0, "fetch": -1},
    {"caller": 1, "fetch": -1, "slot": 600, "jitter": 255},
    {"caller": 1},
    {"caller": 0},
    {"caller": 1, "fetch": -1, "slot": 1200, "jitter": 1023},
    {"caller": 0, "fetch": -1, "slot": 1200, "jitter": 1023},
    {"caller": 1, "slot": 0, "jitter": 0},
)


def settings(threads: int, processors: int, *, perpetual: bool) -> tuple[Setting, ...]:
    """The settings to try for a test with so many threads. With processors to spare, neighbouring
    and distant processors are distinguished: they share different caches. With too few, each thread
    is alone in turn."""
    spare = processors // threads
    distances = sorted({2, spare} - {1}) if spare > 1 else []
    on = () if not perpetual else PERPETUAL if spare else CROWDED
    others = [{**each, "apart": distance} for distance in distances for each in SETTINGS[:4]]
    if not spare and processors > 1:
        others = [{**each, "alone": thread} for thread in range(threads) for each in ALONE]
    return (*SETTINGS[:3], *on, *SETTINGS[3:], *others)


def setting_text(setting: Setting) -> str:
    return " ".join(f"{name}={value}" for name, value in setting.items()) or "default"


class Tried(msgspec.Struct):
    """A setting, and what its slices counted."""

    setting: Setting
    slices: int = 0
    seconds: float = 0.0
    iterations: int = 0
    hits: int = 0
    independent: int = 0

    @property
    def rate(self) -> tuple[float, float]:
        """Independent hits per second; where there are none, hits."""
        spent = max(self.seconds, 1e-9)
        return self.independent / spent, self.hits / spent


class Choice:
    """Chooses the setting of the next slice: each once, or the stored one, then the one that shows
    most; one slice in CURIOUS uses the one that was tried least. As long as nothing is observed,
    all take turns, and every other slice uses one that was hinted at. (An epsilon-greedy bandit;
    Auer, Cesa-Bianchi and Fischer, Machine Learning 47, 2002, section 3.)"""

    def __init__(self, settings: Sequence[Setting], first: Setting | None = None) -> None:
        order = [first] if first is not None else []
        order += [setting for setting in settings if setting != first]
        self.tried = [Tried(setting) for setting in order]
        self.hinted: list[Tried] = []
        self.fresh = first is None
        self.slices = 0

    def hint(self, settings: Iterable[Setting]) -> None:
        """Settings that show variants of the test: they may show the test too."""
        wanted = list(settings)
        self.hinted = [each for each in self.tried if each.setting in wanted]

    def next(self) -> Tried:
        self.slices += 1
        least = _least(self.tried)
        best = self.best
        if best.hits == 0:
            return _least(self.hinted) if self.hinted and self.slices % 2 else least
        if (self.fresh and least.slices == 0) or self.slices % CURIOUS == 0:
            return least
        return best

    @property
    def best(self) -> Tried:
        return max(self.tried, key=lambda each: each.rate)


def _least(tried: Sequence[Tried]) -> Tried:
    return min(tried, key=lambda each: each.slices)


class Remembered(msgspec.Struct):
    """The best settings on a machine, by the digest of the test's program."""

    best: dict[str, Setting] = {}


class Memory:
    """The stored settings for a machine: a file in the user's cache folder. Nothing is stored if it
    cannot be written."""

    def __init__(self, known: Profile) -> None:
        kind = cache.digest(*(str(each) for each in (known.machine, known.cpu, known.hypervisor)))
        folder = cache.folder_of("settings")
        self.path = folder and folder / f"{kind[:16]}.json"
        self.best = (cache.read(self.path, Remembered) or Remembered()).best

    def write(self) -> None:
        cache.write(self.path, Remembered(self.best))
