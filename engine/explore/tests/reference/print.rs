//! A random program as C, for the report of a difference: what [`emit`](crate::emit) writes as LLVM IR.
use crate::programs::{Op, Order, Threads, Value};

const HEAD: &str = "\
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int x, y, z, spin, mark, elements[4];
#define xl (((_Atomic(uint16_t) *)&x)[0])
#define xh (((_Atomic(uint16_t) *)&x)[1])
static int p, q, flag;
static _Atomic(int *) object;
static _Atomic(atomic_int *) lent;
static _Atomic(int (*)(intptr_t)) callee;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t w = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t b;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void first(void) { atomic_store_explicit(&x, 1, memory_order_relaxed); p = 1; }
#define add(value) (own = 5 * own + (value))
#define see(value) (last = (value), add(last))
";

fn order(order: Order) -> String {
    let name = if order == "monotonic" {
        "relaxed"
    } else {
        order
    };
    format!("memory_order_{name}")
}

fn value(value: &Value) -> String {
    match value {
        Value::Constant(value) => value.to_string(),
        Value::Last(more) => format!("last + {more}"),
    }
}

fn load(at: &str, how: Order) -> String {
    format!("atomic_load_explicit(&{at}, {})", order(how))
}

fn store(at: &str, what: &str, how: Order) -> String {
    format!("atomic_store_explicit(&{at}, {what}, {});", order(how))
}

fn update(update: &str, at: &str, with: &str, how: Order) -> String {
    let name = match update {
        "xchg" => "exchange".to_owned(),
        update => format!("fetch_{update}"),
    };
    format!("atomic_{name}_explicit(&{at}, {with}, {})", order(how))
}

/// A compare-exchange; `from` is the name of what it compares with.
fn exchange(at: &str, (from, to): (&str, &str), how: Order, weak: bool) -> String {
    let failure = match how {
        "seq_cst" => "seq_cst",
        "acquire" | "acq_rel" => "acquire",
        _ => "relaxed",
    };
    let weak = if weak { "weak" } else { "strong" };
    format!(
        "atomic_compare_exchange_{weak}_explicit(&{at}, &{from}, {to}, {}, memory_order_{failure})",
        order(how)
    )
}

fn block(ops: &[Op]) -> String {
    ops.iter().map(op).collect::<Vec<_>>().join(" ")
}

/// A critical section.
fn section(mutex: &str, ops: &str) -> String {
    format!("pthread_mutex_lock(&{mutex}); {ops} pthread_mutex_unlock(&{mutex});")
}

