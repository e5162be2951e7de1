"""The native runner: it sees what the machine shows and nothing else, and says what it did."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from asking import verdicts
from litmus_texts import FENCE, adders, sb
from shapes import STRONG, WEAK

from weakspot.errors import MissingTool
from weakspot.generators.emit.native import native_source, perpetual
from weakspot.generators.emit.threads import observables, statements
from weakspot.generators.litmus import Test
from weakspot.harness import machines
from weakspot.harness.corpus import structures
from weakspot.harness.machines import Machine, local
from weakspot.harness.machines.profile import profile
from weakspot.harness.runners import native
from weakspot.harness.runners.native import Native
from weakspot.harness.runners.programs import Program, SourceText, compiled, sliced
from weakspot.harness.runners.tuning import SETTINGS, Choice, Memory, setting_text, settings
from weakspot.harness.values.descriptions import has_no_observed_variant, negative_result_strength
from weakspot.harness.values.herdlog import format_histogram, parse_histograms
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.state import within
from weakspot.system import tools
from weakspot.system.processors import cores

x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="needs x86-64")


pytestmark = pytest.mark.usefixtures("cache")

AT_ONCE = ("3.SB", "RWC", "W+RWC")
"""In one test, three threads have to run while a store is buffered; in all others, two."""

STORE_Y = "atomic_store_explicit(y, 1, memory_order_release)"
LOAD_Y = "atomic_load_explicit(y, memory_order_acquire);"


def ran(
    tests: list[Test], machine: Machine, seconds: float = 0.3, runner: Native | None = None
) -> dict[str, Histogram]:
    histograms: list[Histogram] = []
    (runner or Native()).run(tests, machine, seconds=seconds, done=histograms.append)
    assert [h.test for h in histograms] == [t.name for t in tests], "each test once"
    return {histogram.test: histogram for histogram in histograms}


def tried(
    tests: list[Test], machine: Machine, enough: Callable[[dict[str, Histogram]], bool]
) -> dict[str, Histogram]:
    """Run until it is enough: on a busy machine chance decides when, and it decides soon."""
    for _ in range(30):
        histograms = ran(tests, machine)
        if enough(histograms):
            break
    return histograms


def missed(histogram: Histogram) -> list[float]:
    """With which probabilities the run would have missed what its weaker variants show."""
    return [each.missed for each in histogram.control_tests if each.missed is not None]


def planted(*faults: tuple[str, str]) -> Native:
    """The runner with faults in the programs that it writes: one text instead of another."""

    def emit(*tests: Test) -> str:
        source = native_source(*tests)
        for old, new in faults:
            assert old in source
            source = source.replace(old, new)
        return source

    return Native(emit=emit)


@pytest.mark.alone
def test_store_buffering_is_seen_here_and_with_fences_is_not(here: Machine) -> None:
    if cores() < 2:
        pytest.skip("one processor shows no store buffering")
    tests = [sb(), sb("SB+fences", FENCE), sb("SB+scs", order="seq_cst")]
    histograms = tried(tests, here, lambda found: found["SB"].target > 0)
    seen = histograms["SB"]
    assert seen.target_independent is not None
    assert 0 < seen.target_independent <= seen.target
    both = {"0:r0": "0", "1:r0": "0"}
    assert sum(c.count for c in seen.histogram if c.state == both) == seen.target
    assert seen.iterations == sum(count.count for count in seen.histogram)
    assert (seen.machine, seen.runner, seen.arch) == ("local", "native", here.arch)
    for name in ("SB+fences", "SB+scs"):
        assert histograms[name].iterations > 0
        assert histograms[name].target == 0


def golden() -> dict[str, Test]:
    found = (test for structure in structures.structures() for test in structure.golden())
    return {test.name: test for test in found}


def kinds() -> list[Test]:
    """Golden tests such that every operation and every shape is among them."""
    wanted: set[str] = set()
    chosen = []
    for name, test in sorted(golden().items()):
        shape = re.search(r"^Shape=(.*)", test.text, re.M)
        ops = set(re.findall(r"atomic_(?!int|load|store)\w+|\[\w\]=\d+|if ", test.text))
        traits = {shape[1] if shape else name, *ops}
        if not traits <= wanted:
            wanted |= traits
            chosen.append(test)
    return chosen


def program_of(test: Test, machine: Machine, folder: Path) -> Program:
    source = SourceText(native_source(test))
    return compiled([source], observables(statements(test)), machine, folder)


def compile_together(tests: Iterable[Test], machine: Machine, folder: Path) -> None:
    """On all processors, ahead of their use."""
    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(lambda test: program_of(test, machine, folder), tests))


@x86
@pytest.mark.parametrize("which", ["kinds", pytest.param("all", marks=pytest.mark.full)])
def test_no_setting_shows_what_x86_forbids(here: Machine, tmp_path: Path, which: str) -> None:
    """Every state that is counted, of sums, comparisons, final memory and guards too. Settings
    take turns; in the full tier each test has them all."""
    tests = [sb(), sb("fences", FENCE), sb("scs", order="seq_cst")]
    tests += kinds() if which == "kinds" else golden().values()
    assert len(tests) > 20
    model = verdicts(tests, "tso")
    compile_together(tests, here, tmp_path)
    for number, test in enumerate(tests):
        read = statements(test)
        program = program_of(test, here, tmp_path)
        every = settings(len(read.threads), 2, perpetual=perpetual(read) is not None)
        for setting in every[number % 5 :: 5] if which == "kinds" else every:
            with machines.opened(here) as at:
                (found,) = sliced(program, at, [(setting, 0.02, 1)])
            for values in found.counts:
                state = program.state(values)
                assert within(state, model[test.name].states), (test.name, setting, state)


def seen(
    test: Test, machine: Machine, folder: Path, mode: str, processors: int, seconds: float = 0.1
) -> int:
    """Hits under the settings of that mode, so many seconds each."""
    program = program_of(test, machine, folder)
    every = settings(len(statements(test).threads), processors, perpetual=True)
    slices = [(each, seconds, number) for number, each in enumerate(every) if mode in each]
    with machines.opened(machine) as at:
        return sum(found.hits for found in sliced(program, at, slices))


@x86
def test_an_outcome_that_x86_forbids_is_not_seen_perpetually(here: Machine, tmp_path: Path) -> None:
    assert all(each.observation == "Never" for each in verdicts(list(STRONG), "tso").values())
    compile_together(STRONG, here, tmp_path)
    for test in STRONG:
        assert seen(test, here, tmp_path, "perpetual", here.cores, 0.04) == 0, test.name


@pytest.mark.alone
@x86
@pytest.mark.parametrize("test", WEAK, ids=lambda test: test.name)
def test_an_outcome_that_x86_allows_is_seen_perpetually(
    here: Machine, tmp_path: Path, test: Test
) -> None:
    assert verdicts([test], "sc")[test.name].observation == "Never"
    assert verdicts([test], "tso")[test.name].observation == "Sometimes"
    if cores() < (needed := 3 if test.name in AT_ONCE else 2):
        pytest.skip(f"{needed} threads have to run within the time that a store is buffered")
    assert any(seen(test, here, tmp_path, "perpetual", here.cores) for _ in range(20))


@pytest.mark.alone
@x86
@pytest.mark.parametrize("test", [t for t in WEAK if t.name in AT_ONCE], ids=lambda t: t.name)
def test_three_threads_show_on_two_processors_what_x86_allows(
    here: Machine, tmp_path: Path, test: Test
) -> None:
    if cores() < 2:
        pytest.skip("one processor shows no store buffering")
    assert any(seen(test, here, tmp_path, "alone", 2) for _ in range(20))


@x86
def test_three_threads_show_on_two_processors_nothing_else(here: Machine, tmp_path: Path) -> None:
    tests = [test for test in STRONG if len(statements(test).threads) > 2]
    compile_together(tests, here, tmp_path)
    for test in tests:
        assert seen(test, here, tmp_path, "alone", 2, 0.04) == 0, test.name


def test_the_parameters_of_a_run_are_recorded(here: Machine) -> None:
    histogram = ran([sb()], here)["SB"]
    parameters = histogram.parameters
    assert parameters["compiler"].startswith("gcc ")
    assert int(parameters["slices"]) >= int(parameters["settings"]) >= 1
    assert parameters["setting"]
    assert "crowded" not in parameters
    share = re.fullmatch(r"(\d+)% of the time", parameters["threads ran"])
    assert share is not None
    assert 0 < int(share[1]) <= 105
    assert re.fullmatch("[0-9a-f]{32}", histogram.hash)
    (read,) = parse_histograms(format_histogram(histogram), machine="local")
    assert read.histogram == histogram.histogram
    assert read.target == histogram.target


@x86
def test_the_assembly_beside_it_is_what_was_written(here: Machine) -> None:
    """Each thread once, inlined; a seq_cst fence is an instruction there."""
    histogram = ran([sb("SB+fences", FENCE)], here)["SB+fences"]
    text = Path(histogram.parameters["assembly"]).read_text(encoding="utf-8")
    for thread in (0, 1):
        body = text.partition(f"\nrun_{thread}:")[2].partition("\t.size")[0]
        assert "call\tP" not in body
        assert len(re.findall(r"\block or|\bmfence", body)) >= 1, body


def test_a_test_that_does_not_compile_costs_only_itself(here: Machine) -> None:
    lock = Test(
        name="lock", arch="C", text="C lock\n{}\nP0 (mtx_t* m) {\n  lock(m);\n}\nexists (x=0)\n"
    )
    foreign = Test(name="MP", arch="MIPS", text="MIPS MP\n{}\n P0 ;\n nop ;\nexists (x=0)\n")
    histograms = ran([sb("a"), lock, foreign, sb("b")], here)
    assert histograms["a"].iterations > 0
    assert histograms["b"].iterations > 0
    assert "no straight lines" in histograms["lock"].reason
    assert "MIPS" in histograms["MP"].reason
    wrong = ran([sb()], here, runner=planted(("int main(", "no_type main(")))["SB"]
    assert re.search(r"gcc does not compile it: \S+: unknown type name", wrong.reason)
    assert wrong.iterations == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("state->count++;", "state->count += 2;", "do not add up"),
        ("me->hits += state->hit", "me->hits += !state->hit", "hits are not those"),
        ('printf("total', 'printf("state', "its program ended with 'state"),
        ('printf("total %ld', 'printf("whole %ld', "its program ended with 'whole"),
        ('printf("state %ld"', 'printf("state -%ld"', "its program printed 'state -"),
        ("return 0;\n}", "abort();\n}", "ended with code -6"),
        ("return 0;\n}", 'fail("why not");\n}', "ended with code 3: why not"),
    ],
)
def test_a_program_that_lies_or_dies_is_not_believed(
    here: Machine, old: str, new: str, message: str
) -> None:
    histogram = ran([sb()], here, runner=planted((old, new)))["SB"]
    assert message in histogram.reason
    assert histogram.histogram == ()


def test_tests_that_differ_in_memory_orders_are_compiled_together(
    here: Machine, empty_cache: Path
) -> None:
    """With all their control tests; where one of them does not compile the others do."""
    tests = [sb("a"), sb("b", FENCE), sb("c", order="seq_cst"), adders(2, "d")]
    ran(tests, here)
    assert len(list(empty_cache.rglob("*.exe"))) == 2, "one program per family"

    def emit(*together: Test) -> str:
        wrong = any(each.name == "b" for each in together)
        return native_source(*together) + "no C;" * wrong

    found = ran(tests, here, runner=Native(emit=emit))
    assert [name for name, each in found.items() if each.reason] == ["b"]
    assert "does not compile it" in found["b"].reason


def test_a_large_family_is_several_programs(
    here: Machine, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with its control tests, even if other tests share them or they are tests themselves."""
    monkeypatch.setattr(native, "_TOGETHER", 1)
    histograms = ran([sb("a"), sb("b", FENCE), sb("c", order="seq_cst")], here)
    assert len(list(empty_cache.rglob("*.exe"))) == 3
    for histogram in histograms.values():
        assert histogram.reason == ""
        assert histogram.control_tests[0].iterations > 0
    for name in ("b", "c"):
        weaker = [each for each in histograms[name].control_tests if each.kind == "weaker"]
        assert len(weaker) == {"b": 3, "c": 5}[name]


