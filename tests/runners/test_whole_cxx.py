"""Programs in C++ as a whole: what is made before main is made in each instance, and what fails is
counted as it is in C."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

import pytest

from weakspot.generators.emit.whole import in_source
from weakspot.generators.source.program import read_program
from weakspot.harness.costs.measurement import Costing
from weakspot.harness.machines import Machine, compilers
from weakspot.harness.runners import whole_programs
from weakspot.harness.runners.whole_programs import Times
from weakspot.harness.values.program_run import ProgramRun
from weakspot.system import tools
from weakspot.system.processors import cores
from weakspot.system.tools import Program, Tool, find

tso = pytest.mark.skipif(
    platform.machine() != "x86_64" or cores() < 2, reason="needs two x86-64 processors"
)

DEKKER = """\
#include <atomic>
#include <cassert>
#include <thread>

class Door {
  std::atomic<bool> wants_[2]{};
  int inside_ = 0;

public:
  void pass(int me) {
    wants_[me].store(true, ORDER);
    if (!wants_[1 - me].load(ORDER_OF_LOADS)) {
      int before = inside_++;
      assert(before == 0);
    }
  }
};

static Door door;

int main() {
  std::thread one(&Door::pass, &door, 0);
  std::thread two([] { door.pass(1); });
  one.join();
  two.join();
}
"""
QUEUE = """\
#include <atomic>
#include <cassert>
#include <optional>
#include <thread>

template <typename T, unsigned Capacity>
class Queue {
  std::atomic<unsigned> head_{0}, tail_{0};
  std::atomic<T> slots_[Capacity]{};

public:
  bool push(T value) {
    auto tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == Capacity) return false;
    slots_[tail % Capacity].store(value, std::memory_order_relaxed);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  std::optional<T> pop() {
    auto head = head_.load(std::memory_order_relaxed);
    if (tail_.load(std::memory_order_acquire) == head) return std::nullopt;
    T value = slots_[head % Capacity].load(std::memory_order_relaxed);
    head_.store(head + 1, std::memory_order_release);
    return value;
  }
};

static Queue<int, 2> queue;
static int popped;

int main() {
  std::jthread producer([] {
    for (int value = 1; value <= 2; value++) queue.push(value);
  });
  std::jthread consumer([] {
    for (int times = 0; times < 2; times++)
      if (auto value = queue.pop()) assert(*value == ++popped);
  });
}
"""
BOX = """\
#include <atomic>
#include <cassert>
#include <thread>

template <typename T>
class Box {
  std::atomic<T> value_{};

public:
  void put(T value) {
    value_.store(value, std::memory_order_release);
  }
  T look() const { return value_.load(std::memory_order_acquire); }
};

static Box<int> box;

int main() {
  std::jthread writer([] {
    for (int value = 1; value <= 2; value++) box.put(value);
  });
  std::jthread reader([] { assert(box.look() <= 2); });
}
"""
FRESH = """\
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Counted {
  static inline int made = 0;
  int number = ++made;
  ~Counted() { made = -100; }
};
static Counted first;
static std::vector<int> numbers{1, 2, 3};
inline std::atomic<int> sum{4};
template <class T> struct Of { static T value; };
template <class T> T Of<T>::value = T(5, 1);
thread_local int own = 7;
static std::mutex lock;
static std::condition_variable ready;
static bool go;

int called() {
  static Counted in;
  static int times = 7;
  return in.number + ++times;
}

