//! Random programs in LLVM IR whose threads keep what they have seen in `%own`.
use std::fmt::Write;

pub const TARGET: &str = "\
target datalayout = \"e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
target triple = \"x86_64-unknown-linux-musl\"
";

pub const LIBRARY: &str = "\
@text = constant [2 x i8] c\"r\\00\"
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare void @__assert_fail(ptr, ptr, i32, ptr)
";

/// The text of a function that is being written.
pub trait Body {
    /// What is seen is added to this many times what was seen before.
    const FACTOR: u32;

    fn text(&mut self) -> &mut String;

    /// How many names there are.
    fn names(&mut self) -> &mut u32;

    fn name(&mut self) -> String {
        *self.names() += 1;
        format!("v{}", self.names())
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text(), "  {text}");
    }

    /// A computation whose result has a new name.
    fn value(&mut self, text: &str) -> String {
        let name = format!("%{}", self.name());
        self.line(&format!("{name} = {text}"));
        name
    }

    fn label(&mut self, name: &str) {
        let _ = writeln!(self.text(), "{name}:");
    }

    /// Adds a value to what the thread has seen.
    fn remember(&mut self, value: &str) {
        let old = self.value("load i32, ptr %own");
        let more = self.value(&format!("mul i32 {old}, {}", Self::FACTOR));
        let new = self.value(&format!("add i32 {more}, {value}"));
        self.line(&format!("store i32 {new}, ptr %own"));
    }

    /// An error of the program.
    fn fail(&mut self) {
        self.line("call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)");
        self.line("unreachable");
    }

    /// An error unless this is true.
    fn check(&mut self, right: &str) {
        let (on, fails) = (self.name(), self.name());
        self.line(&format!("br i1 {right}, label %{on}, label %{fails}"));
        self.label(&fails);
        self.fail();
        self.label(&on);
    }
}

/// Adds a thread to a program: its function, which begins with `entry` and then does `own`, and a
/// global for what it has seen, unless threads are alike.
pub fn add_thread(text: &mut String, thread: u64, entry: &str, own: &str, alike: bool) {
    // like threads share what they have seen
    let shown = match alike {
        true => String::new(),
        false => format!("%sum = load i32, ptr %own\n  store i32 %sum, ptr @r{thread}"),
    };
    let _ = write!(
        text,
        "@r{thread} = global i32 0, align 4\n\
         define ptr @t{thread}(ptr %unused) {{\n{entry}{own}  br label %end\nend:\n  {shown}\n  \
         ret ptr null\n}}\n"
    );
}

/// Creates threads that start at these functions, joins them, and reads what they have seen.
pub fn run_threads(main: &mut impl Body, starts: &[u64]) {
    for (thread, start) in starts.iter().enumerate() {
        main.line(&format!("%h{thread} = alloca i64"));
        main.line(&format!(
            "call i32 @pthread_create(ptr %h{thread}, ptr null, ptr @t{start}, ptr null)"
        ));
    }
    for thread in 0..starts.len() {
        let handle = main.value(&format!("load i64, ptr %h{thread}"));
        main.line(&format!("call i32 @pthread_join(i64 {handle}, ptr null)"));
    }
    for thread in 0..starts.len() {
        let read = main.value(&format!("load i32, ptr @r{thread}"));
        main.remember(&read);
    }
}

/// Adds the function main to a program.
pub fn add_main(text: &mut String, body: &str) {
    let _ = write!(
        text,
        "define i32 @main() {{\n  %own = alloca i32\n  store i32 0, ptr %own\n{body}  \
         %sum = load i32, ptr %own\n  ret i32 %sum\n}}\n"
    );
}