def test_two_tests_of_one_name_both_run(here: Machine) -> None:
    found: list[Histogram] = []
    Native().run([sb(), adders(2, "SB")], here, seconds=0.2, done=found.append)
    assert [each.reason for each in found] == ["", ""]
    assert all(each.iterations and each.control_tests[0].iterations for each in found)


def test_a_program_that_hangs_is_killed(here: Machine) -> None:
    begin = time.monotonic()
    histogram = ran([sb()], here, runner=planted(("return 0;\n}", "for (;;);\n}")))["SB"]
    assert time.monotonic() - begin < 20
    assert "does not end within" in histogram.reason


@pytest.mark.alone
def test_more_threads_than_processors_run_too_and_are_reported(here: Machine) -> None:
    threads = cores() + 2
    histogram = ran([adders(threads)], here, 0.5)["many"]
    assert histogram.iterations > 0
    assert 0 < histogram.target < histogram.iterations
    assert f"{threads} threads on" in histogram.parameters["crowded"]


# --- control tests ----------------------------------------------------------------------------


@pytest.mark.alone
def test_every_run_has_its_fenced_control_test(here: Machine) -> None:
    for histogram in ran([sb(), sb("SB+fences", FENCE)], here).values():
        control = histogram.control_tests[0]
        assert control.kind == "fenced"
        assert control.iterations > 0
        assert (control.target, control.wrong) == (0, "")