int main() {
  auto three = std::make_shared<int>(3);
  assert(Counted::made == 1 && first.number == 1);
  numbers.push_back(4);
  assert(numbers.size() == 4 && numbers[3] == 4);
  Of<std::vector<int>>::value.push_back(1);
  assert(Of<std::vector<int>>::value.size() == 6);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++)
    threads.emplace_back([three, i] {
      assert(++own == 8);
      sum += i + *three;
      std::lock_guard guard(lock);
      go = true;
      ready.notify_one();
    });
  threads.emplace_back([] {
    std::unique_lock guard(lock);
    ready.wait(guard, [] { return go; });
  });
  for (auto& each : threads) each.join();
  assert(sum == 4 + 3 + 4);
  assert(own == 7);
  assert(called() == 2 + 8 && called() == 2 + 9);
  std::cout << sum << std::endl;
}
"""


@pytest.fixture(autouse=True)
def _compiler(need: Callable[[str], Tool]) -> None:
    """zig would do, but makes the C++ library for minutes first."""
    need("g++")


def ran(folder: Path, text: str, machine: Machine, seconds: float = 0.5) -> ProgramRun:
    source = folder / "it.cpp"
    source.write_text(text)
    runs: list[ProgramRun] = []
    subject = [("it", read_program(source))]
    whole_programs.run(subject, machine, seconds=seconds, done=runs.append)
    (found,) = runs
    return found


def dekker(order: str) -> str:
    loads = {"release": "acquire"}.get(order, order)
    text = DEKKER.replace("ORDER_OF_LOADS", f"std::memory_order_{loads}")
    return text.replace("ORDER", f"std::memory_order_{order}")


@pytest.mark.alone
@tso
@pytest.mark.parametrize("order", ["relaxed", "release"])
def test_a_door_without_its_fence_lets_both_in(tmp_path: Path, here: Machine, order: str) -> None:
    for _ in range(20):  # on a busy machine the threads may not meet for a while
        run = ran(tmp_path, dekker(order), here, 1.0)
        if run.failures:
            break
    (failure,) = run.failures
    assert (failure.kind, failure.site, failure.message) == (
        "assertion",
        "it.cpp:14",
        "before == 0",
    )
    assert "Door::pass" in failure.function
    assert 0 < failure.count <= run.instances


@pytest.mark.alone
@tso
@pytest.mark.parametrize("text", [dekker("seq_cst"), QUEUE], ids=["door", "queue"])
def test_a_correct_cxx_program_does_not_fail(tmp_path: Path, here: Machine, text: str) -> None:
    run = ran(tmp_path, text, here)
    assert run.instances > 0, run
    assert not run.failures
    assert not run.ended_early


def test_each_instance_makes_its_objects_anew(tmp_path: Path, here: Machine) -> None:
    run = ran(tmp_path, FRESH, here)
    assert not run.failures, run
    assert run.instances > int(run.parameters["slices"]), "several in one process"
    assert run.reason == run.ended_early == ""
    broken = ran(tmp_path, FRESH.replace("Counted::made == 1", "Counted::made == 2"), here)
    assert broken.failed == broken.instances > 0, "the test can fail"


@pytest.mark.full
def test_without_gcc_zig_makes_objects_anew_too(
    tmp_path: Path, here: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "find", lambda what: (what.name == "ziglang" and find(what)) or None)
    test_each_instance_makes_its_objects_anew(tmp_path, here)


def test_a_compiler_error_is_reported_with_its_line(tmp_path: Path, here: Machine) -> None:
    text = "#include <thread>\n#ifndef __clang__\nint main() { return x; }\n"
    run = ran(tmp_path, f"{text}#else\nint main() {{}}\n#endif\n", here)
    assert run.reason.startswith("g++ does not compile it: it.cpp:3:21: ")


def test_an_exception_that_nobody_catches_is_a_failure(tmp_path: Path, here: Machine) -> None:
    text = "#include <thread>\nstatic int n = 3;\nint main() {\n"
    text += "  std::thread one([] { if (n == 3) throw n; });\n  one.join();\n}\n"
    run = ran(tmp_path, text, here)
    (failure,) = run.failures
    assert failure.message == "abort() is called"
    assert failure.count == run.instances


def test_the_cost_of_memory_orders_is_measured_in_cxx(tmp_path: Path, here: Machine) -> None:
    source = tmp_path / "box.cpp"
    source.write_text(BOX)
    work = Costing("box.cpp", [("box", read_program(source))], here)
    work.run(0.0)
    found = work.result()
    sites = {(site.annotation.line, site.annotation.kind): site for site in found.sites}
    put = sites[11, "W"]
    assert put.annotation.function == "Box::put"
    assert put.alone == put.together == Times(2.0, 2, 2)
    assert [order.order for order in put.orders] == ["rlx", "rel", "sc"]
    assert not any(order.why for order in put.orders)
    if platform.machine() == "x86_64":
        assert put.orders[1].same_as == "rlx"
        strongest = put.orders[2]
        assert strongest.alone is not None
        assert strongest.alone.low <= strongest.alone.ns <= strongest.alone.high
    assert found.runs[0].alone is not None
    assert source.read_text() == BOX, "the user's files are never touched"


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("plain", "plain"),
        ("times.0", "times"),
        ("_ZL6hidden", "hidden"),
        ("_ZN2ns5shownE", "shown"),
        ("_ZZ6calledvE5times", "times"),
        ("_ZZ6calledvE5times_0", "times"),
        ("_ZN5QueueIiLj16EE5countE", "count"),
        ("_ZN2OfISt6vectorIiSaIiEEE5valueE", "value"),
        ("_ZL3onePv", "one"),
        ("_Z", "_Z"),
    ],
)
def test_a_name_is_that_of_the_source(symbol: str, name: str) -> None:
    assert in_source(symbol) == name


def test_the_compiler_for_cxx_stands_beside_the_one_for_c(
    here: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = {"g++", "aarch64-linux-gnu-gcc", "ziglang"}

    def known(what: Program) -> Tool | None:
        found = what.name in installed
        return Tool(what.name, f"/bin/{what.name}", "PATH", what) if found else None

    monkeypatch.setattr(tools, "find", known)
    local_one = compilers.require(here, "c++")
    assert (local_one.name, local_one.command[0]) == ("g++", "/bin/g++")
    cross = Machine(name="a", arch="aarch64", cores=1, native=False, litmus7=())
    assert compilers.require(cross).name == "aarch64-linux-gnu-gcc"
    assert compilers.require(cross, "c++").command == (
        *(str(Path("/bin/zig").resolve()), "c++", "-target", "aarch64-linux-musl"),
    )
