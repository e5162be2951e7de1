"""C++ is read as C is: the same operations, at the user's lines, and errors that name the place."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from weakspot import _engine
from weakspot.errors import BadInput, Unsupported
from weakspot.generators.pipeline import Generated, generate
from weakspot.generators.source import clang
from weakspot.generators.source.build import SUFFIXES
from weakspot.generators.source.frontend import compile_source

QUEUE = """\
#include <atomic>
#include <cassert>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

template <class T>
class Queue {
  struct Node {
    T value;
    std::atomic<Node*> next{nullptr};
  };
  std::atomic<Node*> head;
  std::mutex popping;
  Node* tail;

 public:
  Queue() : tail(new Node{}) { head.store(tail, std::memory_order_relaxed); }
  void push(T value) {
    Node* node = new Node{std::move(value)};
    Node* before = head.exchange(node, std::memory_order_acq_rel);
    before->next.store(node, std::memory_order_release);
  }
  std::optional<T> pop() {
    std::lock_guard<std::mutex> guard(popping);
    Node* next = tail->next.load(std::memory_order_acquire);
    if (next == nullptr) return std::nullopt;
    delete std::exchange(tail, next);
    return next->value;
  }
};

int main() {
  Queue<int> q;
  std::vector<std::thread> threads;
  for (int i = 1; i <= 2; ++i) threads.emplace_back([&q, i] { q.push(i); });
  threads.emplace_back([&q] {
    auto got = q.pop();
    assert(!got || *got == 1 || *got == 2);
  });
  for (auto& thread : threads) thread.join();
}
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the compiled parts of the C++ library are cached, for all tests."""
    return tmp_path_factory.mktemp("library")


@pytest.fixture(autouse=True)
def _cache_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, library: Path
) -> None:
    place = tmp_path_factory.mktemp("cache")
    (place / "weakspot").mkdir()
    (place / "weakspot" / "library").symlink_to(library)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    monkeypatch.delenv("WEAKSPOT_CLANG", raising=False)


def written(folder: Path, text: str, name: str = "program.cpp") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def traced(path: Path) -> tuple[_engine.Program, Any]:
    program = _engine.Program(compile_source(path).text)
    return program, program.trace()


def generated(path: Path) -> Generated:
    return generate(path, structure="structure", scenario="scenario")


def failures(path: Path) -> list[tuple[str, str, Any]]:
    """How interleavings end badly: the kind, the message, the site."""
    program, trace = traced(path)
    return [
        (run["outcome"], run["message"], program.sites[run["site"]])
        for run in trace["runs"]
        if run["outcome"] not in ("complete", "bound")
    ]


def line_of(text: str, part: str) -> int:
    (line,) = (k for k, line in enumerate(text.splitlines(), 1) if part in line)
    return line


def events(program: _engine.Program, trace: Any, name: str = "program.cpp") -> set[Any]:
    """What every thread but main does to shared locations, with the lines that say so."""
    return {
        (e["kind"], e["order"], e["loc"], program.sites[e["site"]]["line"])
        for run in trace["runs"]
        for thread in run["threads"][1:]
        for e in thread
        if program.sites[e["site"]]["file"] == name
    }


# --- a queue as a stranger writes it -----------------------------------------------------------


def test_a_queue_with_templates_lambdas_threads_and_locks_gives_tests(tmp_path: Path) -> None:
    path = written(tmp_path, QUEUE)
    found = generated(path)
    assert found.exhaustive
    assert not failures(path)
    names = {test.name for test in found.tests}
    assert "MP+ponarel+ctrlacqna" in names
    value, linked = line_of(QUEUE, "new Node{std"), line_of(QUEUE, "before->next")
    next_, read = line_of(QUEUE, "tail->next.load"), line_of(QUEUE, "return next->value")
    (test,) = (test for test in found.tests if test.name == "MP+ponarel+ctrlacqna")
    origin = test.origins[0]
    sites = {(site.function, site.line) for thread in origin.sites for site in thread}
    pushed = {("Queue::push", value), ("Queue::push", linked)}
    assert sites == pushed | {("Queue::pop", next_), ("Queue::pop", read)}
    assert {name.partition(":")[0] for name in test.sites} == {"program.cpp"}


def test_the_queue_goes_through_gen_and_check(tmp_path: Path) -> None:
    written(tmp_path, QUEUE, "queue.cpp")
    weakspot = Path(sys.executable).with_name("weakspot")
    answers = {}
    for command in (("gen", "queue.cpp", "--list"), ("check", "queue.cpp", "--tests")):
        done = subprocess.run(
            [weakspot, *command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        answers[command[0]] = done.stdout
    assert "Queue::push queue.cpp:22,24" in answers["gen"]
    assert re.search(r"MP\+ponarel\+ctrlacqna +Never", answers["check"])


def test_the_queue_is_safe_with_its_orders_and_not_below(tmp_path: Path) -> None:
    rc11 = str(resources.files("weakspot.models") / "rc11.cat")
    program, _ = traced(written(tmp_path, QUEUE))
    assert program.explore(rc11)["result"] == "Safe"
    weaker = QUEUE.replace(
        "store(node, std::memory_order_release", "store(node, std::memory_order_relaxed"
    )
    program, _ = traced(written(tmp_path, weaker, "weaker.cpp"))
    assert program.explore(rc11)["result"] == "Violated"


def test_the_chain_of_a_site_is_the_users_calls(tmp_path: Path) -> None:
    program, _ = traced(written(tmp_path, QUEUE))
    (site,) = (s for s in program.sites if s["line"] == line_of(QUEUE, "before->next"))
    call = line_of(QUEUE, "q.push(i)")
    (caller,) = site["chain"]
    assert re.fullmatch(rf"main::lambda@program\.cpp:{call}:\d+", caller)


def test_threads_are_named_after_the_code_that_they_run(tmp_path: Path) -> None:
    """Not after the library function that pthread_create gets; without code of the user's, after
    the line that creates the thread."""
    text = """\
    #include <atomic>
    #include <cassert>
    #include <functional>
    #include <thread>
    static std::atomic<int> count;
    static void increment(int by) { count.fetch_add(by); }
    struct Adder {
      int by;
      void operator()() const { count.fetch_add(by); }
      void add(int n) const { count.fetch_add(n * by); }
    };
    int main() {
      const Adder adder{1};
      std::thread threads[] = {
          std::thread(increment, 1),
          std::thread(Adder{1}),
          std::thread(&Adder::add, &adder, 1),
          std::thread([] { count.fetch_add(1); }),
          std::thread(std::plus<int>{}, 1, 2),
      };
      for (auto& each : threads) each.join();
      assert(count != 4);
    }
    """
    sc = str(resources.files("weakspot.models") / "sc.cat")
    program, _ = traced(written(tmp_path, text))
    (violation, *_) = program.explore(sc, loops=8)["violations"]
    assert violation["witness"]["functions"] == [
        *("main", "increment", "Adder::operator()", "Adder::add", "main::lambda"),
        f"program.cpp:{line_of(text, 'std::plus')}",
    ]


def test_the_queue_is_what_the_same_queue_in_c_is(tmp_path: Path) -> None:
    c = """
    #include <assert.h>
    #include <pthread.h>
    #include <stdatomic.h>
    #include <stdlib.h>
    typedef struct Node { int value; struct Node *_Atomic next; } Node;
    static struct { Node *_Atomic head; pthread_mutex_t popping; Node *tail; } q;
    static void push(int value) {
      Node *node = malloc(sizeof *node);
      node->value = value;
      atomic_init(&node->next, 0);
      Node *before = atomic_exchange_explicit(&q.head, node, memory_order_acq_rel);
      atomic_store_explicit(&before->next, node, memory_order_release);
    }
    static void *pusher(void *value) { push((long)value); return 0; }
    static void *popper(void *unused) {
      pthread_mutex_lock(&q.popping);
      Node *next = atomic_load_explicit(&q.tail->next, memory_order_acquire);
      if (next) {
        free(q.tail);
        q.tail = next;
        assert(next->value == 1 || next->value == 2);
      }
      pthread_mutex_unlock(&q.popping);
      return unused;
    }
    int main(void) {
      q.tail = calloc(1, sizeof *q.tail);
      atomic_store_explicit(&q.head, q.tail, memory_order_relaxed);
      pthread_t t[3];
      for (long i = 1; i <= 2; ++i) pthread_create(&t[i], 0, pusher, (void *)i);
      pthread_create(&t[0], 0, popper, 0);
      for (int i = 0; i < 3; ++i) pthread_join(t[i], 0);
    }
    """
    of_c = generated(written(tmp_path, c, "program.c"))
    of_cxx = generated(written(tmp_path, QUEUE))
    assert {t.name for t in of_c.tests} == {t.name for t in of_cxx.tests}


# --- each operation with each order is its C11 twin ---------------------------------------------

LOADS = ("relaxed", "consume", "acquire", "seq_cst")
STORES = ("relaxed", "release", "seq_cst")
ALL = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")
EXCHANGES = [
    ("relaxed", "relaxed"),
    ("acquire", "relaxed"),
    ("acquire", "acquire"),
    ("release", "relaxed"),
    ("acq_rel", "relaxed"),
    ("acq_rel", "acquire"),
    ("seq_cst", "relaxed"),
    ("seq_cst", "acquire"),
    ("seq_cst", "seq_cst"),
]


def twins() -> list[tuple[str, str]]:
    """An operation in C++ and the same in C, on `x`, with `e` for an expected value."""
    found = [
        ("y = x", "y = x"),
        ("x = 1", "x = 1"),
        ("y = x.load()", "y = atomic_load(&x)"),
        ("x.store(1)", "atomic_store(&x, 1)"),
        ("y = x.exchange(1)", "y = atomic_exchange(&x, 1)"),
        ("++x", "++x"),
        ("x--", "x--"),
        ("x += 2", "x += 2"),
        ("x -= 2", "x -= 2"),
        ("x &= 2", "x &= 2"),
        ("x |= 2", "x |= 2"),
        ("x ^= 2", "x ^= 2"),
        ("x.compare_exchange_strong(e, 1)", "atomic_compare_exchange_strong(&x, &e, 1)"),
        ("x.compare_exchange_weak(e, 1)", "atomic_compare_exchange_weak(&x, &e, 1)"),
        ("y = std::atomic_load(&x)", "y = atomic_load(&x)"),
        ("std::atomic_store(&x, 1)", "atomic_store(&x, 1)"),
        ("std::atomic_fetch_add(&x, 1)", "atomic_fetch_add(&x, 1)"),
    ]
    free = "std::atomic_{0}_explicit(&x, {1})"
    for o in LOADS:
        c = f"y = atomic_load_explicit(&x, memory_order_{o})"
        found.append((f"y = x.load(std::memory_order_{o})", c))
        found.append((f"y = x.load(std::memory_order::{o})", c))
        found.append(("y = " + free.format("load", f"std::memory_order_{o}"), c))
    for o in STORES:
        c = f"atomic_store_explicit(&x, 1, memory_order_{o})"
        found.append((f"x.store(1, std::memory_order_{o})", c))
        found.append((free.format("store", f"1, std::memory_order_{o}"), c))
    for o in ALL:
        for name in ("exchange", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"):
            c = f"y = atomic_{name}_explicit(&x, 1, memory_order_{o})"
            found.append((f"y = x.{name}(1, std::memory_order_{o})", c))
        found.append(
            (
                "y = " + free.format("fetch_add", f"1, std::memory_order_{o}"),
                f"y = atomic_fetch_add_explicit(&x, 1, memory_order_{o})",
            )
        )
        found.append(
            (
                f"std::atomic_thread_fence(std::memory_order_{o})",
                f"atomic_thread_fence(memory_order_{o})",
            )
        )
    for success, failure in EXCHANGES:
        for strength in ("strong", "weak"):
            orders = f"std::memory_order_{success}, std::memory_order_{failure}"
            found.append(
                (
                    f"x.compare_exchange_{strength}(e, 1, {orders})",
                    f"atomic_compare_exchange_{strength}_explicit(&x, &e, 1, "
                    f"memory_order_{success}, memory_order_{failure})",
                )
            )
    # one order for both: the failure's is what a load can have of it
    one = {"release": "relaxed", "acq_rel": "acquire"}
    found += [
        (
            f"x.compare_exchange_strong(e, 1, std::memory_order_{o})",
            f"atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_{o}, "
            f"memory_order_{one.get(o, o)})",
        )
        for o in ALL
    ]
    return found


@pytest.fixture(scope="module")
def twin_sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[str], list[str]]]:
    """The sites of each operation in C++ and of its twin in C: every one on a line of its own."""
    folder = tmp_path_factory.mktemp("twins")
    sites = []
    for language, head, name in (
        (0, "#include <atomic>\nstd::atomic<int> x;", "twins.cpp"),
        (1, "#include <stdatomic.h>\natomic_int x;", "twins.c"),
    ):
        body = "\n".join(f"{{ int e = 0, y; {pair[language]}; }}" for pair in twins())
        path = written(folder, f"{head}\nint main(void) {{\n{body}\n}}\n", name)
        program = _engine.Program(compile_source(path).text)
        lines: dict[int, list[str]] = {}
        for s in program.sites:
            if s["kind"] in ("R", "W", "RMW", "CAS", "F") and s["order"] != "na":
                lines.setdefault(s["line"] - 4, []).append(f"{s['kind']} {s['order']}")
        sites.append(lines)
    cxx, c = sites
    return {pair[0]: (cxx.get(k, []), c.get(k, [])) for k, pair in enumerate(twins())}


@pytest.mark.parametrize("operation", [pair[0] for pair in twins()])
def test_an_operation_has_the_sites_of_its_twin_in_c(
    twin_sites: dict[str, tuple[list[str], list[str]]], operation: str
) -> None:
    cxx, c = twin_sites[operation]
    assert cxx == c
    assert len(cxx) == 1 or "fence" in operation


def test_atomic_ref_and_atomic_flag_have_their_orders(tmp_path: Path) -> None:
    text = """#include <atomic>
