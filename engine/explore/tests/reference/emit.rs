//! A random program as LLVM IR. What a thread reads, it adds up, and adds to a global of its own.
use crate::programs::{Op, Order, Threads, Value};
use crate::random_threads::{Body, LIBRARY, TARGET};
use std::fmt::Write;

const GLOBALS: &str = "\
@x = global i32 0, align 4
@y = global i32 0, align 4
@z = global i32 0, align 4
@p = global i32 0, align 4
@q = global i32 0, align 4
@flag = global i32 0, align 4
@spin = global i32 0, align 4
@mark = global i32 0, align 4
@object = global ptr null, align 8
@m = global [40 x i8] zeroinitializer, align 8
@n = global [40 x i8] zeroinitializer, align 8
@w = global i32 0, align 4
@c = global [48 x i8] zeroinitializer, align 8
@b = global [32 x i8] zeroinitializer, align 8
@elements = global [4 x i32] zeroinitializer, align 4
@once = global i32 0, align 4
@lent = global ptr null, align 8
@callee = global ptr null, align 8
define void @first() {
  store atomic i32 1, ptr @x monotonic, align 4
  store i32 1, ptr @p
  ret void
}
define void @pthread_rwlock_rdlock(ptr %lock) {
  br label %head
head:
  %first = load atomic i32, ptr %lock monotonic, align 4
  br label %looks
looks:
  %now = phi i32 [ %first, %head ], [ %read, %tries ]
  %written = icmp eq i32 %now, -1
  br i1 %written, label %head, label %tries
tries:
  %more = add i32 %now, 1
  %both = cmpxchg ptr %lock, i32 %now, i32 %more acquire monotonic, align 4
  %read = extractvalue { i32, i1 } %both, 0
  %done = extractvalue { i32, i1 } %both, 1
  br i1 %done, label %end, label %looks
end:
  ret void
}
define void @pthread_rwlock_wrlock(ptr %lock) {
  br label %head
head:
  %now = load atomic i32, ptr %lock monotonic, align 4
  %free = icmp eq i32 %now, 0
  br i1 %free, label %tries, label %head
tries:
  %both = cmpxchg ptr %lock, i32 0, i32 -1 acquire monotonic, align 4
  %done = extractvalue { i32, i1 } %both, 1
  br i1 %done, label %end, label %head
end:
  ret void
}
define void @pthread_rwlock_unlock(ptr %lock) {
  %now = load atomic i32, ptr %lock monotonic, align 4
  %written = icmp eq i32 %now, -1
  br i1 %written, label %writer, label %reader
writer:
  store atomic i32 0, ptr %lock release, align 4
  ret void
reader:
  atomicrmw sub ptr %lock, i32 1 release
  ret void
}
define void @futex_wait(ptr %word, i32 %expected) {
  %value = load atomic i32, ptr %word monotonic, align 4
  %same = icmp eq i32 %value, %expected
  br i1 %same, label %enters, label %end
enters:
  %entered = call i32 @weakspot_begin_sleep(ptr %word, i32 -1)
  %sleeps = icmp ne i32 %entered, 0
  br i1 %sleeps, label %compares, label %end
compares:
  %again = load atomic i32, ptr %word monotonic, align 4
  %still = icmp eq i32 %again, %expected
  br i1 %still, label %waits, label %never
never:
  call void @weakspot_discard()
  unreachable
waits:
  call void @weakspot_sleep(ptr %word, i32 0)
  br label %end
end:
  ret void
}
declare i32 @weakspot_begin_sleep(ptr, i32)
declare void @weakspot_discard()
declare void @weakspot_sleep(ptr, i32)
declare i32 @weakspot_wake(ptr, i32, i32)
declare i32 @pthread_once(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_trylock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_barrier_init(ptr, ptr, i32)
declare i32 @pthread_barrier_wait(ptr)
declare ptr @malloc(i64)
declare void @free(ptr)
";

/// The type of a location or a half of one, its address, and how it is aligned.
fn place(at: &str) -> (&'static str, String, u32) {
    match at.strip_prefix(whole(at)) {
        Some("l") => ("i16", format!("@{}", whole(at)), 4),
        Some("h") => (
            "i16",
            format!("getelementptr (i8, ptr @{}, i64 2)", whole(at)),
            2,
        ),
        _ => ("i32", format!("@{at}"), 4),
    }
}

/// The location that this is a half of, or this one.
fn whole(at: &str) -> &str {
    match at {
        "xl" | "xh" => "x",
        at => at,
    }
}

#[derive(Default)]
struct Function {
    text: String,
    names: u32,
}

impl Body for Function {
    const FACTOR: u32 = 5;

    fn text(&mut self) -> &mut String {
        &mut self.text
    }

    fn names(&mut self) -> &mut u32 {
        &mut self.names
    }
}

impl Function {
    fn begin(&mut self) {
        for local in ["own", "last"] {
            self.line(&format!("%{local} = alloca i32"));
            self.line(&format!("store i32 0, ptr %{local}"));
        }
    }

    /// The value is what the thread has seen last.
    fn see(&mut self, value: &str) {
        self.remember(value);
        self.line(&format!("store i32 {value}, ptr %last"));
    }

    fn operand(&mut self, value: &Value) -> String {
        match value {
            Value::Constant(value) => value.to_string(),
            Value::Last(more) => {
                let last = self.value("load i32, ptr %last");
                self.value(&format!("add i32 {last}, {more}"))
            }
        }
    }

    fn load(&mut self, at: &str, order: Order) -> String {
        let (ty, at, align) = place(at);
        let read = self.value(&format!(
            "load atomic {ty}, ptr {at} {order}, align {align}"
        ));
        self.widened(ty, read)
    }

    fn update(&mut self, update: &str, at: &str, value: &str, order: Order) -> String {
        let (ty, at, _) = place(at);
        let value = self.narrowed(ty, value);
        let old = self.value(&format!(
            "atomicrmw {update} ptr {at}, {ty} {value} {order}"
        ));
        self.widened(ty, old)
    }

    fn widened(&mut self, ty: &str, value: String) -> String {
        match ty {
            "i32" => value,
            ty => self.value(&format!("zext {ty} {value} to i32")),
        }
    }

    fn narrowed(&mut self, ty: &str, value: &str) -> String {
        match ty {
            "i32" => value.to_owned(),
            ty => self.value(&format!("trunc i32 {value} to {ty}")),
        }
    }

    /// Returns the old value, and whether it was exchanged.
    fn exchange(
        &mut self,
        at: &str,
        (from, to): (&str, &str),
        order: Order,
        weak: bool,
    ) -> (String, String) {
        let weak = if weak { "weak " } else { "" };
        let failure = match order {
            "seq_cst" => "seq_cst",
            "acquire" | "acq_rel" => "acquire",
            _ => "monotonic",
        };
        let (ty, at, align) = place(at);
        let (from, to) = (self.narrowed(ty, from), self.narrowed(ty, to));
        let both = self.value(&format!(
            "cmpxchg {weak}ptr {at}, {ty} {from}, {ty} {to} {order} {failure}, align {align}"
        ));
        let old = self.value(&format!("extractvalue {{ {ty}, i1 }} {both}, 0"));
        (
            self.widened(ty, old),
            self.value(&format!("extractvalue {{ {ty}, i1 }} {both}, 1")),
        )
    }

    fn jump(&mut self, to: &str) {
        self.line(&format!("br label %{to}"));
    }

    fn branch(&mut self, on: &str, then: &str, otherwise: &str) {
        self.line(&format!("br i1 {on}, label %{then}, label %{otherwise}"));
    }

    fn compare(&mut self, test: &str, one: &str, other: &str) -> String {
        self.value(&format!("icmp {test} i32 {one}, {other}"))
    }

    /// A loop: what it does in a round, which returns whether it is the last.
    fn until(&mut self, round: impl FnOnce(&mut Function) -> String) {
        let (head, next) = (self.name(), self.name());
        self.jump(&head);
        self.label(&head);
        let done = round(self);
        self.branch(&done, &next, &head);
        self.label(&next);
    }

    fn when(&mut self, on: &str, then: impl FnOnce(&mut Function)) {
        let (does, next) = (self.name(), self.name());
        self.branch(on, &does, &next);
        self.label(&does);
        then(self);
        self.jump(&next);
        self.label(&next);
    }

    fn ops(&mut self, ops: &[Op]) {
        ops.iter().for_each(|op| self.op(op));
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Load(at, order) => {
                let read = self.load(at, order);
                self.see(&read);
            }
            Op::Follow(at, order) => {
                let (ty, at, align) = place(at);
                let last = self.value("load i32, ptr %last");
                let none = self.value(&format!("and i32 {last}, 0"));
                let there = self.value(&format!("getelementptr i32, ptr {at}, i32 {none}"));
                let read = self.value(&format!(
                    "load atomic {ty}, ptr {there} {order}, align {align}"
                ));
                let read = self.widened(ty, read);
                self.see(&read);
            }
            Op::Store(at, value, order) => {
                let value = self.operand(value);
                let (ty, at, align) = place(at);
                let value = self.narrowed(ty, &value);
                self.line(&format!(
                    "store atomic {ty} {value}, ptr {at} {order}, align {align}"
                ));
            }
            Op::Update(at, update, value, order) => {
                let value = self.operand(value);
                let old = self.update(update, at, &value, order);
                self.see(&old);
            }
            Op::Exchange {
                at,
                from,
                to,
                order,
                weak,
            } => {
                let to = self.operand(to);
                let (old, done) = self.exchange(at, (&from.to_string(), &to), order, *weak);
                self.see(&old);
                let done = self.value(&format!("zext i1 {done} to i32"));
                self.remember(&done);
            }
            Op::Fence(order) => self.line(&format!("fence {order}")),
            Op::PlainLoad(at) => {
                let (ty, at, _) = place(at);
                let read = self.value(&format!("load {ty}, ptr {at}"));
                let read = self.widened(ty, read);
                self.see(&read);
            }
            Op::Peek(at) => {
                let (ty, at, _) = place(at);
                self.value(&format!("load {ty}, ptr {at}"));
            }
            Op::Mark(order) => self.line(&format!("atomicrmw or ptr @mark, i32 1 {order}")),
            Op::PlainStore(at, value) => {
                let value = self.operand(value);
                self.line(&format!("store i32 {value}, ptr @{at}"));
            }
            Op::If {
                equal,
                then,
                otherwise,
            } => {
                let last = self.value("load i32, ptr %last");
                let is = self.compare("eq", &last, &equal.to_string());
                let (yes, no, next) = (self.name(), self.name(), self.name());
                self.branch(&is, &yes, &no);
                self.label(&yes);
                self.ops(then);
                self.jump(&next);
                self.label(&no);
                self.ops(otherwise);
                self.jump(&next);
                self.label(&next);
            }
            Op::Forget(ops) => {
                let [own, last] =
                    ["own", "last"].map(|of| (of, self.value(&format!("load i32, ptr %{of}"))));
                self.ops(ops);
                for (of, value) in [own, last] {
                    self.line(&format!("store i32 {value}, ptr %{of}"));
                }
            }
            Op::Repeat(count, round) => (0..*count).for_each(|_| self.ops(round)),
            Op::Await {
                at,
                test,
                with,
                order,
                round,
            } => self.until(|f| {
                let read = f.load(at, order);
                f.ops(round);
                f.compare(test, &read, &with.to_string())
            }),
            Op::Look {
                at,
                equal,
                order,
                rounds,
                late,
                peeks,
                exchange,
            } => {
                let [before, head, looks, tail, gives_up, next] = [(); 6].map(|()| self.name());
                let (count, more) = (self.name(), self.name());
                self.jump(&before);
                self.label(&before);
                self.jump(&head);
                self.label(&head);
                self.line(&format!(
                    "%{count} = phi i32 [ 0, %{before} ], [ %{more}, %{tail} ]"
                ));
                if *late {
                    self.jump(&looks);
                } else {
                    let again = self.compare("ult", &format!("%{count}"), &rounds.to_string());
                    self.branch(&again, &looks, &gives_up);
                }
                self.label(&looks);
                let read = self.load(at, order);
                let is = self.compare("eq", &read, &equal.to_string());
                if let Some((to, weak)) = exchange {
                    let attempt = self.name();
                    self.branch(&is, &attempt, &tail);
                    self.label(&attempt);
                    let values = (&*equal.to_string(), &*to.to_string());
                    let done = self.exchange(at, values, order, *weak).1;
                    self.branch(&done, &next, &tail);
                } else {
                    self.branch(&is, &next, &tail);
                }
                self.label(&tail);
                if *peeks {
                    self.op(&Op::Peek("p"));
                }
                self.line(&format!("%{more} = add i32 %{count}, 1"));
                if *late {
                    let again = self.compare("ne", &format!("%{more}"), &rounds.to_string());
                    self.branch(&again, &head, &gives_up);
                } else {
                    self.jump(&head);
                }
                self.label(&gives_up);
                if *late {
                    self.see(&read);
                }
                self.remember("3");
                self.jump(&next);
                self.label(&next);
            }
            Op::AwaitTwo {
                at,
                with,
                order,
                both,
            } => self.until(|f| {
                let one = f.load(at[0], order);
                let one = f.compare("ne", &one, &with[0].to_string());
                let two = f.load(at[1], order);
                let two = f.compare("ne", &two, &with[1].to_string());
                f.value(&format!(
                    "{} i1 {one}, {two}",
                    if *both { "and" } else { "or" }
                ))
            }),
            Op::AwaitUpdate {
                at,
                update,
                value,
                not,
                order,
            } => self.until(|f| {
                let old = f.update(update, at, &value.to_string(), order);
                f.compare("ne", &old, &not.to_string())
            }),
            Op::AwaitExchange {
                at,
                from,
                to,
                order,
                weak,
                late,
                round,
            } => self.until(|f| {
                if !late {
                    f.ops(round);
                }
                let (from, to) = (from.to_string(), to.to_string());
                let done = f.exchange(at, (&from, &to), order, *weak).1;
                if *late {
                    let failed = f.value(&format!("xor i1 {done}, true"));
                    f.when(&failed, |f| f.ops(round));
                }
                done
            }),
            Op::Retry {
                at,
                order,
                weak,
                again,
            } => {
                let first = self.load(at, "monotonic");
                self.line(&format!("store i32 {first}, ptr %last"));
                self.until(|f| {
                    let old = match again {
                        true => f.load(at, "monotonic"),
                        false => f.value("load i32, ptr %last"),
                    };
                    let new = f.value(&format!("add i32 {old}, 1"));
                    let (read, done) = f.exchange(at, (&old, &new), order, *weak);
                    f.line(&format!("store i32 {read}, ptr %last"));
                    done
                });
            }
            Op::Undo { at, most, order } => self.until(|f| {
                let old = f.update("add", at, "1", order);
                let done = f.compare("ult", &old, &most.to_string());
                let over = f.value(&format!("xor i1 {done}, true"));
                f.when(&over, |f| {
                    f.update("sub", at, "1", "monotonic");
                });
                done
            }),
            Op::Spin {
                order,
                free,
                section,
            } => {
                self.until(|f| {
                    let old = f.update("xchg", "spin", "1", order);
                    f.compare("eq", &old, "0")
                });
                self.ops(section);
                self.line(&format!("store atomic i32 0, ptr @spin {free}, align 4"));
            }
            Op::Lock(mutex, section) => {
                self.value(&format!("call i32 @pthread_mutex_lock(ptr @{mutex})"));
                self.ops(section);
                self.value(&format!("call i32 @pthread_mutex_unlock(ptr @{mutex})"));
            }
            Op::TryLock(mutex, section) => {
                let busy = self.value(&format!("call i32 @pthread_mutex_trylock(ptr @{mutex})"));
                let free = self.compare("eq", &busy, "0");
                self.when(&free, |f| {
                    f.ops(section);
                    f.value(&format!("call i32 @pthread_mutex_unlock(ptr @{mutex})"));
                });
            }
            Op::Shared { writes, section } => {
                let locks = if *writes { "wrlock" } else { "rdlock" };
                self.line(&format!("call void @pthread_rwlock_{locks}(ptr @w)"));
                self.ops(section);
                self.line("call void @pthread_rwlock_unlock(ptr @w)");
            }
            Op::WaitForCondition => {
                self.value("call i32 @pthread_mutex_lock(ptr @m)");
                let (head, waits, next) = (self.name(), self.name(), self.name());
                self.jump(&head);
                self.label(&head);
                let set = self.value("load i32, ptr @flag");
                let done = self.compare("ne", &set, "0");
                self.branch(&done, &next, &waits);
                self.label(&waits);
                self.value("call i32 @pthread_cond_wait(ptr @c, ptr @m)");
                self.jump(&head);
                self.label(&next);
                self.value("call i32 @pthread_mutex_unlock(ptr @m)");
            }
            Op::Signal { all } => {
                self.value("call i32 @pthread_mutex_lock(ptr @m)");
                self.line("store i32 1, ptr @flag");
                let wakes = if *all { "broadcast" } else { "signal" };
                self.value(&format!("call i32 @pthread_cond_{wakes}(ptr @c)"));
                self.value("call i32 @pthread_mutex_unlock(ptr @m)");
            }
            Op::Barrier => {
                self.value("call i32 @pthread_barrier_wait(ptr @b)");
            }
            Op::Sleep { at, equal, order } => {
                let (head, sleeps, next) = (self.name(), self.name(), self.name());
                self.jump(&head);
                self.label(&head);
                let read = self.load(at, order);
                let same = self.compare("eq", &read, &equal.to_string());
                self.branch(&same, &sleeps, &next);
                self.label(&sleeps);
                self.line(&format!(
                    "call void @futex_wait(ptr @{}, i32 {equal})",
                    whole(at)
                ));
                self.jump(&head);
                self.label(&next);
            }
            Op::Wake { at, all } => {
                let count = if *all { "2147483647" } else { "1" };
                let at = whole(at);
                self.value(&format!(
                    "call i32 @weakspot_wake(ptr @{at}, i32 {count}, i32 -1)"
                ));
            }
            Op::Point(to, order) => self.line(&format!(
                "store atomic ptr @f{to}, ptr @callee {order}, align 8"
            )),
            Op::Call(order) => {
                let callee = self.value(&format!("load atomic ptr, ptr @callee {order}, align 8"));
                let is = self.value(&format!("icmp ne ptr {callee}, null"));
                self.when(&is, |f| {
                    let seen = f.value(&format!("call i32 {callee}(i64 %number)"));
                    f.see(&seen);
                });
            }
            Op::Publish(order) => {
                let object = self.value("call ptr @malloc(i64 8)");
                let last = self.value("load i32, ptr %last");
                self.line(&format!("store i32 {last}, ptr {object}"));
                self.line(&format!(
                    "store atomic ptr {object}, ptr @object {order}, align 8"
                ));
            }
            Op::Use(order) => {
                let object = self.value(&format!("load atomic ptr, ptr @object {order}, align 8"));
                let is = self.value(&format!("icmp ne ptr {object}, null"));
                self.when(&is, |f| {
                    let read = f.value(&format!("load i32, ptr {object}"));
                    f.see(&read);
                });
            }
            Op::Release(order) => {
                let object = self.value(&format!("atomicrmw xchg ptr @object, ptr null {order}"));
                let is = self.value(&format!("icmp ne ptr {object}, null"));
                self.when(&is, |f| f.line(&format!("call void @free(ptr {object})")));
            }
            Op::Element(order) => {
                let own = self.value("getelementptr i32, ptr @elements, i64 %number");
                let old = self.value(&format!("atomicrmw add ptr {own}, i32 1 {order}"));
                self.see(&old);
                let next = self.value("add i64 %number, 1");
                let next = self.value(&format!("and i64 {next}, 3"));
                let next = self.value(&format!("getelementptr i32, ptr @elements, i64 {next}"));
                let read = self.value(&format!("load atomic i32, ptr {next} monotonic, align 4"));
                self.see(&read);
            }
            Op::Once => {
                self.value("call i32 @pthread_once(ptr @once, ptr @first)");
            }
            Op::Lend(order) => {
                self.line("store atomic i32 1, ptr %lent monotonic, align 4");
                self.line(&format!(
                    "store atomic ptr %lent, ptr @lent {order}, align 8"
                ));
                let read = self.value("load atomic i32, ptr %lent monotonic, align 4");
                self.see(&read);
            }
            Op::Borrow(order) => {
                let object = self.value(&format!("load atomic ptr, ptr @lent {order}, align 8"));
                let is = self.value(&format!("icmp ne ptr {object}, null"));
                self.when(&is, |f| {
                    f.line(&format!(
                        "store atomic i32 2, ptr {object} monotonic, align 4"
                    ));
                });
            }
            Op::Assert(value) => {
                let last = self.value("load i32, ptr %last");
                let right = self.compare("ne", &last, &value.to_string());
                self.check(&right);
            }
        }
    }
}

