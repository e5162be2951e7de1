"""Witnesses of programs: the events that explain a violation, with the names of the source."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from weakspot._engine import Program
from weakspot.generators.source.frontend import compile_source

if TYPE_CHECKING:
    from weakspot._engine import ViolationDict

MODELS = Path(__file__).parents[2] / "models"


def violations(folder: Path, name: str, text: str) -> dict[str, ViolationDict]:
    """The violations under rc20, by their kinds."""
    path = folder / name
    path.write_text(textwrap.dedent(text))
    program = Program(compile_source(path).text)
    found = program.explore(
        str(MODELS / "rc20.cat"), folders=[str(MODELS)], acyclic="program order"
    )
    return {each["kind"]: each for each in found["violations"]}


def accesses(violation: ViolationDict) -> dict[int, list[str]]:
    """The accesses of each thread: `W q.head 1`."""
    shown: dict[int, list[str]] = {}
    witness = violation["witness"]
    assert witness is not None
    for event in witness["events"]:
        if event["thread"] is not None:
            words = event["kind"], event["location"], event["read"], event["written"]
            shown.setdefault(event["thread"], []).append(" ".join(filter(None, words)))
    return shown


BOX = """
    #include <atomic>
    #include <cassert>
    #include <thread>
    struct Box { std::atomic<int> data{0}; std::atomic<bool> ready{false}; };
    struct Owner { Box *box; };
    int main() {
      BEGIN
      Owner owner{&box};
      std::thread a([&] {
        owner.box->data.store(42, std::memory_order_relaxed);
        box.ready.store(true, std::memory_order_relaxed);
      });
      std::thread b([&] {
        if (box.ready.load(std::memory_order_acquire))
          assert(owner.box->data.load(std::memory_order_relaxed) == 42);
      });
      a.join();
      b.join();
    }
"""


def test_the_set_up_of_threads_is_left_out(tmp_path: Path) -> None:
    found = violations(tmp_path, "box.cpp", BOX.replace("BEGIN", "Box box;"))
    assert accesses(found["assertion"]) == {
        1: ["W box.data 42", "W box.ready 1"],
        2: ["R box.ready 1", "R box.data 0"],
    }


def test_a_heap_object_is_named_after_its_type(tmp_path: Path) -> None:
    found = violations(tmp_path, "box.cpp", BOX.replace("BEGIN", "Box &box = *new Box;"))
    assert accesses(found["assertion"])[1] == ["W Box.data 42", "W Box.ready 1"]


NODES = """
    #include <assert.h>
    #include <pthread.h>
    #include <stdatomic.h>
    #include <stdlib.h>
    typedef struct { int value; int more[]; } node_t;
    static _Atomic(void *) top;
    static atomic_int ready;
    static void *push(void *unused) {
      PUSH
      return unused;
    }
    int main(void) {
      pthread_t t;
      pthread_create(&t, 0, push, 0);
      int *p = atomic_load_explicit(&top, memory_order_relaxed);
      if (p) assert(*p != 7);
      pthread_join(t, 0);
    }
"""


def pushed(folder: Path, push: str, value: str = "int") -> list[str]:
    """What the thread does in the witness of the race with main's read of a `value`."""
    text = NODES.replace("PUSH", push).replace("int *p", f"{value} *p")
    found = violations(folder, "nodes.c", text)
    return accesses(found["race"])[1]


def test_the_variable_that_holds_what_malloc_returns_gives_its_type(tmp_path: Path) -> None:
    push = "node_t *n = malloc(sizeof *n); n->value = 7; TOP(&n->value);"
    assert pushed(tmp_path, published(push)) == ["W node_t.value 7", "W top &node_t"]


def test_objects_of_an_array_have_their_index(tmp_path: Path) -> None:
    push = (
        "struct item { long a; int next; } *n = malloc(4 * sizeof *n);"
        "n[3].next = 7; TOP(&n[3].next);"
    )
    assert pushed(tmp_path, published(push)) == ["W item[3].next 7", "W top &item[3].next"]