#include <thread>
alignas(std::atomic_ref<int>::required_alignment) int plain;
std::atomic_flag flag = ATOMIC_FLAG_INIT;
std::atomic<bool> ready;
int main() {
  auto work = [] {
    std::atomic_ref<int>(plain).fetch_add(1, std::memory_order_release);
    std::atomic_ref(plain).load(std::memory_order_acquire);
    flag.test_and_set(std::memory_order_acquire);
    flag.clear(std::memory_order_release);
    flag.test(std::memory_order_relaxed);
    ready = true;
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
}
"""
    assert events(*traced(written(tmp_path, text))) == {
        ("RMW", "rel", "plain", 8),
        ("R", "acq", "plain", 9),
        ("RMW", "acq", "flag", 10),
        ("W", "rel", "flag", 11),
        ("R", "rlx", "flag", 12),
        ("W", "sc", "ready", 13),
    }


def test_a_wait_reads_until_the_value_is_another_one(tmp_path: Path) -> None:
    text = """#include <atomic>
#include <cassert>
#include <thread>
std::atomic<int> x;
std::atomic_flag f;
int data;
int main() {
  std::jthread waits([] {
    x.wait(0, std::memory_order_acquire);
    f.wait(false, std::memory_order_acquire);
    assert(data == 1);
  });
  data = 1;
  x.store(5, std::memory_order_release);
  x.notify_one();
  f.test_and_set(std::memory_order_release);
  f.notify_all();
}
"""
    program, trace = traced(written(tmp_path, text))
    assert {run["outcome"] for run in trace["runs"]} == {"complete"}
    assert trace["exhaustive"]
    assert not trace["bound_sites"]
    assert events(program, trace) == {
        ("R", "acq", "x", 9),
        ("R", "acq", "f", 10),
        ("R", "na", "data", 11),
    }
    (tmp_path / "late.cpp").write_text(text.replace("x.store(5", "x.store(0"))
    _, never = traced(tmp_path / "late.cpp")
    assert {run["outcome"] for run in never["runs"]} == {"deadlock"}


# --- threads and locks --------------------------------------------------------------------------

LOCKS = """#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex m, n;
std::condition_variable filled;
std::once_flag once;
int items, made;
int main() {
  std::jthread consumer([] {
    std::unique_lock<std::mutex> lock(m);
    filled.wait(lock, [] { return items > 0; });
    --items;
    lock.unlock();
    std::call_once(once, [] { ++made; });
  });
  std::thread producer([](int count) {
    {
      std::scoped_lock both(n, m);
      items += count;
    }
    filled.notify_one();
    std::call_once(once, [] { ++made; });
  }, 1);
  producer.join();
  std::lock_guard guard(n);
  consumer.join();
  assert(items == 0 && made == 1);
}
"""


def test_locks_conditions_and_threads_do_what_their_names_say(tmp_path: Path) -> None:
    program, trace = traced(written(tmp_path, LOCKS))
    assert {run["outcome"] for run in trace["runs"]} <= {"complete", "bound"}
    assert "complete" in {run["outcome"] for run in trace["runs"]}
    found = {(kind, loc, line) for kind, _, loc, line in events(program, trace)}
    assert {("LOCK", "m", 11), ("LOCK", "m", 12), ("UNLOCK", "m", 12), ("UNLOCK", "m", 14)} <= found
    assert {("LOCK", "n", 19), ("LOCK", "m", 19)} <= found
    assert {("UNLOCK", "n", 21), ("UNLOCK", "m", 21)} <= found


def test_a_thread_is_named_after_the_lambda_that_it_runs(tmp_path: Path) -> None:
    text = """#include <thread>
int x;
struct Owner {
  void start() {
    std::thread([] { x = 1; }).join();
  }
};
int main() {
  Owner().start();
}
"""
    _, trace = traced(written(tmp_path, text))
    assert trace["functions"] == ["main", "Owner::start::lambda"]


def test_a_lock_that_is_taken_too_late_is_found(tmp_path: Path) -> None:
    text = LOCKS.replace("    --items;\n    lock.unlock();", "    lock.unlock();\n    --items;")
    text = text.replace(
        "std::thread producer",
        "std::jthread other([] { m.lock(); m.lock(); });\n  std::thread producer",
    )
    _, trace = traced(written(tmp_path, text))
    assert "deadlock" in {run["outcome"] for run in trace["runs"]}


def test_a_thread_that_nobody_joins_ends_the_program(tmp_path: Path) -> None:
    text = "#include <thread>\nint main() {\n  std::thread t([] {});\n}\n"
    ((_, message, site),) = failures(written(tmp_path, text))
    assert (message, site["line"]) == ("call of std::terminate", 4)


def test_statics_are_made_once_by_whoever_comes_first(tmp_path: Path) -> None:
    text = """#include <cassert>
#include <memory>
#include <thread>
int made;
struct Value { int number; Value() : number(++made) {} };
Value global;
Value& single() { static Value value; return value; }
struct Shape { virtual int sides() const = 0; virtual ~Shape() = default; };
struct Square : Shape { int sides() const override { return 4; } };
int main() {
  auto shape = std::make_shared<Square>();
  std::weak_ptr<Shape> weak = shape;
  std::thread t([shape] { assert(single().number == 2); assert(shape->sides() == 4); });
  assert(single().number == 2);
  t.join();
  assert(global.number == 1 && weak.lock());
  shape.reset();
  assert(!weak.lock());
}
"""
    _, trace = traced(written(tmp_path, text))
    assert trace["exhaustive"]
    assert {run["outcome"] for run in trace["runs"]} == {"complete"}


def test_printing_is_passed_over(tmp_path: Path) -> None:
    text = """#include <iostream>
#include <string_view>
struct Pair { int a, b; };
std::ostream& operator<<(std::ostream& out, const Pair& p) { return out << p.a << ',' << p.b; }
int main() {
  std::cout << "pair " << Pair{1, 2} << 1.5 << std::endl;
  std::cerr << std::flush;
}
"""
    assert not failures(written(tmp_path, text))


# --- errors: each names the place and says what to do -------------------------------------------


def test_an_exception_that_is_thrown_is_a_failure_at_its_line(tmp_path: Path) -> None:
    text = """#include <stdexcept>
struct Queue {
  explicit Queue(int capacity) {
    if (capacity < 1) throw std::invalid_argument("capacity < 1");
  }
};
int main() { Queue q(CAPACITY); }
"""
    assert not failures(written(tmp_path, text.replace("CAPACITY", "1")))
    ((kind, message, site),) = failures(written(tmp_path, text.replace("CAPACITY", "0")))
    assert kind == "assertion"
    assert message == "uncaught exception"
    assert (site["function"], site["line"]) == ("Queue::Queue", 4)


@pytest.mark.parametrize(
    ("head", "statement", "message"),
    [
        ("<atomic>", "std::atomic<undeclared> a;", "undeclared"),
        ("<vector>", "struct S { S(int); }; std::vector<S> v; v.resize(3);", "__construct_at"),
    ],
)
def test_a_program_that_does_not_compile_is_an_error_at_the_users_line(
    tmp_path: Path, head: str, statement: str, message: str
) -> None:
    path = written(tmp_path, f"#include {head}\nint main() {{\n  {statement}\n}}\n")
    with pytest.raises(BadInput) as caught:
        compile_source(path)
    assert message in caught.value.message
    assert (caught.value.place or "").startswith(f"{path}:3:")
    assert statement in (caught.value.excerpt or "")


@pytest.mark.parametrize(
    ("head", "statement", "name"),
    [
        ("<iostream>", "int i; std::cin >> i;", "std::basic_istream"),
        ("<fstream>", 'std::ifstream f("x");', "std::basic_ifstream"),
        ("<random>", "std::random_device d; d();", "std::random_device"),
    ],
)
def test_a_library_function_without_source_is_refused_by_its_name(
    tmp_path: Path, head: str, statement: str, name: str
) -> None:
    path = written(tmp_path, f"#include {head}\nint main() {{\n  {statement}\n}}\n")
    with pytest.raises(Unsupported) as caught:
        generated(path)
    assert f" {name}" in caught.value.message
    assert (caught.value.place or "").startswith(f"{path}:3:")


def test_a_source_may_rely_on_what_a_header_includes_by_the_way(tmp_path: Path) -> None:
    text = """#include <vector>
int main() {
  std::vector<int> v{2, 1};
  std::sort(v.begin(), v.end());
}
"""
    assert "@main" in compile_source(written(tmp_path, text)).text


def test_clocks_and_printing_go_together(tmp_path: Path) -> None:
    text = """#include <iostream>
#include <chrono>
#include <thread>
int main() {
  std::thread late([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  late.join();
  std::cout << "done" << std::endl;
}
"""
    assert failures(written(tmp_path, text)) == []


def test_a_thread_takes_a_reference_as_std_ref(tmp_path: Path) -> None:
    text = """#include <cassert>
#include <thread>
void three(int& n) { n = 3; }
int main() {
  int n = 0;
  std::thread thread(three, std::ref(n));
  thread.join();
  assert(n == 4);
}
"""
    ((_, message, site),) = failures(written(tmp_path, text))
    assert ("n == 4" in message, site["line"]) == (True, 8)


@pytest.mark.parametrize("suffix", sorted(set(SUFFIXES) - {".c"}))
def test_cpp_goes_by_its_names(tmp_path: Path, suffix: str) -> None:
    path = written(
        tmp_path, "template <int N> int n = N;\nint main() { return n<3>; }\n", f"p{suffix}"
    )
    assert "i32 3" in compile_source(path).text


def test_a_changed_header_of_ours_makes_cached_answers_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "int main() {}\n")
    compile_source(path)
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "thread").write_text("// changed\n")
    monkeypatch.setattr(clang, "HEADERS", headers)
    monkeypatch.setattr(clang, "run", None)
    with pytest.raises(TypeError, match="not callable"):
        compile_source(path)