FAULTS = {
    "a barrier is missing": (
        ("    meet(me, batch);", "    if (batch % 4 == 0) meet(me, batch);"),
        ("nanoseconds() > end", "(batch % 4 == 0 && nanoseconds() > end)"),
    ),
    "a batch is counted before it is over": (
        (
            "count(me->with[n], batch - 1, base - step, other);",
            "count(me->with[n], batch, base, at);",
        ),
    ),
    "memory is not fresh": ((", base += step)", ")"),),
    "results are stale": (("observe(values, i, batch & 1", "observe(values, i, 0"),),
    "rounds are taken for later ones": ((" - base >= frame[", " - base > frame["),),
    "values are read wrongly": (("raw < base ? init", "raw <= base + 1 ? init"),),
}


@pytest.mark.alone
@pytest.mark.parametrize("fault", FAULTS)
def test_a_lying_runner_is_detected_by_its_control_test(here: Machine, fault: str) -> None:
    if cores() < 2:
        pytest.skip("one processor interleaves threads anyhow")
    runner = planted(*FAULTS[fault])
    histogram = ran([sb("SB+scs", order="seq_cst")], here, 0.3, runner)["SB+scs"]
    assert "its control test failed" in histogram.reason
    assert histogram.iterations == 0
    assert histogram.control_tests[0].wrong