def test_an_array_at_the_end_of_an_object_has_indices(tmp_path: Path) -> None:
    push = "node_t *n = malloc(sizeof *n + 12); n->more[2] = 7; TOP(&n->more[2]);"
    assert pushed(tmp_path, published(push)) == ["W node_t.more[2] 7", "W top &node_t.more[2]"]


def test_objects_of_one_type_are_numbered(tmp_path: Path) -> None:
    push = (
        "struct node { struct node *next; } *m = malloc(sizeof *m), *n = malloc(sizeof *n);"
        "m->next = n; TOP(m);"
    )
    shown = pushed(tmp_path, published(push), "long")
    assert shown == ["W node#1.next &node#2", "W top &node#1"]


def test_an_object_without_a_known_type_has_the_line_that_allocates_it(tmp_path: Path) -> None:
    push = "char *n = malloc(8); *(int *)(n + 4) = 7; TOP(n + 4);"
    assert pushed(tmp_path, published(push)) == [
        "W heap(nodes.c:10)+4 7",
        "W top &heap(nodes.c:10)+4",
    ]


def published(push: str) -> str:
    """`TOP(p)` publishes p with a relaxed store."""
    start, _, rest = push.rpartition("TOP(")
    value = rest.removesuffix(");")
    return f"{start}atomic_store_explicit(&top, {value}, memory_order_relaxed);"


def test_set_up_that_the_assertion_is_about_is_shown(tmp_path: Path) -> None:
    text = """
        #include <cassert>
        #include <thread>
        int x;
        int main() {
          int *p = &x;
          std::thread a([] {});
          std::thread b([p] { assert(p == nullptr); });
          a.join();
          b.join();
        }
    """
    found = violations(tmp_path, "alone.cpp", text)
    closure = "heap(alone.cpp:8)"
    assert accesses(found["assertion"]) == {0: [f"W {closure} &x"], 2: [f"R {closure} &x"]}


LIST = """
    #include <atomic>
    #include <cassert>
    #include <memory>
    #include <thread>
    #include <vector>
    struct Node { int value = 0; };
    struct List { std::atomic<Node *> head{nullptr}; };
    int main() {
      auto list = std::make_shared<List>();
      auto ready = std::make_shared<std::atomic<int>>(0);
      std::vector<Node> nodes(3);
      std::thread a([=, &nodes] {
        nodes[2].value = 7;
        list->head.store(&nodes[2], std::memory_order_relaxed);
        ready->store(1, std::memory_order_relaxed);
      });
      std::thread b([=] {
        if (ready->load(std::memory_order_relaxed))
          if (Node *n = list->head.load(std::memory_order_acquire)) assert(n->value == 7);
      });
      a.join();
      b.join();
    }
"""


def test_objects_of_the_library_are_named_after_what_they_contain(tmp_path: Path) -> None:
    found = violations(tmp_path, "list.cpp", LIST)
    assert accesses(found["assertion"])[1] == [
        "W Node[2].value 7",
        "W List.head &Node[2]",
        "W heap(list.cpp:11).value 1",
    ]


BOX_WITH_COUNT = """
    #include <atomic>
    #include <cassert>
    #include <thread>
    class Box {
    public:
      static std::atomic<int> count;
      std::atomic<int> head{0};
      int data = 0;
    };
    std::atomic<int> Box::count;
    Box box;
    int main() {
      std::thread t([] {
        box.data = 1;
        box.head.store(1, std::memory_order_relaxed);
        Box::count.store(1);
      });
      if (box.head.load(std::memory_order_relaxed)) assert(box.data == 1);
      t.join();
    }
"""


def test_a_static_member_does_not_give_its_name_to_another_member(tmp_path: Path) -> None:
    found = violations(tmp_path, "box.cpp", BOX_WITH_COUNT)
    assert accesses(found["assertion"])[1] == ["W box.data 1", "W box.head 1"]