fn op(of: &Op) -> String {
    match of {
        Op::Load(at, how) => format!("see({});", load(at, how)),
        Op::Follow(at, how) => format!("see({});", load(&format!("{at} + (last & 0)"), how)),
        Op::Store(at, what, how) => store(at, &value(what), how),
        Op::Update(at, name, with, how) => {
            format!("see({});", update(name, at, &value(with), how))
        }
        Op::Exchange {
            at,
            from,
            to,
            order,
            weak,
        } => {
            let done = exchange(at, ("from", &value(to)), order, *weak);
            format!("{{ int from = {from}; int done = {done}; see(from); add(done); }}")
        }
        Op::Fence(how) => format!("atomic_thread_fence({});", order(how)),
        Op::PlainLoad(at) => format!("see({at});"),
        Op::Peek(at) => format!("{{ int unused = {at}; (void)unused; }}"),
        Op::Mark(how) => format!("{};", update("or", "mark", "1", how)),
        Op::PlainStore(at, what) => format!("{at} = {};", value(what)),
        Op::If {
            equal,
            then,
            otherwise,
        } => {
            let (then, otherwise) = (block(then), block(otherwise));
            format!("if (last == {equal}) {{ {then} }} else {{ {otherwise} }}")
        }
        Op::Forget(ops) => format!(
            "{{ int own_ = own, last_ = last; {} own = own_, last = last_; }}",
            block(ops)
        ),
        Op::Repeat(count, round) => vec![block(round); *count as usize].join(" "),
        Op::Await {
            at,
            test,
            with,
            order,
            round,
        } => {
            let test = match *test {
                "ne" => format!("read != {with}"),
                "eq" => format!("read == {with}"),
                _ => format!("(unsigned)read < {with}"),
            };
            let (read, round) = (load(at, order), block(round));
            format!("for (;;) {{ int read = {read}; {round} if ({test}) break; }}")
        }
        Op::Look {
            at,
            equal,
            order,
            rounds,
            late,
            peeks,
            exchange,
        } => {
            let attempt = exchange.map_or(String::new(), |(to, weak)| {
                let weak = if weak { "weak" } else { "strong" };
                format!("&& exchange_{weak}({at}, {equal}, {to}, {order})")
            });
            format!(
                "{{ int i = 0, read; while (i++ < {rounds}) {{ read = {}; if (read == {equal} \
                 {attempt}) goto done; {} }} {} add(3); done: }}",
                load(at, order),
                if *peeks {
                    op(&Op::Peek("p"))
                } else {
                    String::new()
                },
                if *late { "see(read);" } else { "" }
            )
        }
        Op::AwaitTwo {
            at,
            with,
            order,
            both,
        } => {
            let test = |k: usize| format!("({} != {})", load(at[k], order), with[k]);
            let join = if *both { "&" } else { "|" };
            format!("while (!({} {join} {})) {{}}", test(0), test(1))
        }
        Op::AwaitUpdate {
            at,
            update: name,
            value,
            not,
            order,
        } => {
            let old = update(name, at, &value.to_string(), order);
            format!("while ({old} == {not}) {{}}")
        }
        Op::AwaitExchange {
            at,
            from,
            to,
            order,
            weak,
            late,
            round,
        } => {
            let done = exchange(at, ("from", &to.to_string()), order, *weak);
            let round = block(round);
            match late {
                true => {
                    format!("{{ int from = {from}; while (!{done}) {{ {round} from = {from}; }} }}")
                }
                false => {
                    format!("{{ int from; do {{ {round} from = {from}; }} while (!{done}); }}")
                }
            }
        }
        Op::Retry {
            at,
            order,
            weak,
            again,
        } => {
            let first = load(at, "monotonic");
            let old = if *again { &first } else { "last" };
            let done = exchange(at, ("old", "old + 1"), order, *weak);
            format!(
                "last = {first}; for (;;) {{ int old = {old}; int done = {done}; \
                 if (!done) last = old; if (done) break; }}"
            )
        }
        Op::Undo { at, most, order } => {
            let (more, less) = (update("add", at, "1", order), {
                update("sub", at, "1", "monotonic")
            });
            format!("while ((unsigned){more} >= {most}) {less};")
        }
        Op::Spin {
            order,
            free,
            section,
        } => {
            let taken = update("xchg", "spin", "1", order);
            let (ops, free) = (block(section), store("spin", "0", free));
            format!("while ({taken}) {{}} {ops} {free}")
        }
        Op::Lock(mutex, ops) => section(mutex, &block(ops)),
        Op::TryLock(mutex, ops) => format!(
            "if (!pthread_mutex_trylock(&{mutex})) {{ {} pthread_mutex_unlock(&{mutex}); }}",
            block(ops)
        ),
        Op::Shared { writes, section } => {
            let locks = if *writes { "wrlock" } else { "rdlock" };
            let ops = block(section);
            format!("pthread_rwlock_{locks}(&w); {ops} pthread_rwlock_unlock(&w);")
        }
        Op::WaitForCondition => section("m", "while (!flag) pthread_cond_wait(&c, &m);"),
        Op::Signal { all } => {
            let wakes = if *all { "broadcast" } else { "signal" };
            section("m", &format!("flag = 1; pthread_cond_{wakes}(&c);"))
        }
        Op::Barrier => "pthread_barrier_wait(&b);".to_owned(),
        Op::Sleep { at, equal, order } => format!(
            "while ({} == {equal}) syscall(SYS_futex, &{at}, FUTEX_WAIT, {equal}, 0, 0, 0);",
            load(at, order)
        ),
        Op::Wake { at, all } => {
            let count = if *all { "INT32_MAX" } else { "1" };
            format!("syscall(SYS_futex, &{at}, FUTEX_WAKE, {count}, 0, 0, 0);")
        }
        Op::Publish(how) => format!(
            "{{ int *new = malloc(8); *new = last; {} }}",
            store("object", "new", how)
        ),
        Op::Use(how) => format!(
            "{{ int *old = {}; if (old) see(*old); }}",
            load("object", how)
        ),
        Op::Release(how) => format!("free({});", update("xchg", "object", "(int *)0", how)),
        Op::Element(how) => format!(
            "see({}); see({});",
            update("add", "elements[number]", "1", how),
            load("elements[(number + 1) & 3]", "monotonic")
        ),
        Op::Once => "pthread_once(&once, first);".to_owned(),
        Op::Lend(how) => format!(
            "{} {} see({});",
            store("mine", "1", "monotonic"),
            store("lent", "&mine", how),
            load("mine", "monotonic")
        ),
        Op::Borrow(how) => format!(
            "{{ atomic_int *to = {}; if (to) {} }}",
            load("lent", how),
            store("*to", "2", "monotonic").replace("&*", "")
        ),
        Op::Point(to, how) => store("callee", &format!("f{to}"), how),
        Op::Call(how) => format!(
            "{{ int (*call)(intptr_t) = {}; if (call) see(call(number)); }}",
            load("callee", how)
        ),
        Op::Assert(value) => format!("assert(last != {value});"),
    }
}

/// What a function does, a line for each operation.
fn body(ops: &[Op]) -> String {
    let lines = ops.iter().map(|each| format!("  {}\n", op(each)));
    format!(
        "  int own = 0, last = 0; atomic_int mine;\n{}",
        lines.collect::<String>()
    )
}

pub fn print(threads: &Threads) -> String {
    let mut text = HEAD.to_owned();
    for (number, ops) in threads.functions.iter().enumerate() {
        let body = body(ops);
        text += &format!("static int f{number}(intptr_t number) {{\n{body}  return own;\n}}\n");
    }
    for (number, ops) in threads.bodies.iter().enumerate() {
        text += &format!(
            "static atomic_int r{number};\nstatic void *t{number}(void *argument) {{\n  intptr_t number = \
             (intptr_t)argument;\n{}  {};\n  return 0;\n}}\n",
            body(ops),
            update("add", &format!("r{number}"), "own", "monotonic")
        );
    }
    let count = threads.starts.len();
    text += &format!(
        "int main(void) {{\n  intptr_t number = 3; pthread_t h[{}];\n  pthread_barrier_init(&b, 0, {count});\n",
        count.max(1)
    );
    for (thread, start) in threads.starts.iter().enumerate() {
        text += &format!("  pthread_create(&h[{thread}], 0, t{start}, (void *){thread});\n");
    }
    text += &body(&threads.main);
    for thread in &threads.joins {
        text += &format!("  pthread_join(h[{thread}], 0);\n");
    }
    let results = (0..threads.bodies.len()).map(|number| format!("r{number}"));
    for at in results.chain(["x", "y", "z"].map(str::to_owned)) {
        text += &format!("  add({});\n", load(&at, "monotonic"));
    }
    text + "  return own;\n}\n"
}