@pytest.mark.alone
@x86
def test_weaker_variants_give_the_strength_of_a_negative_result(here: Machine) -> None:
    """Without one of its fences store buffering is seen: that with both it is not means
    something. Message passing is observed without any: that is no evidence."""
    mp = Test(
        name="MP",
        arch="C",
        text=sb()
        .text.replace("C SB", "C MP")
        .replace("int r0 = atomic_load_explicit(y, memory_order_relaxed)", STORE_Y)
        .replace("atomic_store_explicit(y, 1, memory_order_relaxed);", "int r1 = " + LOAD_Y)
        .replace("0:r0=0 /\\ 1:r0=0", "1:r1=1 /\\ 1:r0=0"),
    )
    histograms = tried(
        [sb("SB+fences", FENCE), mp],
        here,
        lambda found: min(missed(found["SB+fences"]), default=1.0) < 0.5,
    )
    fences = histograms["SB+fences"]
    assert fences.target == 0
    weaker = [each for each in fences.control_tests if each.kind == "weaker"]
    assert [each.change for each in weaker] == [
        "P0 without its seq_cst fence",
        "P1 without its seq_cst fence",
        "all fences removed and all orders relaxed",
    ]
    assert min(missed(fences)) < 0.5
    assert "missed with probability" in negative_result_strength(fences)
    assert histograms["MP"].reason == ""
    assert (
        negative_result_strength(histograms["MP"])
        == "no weaker variant was observed either, so this is no evidence"
    )
    assert has_no_observed_variant(histograms["MP"])
    assert not has_no_observed_variant(fences)