pub fn emit(threads: &Threads) -> String {
    let mut text = format!("{TARGET}{LIBRARY}{GLOBALS}");
    for (number, ops) in threads.functions.iter().enumerate() {
        let mut body = Function::default();
        body.begin();
        body.line("%lent = alloca i32");
        body.ops(ops);
        let own = body.value("load i32, ptr %own");
        let _ = write!(
            text,
            "define i32 @f{number}(i64 %number) {{\n{}  ret i32 {own}\n}}\n",
            body.text
        );
    }
    for (number, ops) in threads.bodies.iter().enumerate() {
        let mut body = Function::default();
        body.begin();
        body.line("%number = ptrtoint ptr %argument to i64");
        body.line("%lent = alloca i32");
        body.ops(ops);
        let own = body.value("load i32, ptr %own");
        body.value(&format!(
            "atomicrmw add ptr @r{number}, i32 {own} monotonic"
        ));
        let _ = write!(
            text,
            "@r{number} = global i32 0, align 4\n\
             define ptr @t{number}(ptr %argument) {{\n{}  ret ptr null\n}}\n",
            body.text
        );
    }
    let mut main = Function::default();
    main.begin();
    main.line("%number = add i64 0, 3");
    main.line("%lent = alloca i32");
    let count = threads.starts.len();
    main.value(&format!(
        "call i32 @pthread_barrier_init(ptr @b, ptr null, i32 {count})"
    ));
    for (thread, start) in threads.starts.iter().enumerate() {
        main.line(&format!("%h{thread} = alloca i64"));
        main.value(&format!(
            "call i32 @pthread_create(ptr %h{thread}, ptr null, ptr @t{start}, ptr inttoptr (i64 {thread} to \
             ptr))"
        ));
    }
    main.ops(&threads.main);
    for thread in &threads.joins {
        let handle = main.value(&format!("load i64, ptr %h{thread}"));
        main.value(&format!("call i32 @pthread_join(i64 {handle}, ptr null)"));
    }
    let results = (0..threads.bodies.len()).map(|number| format!("r{number}"));
    for at in results.chain(["x", "y", "z"].map(str::to_owned)) {
        let read = main.load(&at, "monotonic");
        main.remember(&read);
    }
    let own = main.value("load i32, ptr %own");
    let _ = write!(
        text,
        "define i32 @main() {{\n{}  ret i32 {own}\n}}\n",
        main.text
    );
    text
}
