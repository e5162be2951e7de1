"""C++ is read as C is: the same operations, at the user's lines, and errors that name the place."""

from __future__ import annotations

import re
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from cxx_programs import events, traced, written
from ended import execute

from weakspot.errors import BadInput, Unsupported
from weakspot.generators.pipeline import Generated, generate
from weakspot.generators.source import clang
from weakspot.generators.source.frontend import compile_source
from weakspot.generators.source.language import sources
from weakspot.harness.values.bounds import Bounds

pytestmark = pytest.mark.usefixtures("cache_of_its_own")


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
        done = execute(weakspot, *command, cwd=tmp_path)
        assert done.code in (0, 1), done.err
        answers[command[0]] = done.out
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
    (violation, *_) = program.explore(sc, bounds=Bounds(loops=8))["violations"]
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


@pytest.mark.parametrize("includes", [("thread", "iostream"), ("iostream", "thread")])
def test_the_id_of_a_thread_is_printed_and_passed_over(
    tmp_path: Path, includes: tuple[str, str]
) -> None:
    text = "".join(f"#include <{name}>\n" for name in includes)
    text += """int main() {
  std::jthread worker([] { std::cout << std::this_thread::get_id() << '\\n'; });
  std::cout << worker.get_id();
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


def test_no_exception_is_in_flight_where_none_is_handled(tmp_path: Path) -> None:
    text = """#include <cassert>
#include <exception>
struct Guard {
  int before = std::uncaught_exceptions();
  ~Guard() { assert(!before && std::uncaught_exceptions() == before); }
};
int main() { Guard guard; }
"""
    assert not failures(written(tmp_path, text))


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


def test_a_source_may_rely_on_strings_from_the_header_of_threads(tmp_path: Path) -> None:
    """libc++'s includes them to print the id of a thread; ours does not at first."""
    text = """#include <cassert>
#include <thread>
int main() {
  std::string word("x");
  std::thread worker([&] { word += "y"; });
  worker.join();
  assert(word == "xy");
}
"""
    assert not failures(written(tmp_path, text))


def test_a_source_may_include_new_inside_a_namespace_after_atomic(tmp_path: Path) -> None:
    """libstdc++'s <atomic> has included it by then."""
    text = """#include <atomic>
namespace lib {
#include <new>
struct alignas(std::hardware_destructive_interference_size) Flag { std::atomic<bool> set{false}; };
}
int main() { return lib::Flag().set; }
"""
    assert "@main" in compile_source(written(tmp_path, text)).text


def test_a_random_number_is_drawn_beside_an_object_with_a_destructor(tmp_path: Path) -> None:
    text = """#include <cassert>
#include <cstdlib>
struct Guard { bool ended = false; ~Guard() { ended = true; } };
int chosen(int size) {
  Guard guard;
  return std::rand() % size;
}
int main() { assert(chosen(2) != 1); }
"""
    ((_, message, _),) = failures(written(tmp_path, text))
    assert "chosen(2) != 1" in message


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


@pytest.mark.parametrize("suffix", [name for name, each in sources().items() if each.name == "c++"])
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