def test_variants_that_tests_share_run_once(here: Machine) -> None:
    histograms = ran([sb("a"), sb("b", order="seq_cst")], here)
    assert histograms["a"].control_tests[0] == histograms["b"].control_tests[0]


def test_the_setting_that_shows_most_gets_the_rest() -> None:
    choice = Choice(SETTINGS)
    for _ in range(10 * len(SETTINGS)):
        tried = choice.next()
        tried.slices += 1
        tried.seconds += 1.0
        tried.independent += 5 if tried.setting == SETTINGS[3] else 1
        tried.hits += 10
    assert choice.best.setting == SETTINGS[3]
    assert choice.best.slices > 6 * len(SETTINGS)
    assert all(each.slices > 0 for each in choice.tried)


def test_threads_are_placed_apart_where_there_is_room() -> None:
    def distances(threads: int, processors: int) -> set[int | None]:
        return {each.get("apart") for each in settings(threads, processors, perpetual=False)}

    assert distances(2, 2) == distances(4, 6) == {None}
    assert distances(4, 2) == {None}
    assert distances(2, 4) == {None, 2}
    assert distances(2, 64) == {None, 2, 32}


def test_each_thread_has_a_processor_to_itself_in_turn_if_there_are_few() -> None:
    def alone(threads: int, processors: int) -> set[int]:
        every = settings(threads, processors, perpetual=False)
        return {each["alone"] for each in every if "alone" in each}

    assert alone(3, 2) == {0, 1, 2}
    assert alone(2, 2) == alone(3, 1) == set()


def test_a_test_runs_perpetually_if_it_can_and_threads_that_take_turns_run_longer() -> None:
    def rounds(threads: int, *, perpetual: bool) -> list[int]:
        every = settings(threads, 2, perpetual=perpetual)
        return [each["instances"] for each in every if each.get("perpetual")]

    assert rounds(2, perpetual=False) == []
    assert 0 < max(rounds(2, perpetual=True)) < max(rounds(3, perpetual=True))


def test_while_nothing_is_seen_all_settings_take_turns() -> None:
    choice = Choice(SETTINGS)
    for _ in range(3 * len(SETTINGS)):
        choice.next().slices += 1
    assert {each.slices for each in choice.tried} == {3}


@pytest.mark.alone
def test_the_best_setting_is_remembered_for_the_machine(here: Machine, cache: Path) -> None:
    if cores() < 2:
        pytest.skip("one processor shows no store buffering")
    histogram = tried([sb()], here, lambda found: found["SB"].target > 0)["SB"]
    (remembered,) = Memory(profile(here)).best.values()
    assert setting_text(remembered) == histogram.parameters["setting"]
    assert next(cache.rglob("settings/*.json")).exists()
    assert Choice(SETTINGS, remembered).next().setting == remembered


def test_a_cache_that_cannot_be_written_costs_time_only(
    here: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/no/such/folder")
    assert ran([sb()], here)["SB"].iterations > 0


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find", lambda _: None)
    assert "gcc" in Native().available(local.machine())
    with pytest.raises(MissingTool) as caught:
        Native().run([sb()], local.machine(), seconds=1, done=lambda _: None)
    assert caught.value.advice
