//! Functions that C++ code calls implicitly, or through headers whose library has no IR:
//! allocation, termination, exceptions.
//!
//! Where a program has no handler, what is needed to handle an exception is not linked, and throwing
//! one ends the program ([except.terminate] in the C++ standard). Elsewhere the functions of
//! libc++abi are there, down to those of the unwinder.
use crate::ir::instruction::{Extern, Operand, Order};
use cpp_demangle::{DemangleOptions, Symbol};

/// What a library function does, the kind and order of its site, and its arguments.
pub type Meaning = (Extern, &'static str, Order, Vec<Operand>);

/// Constructors of exceptions, whose contents are not used.
const EXCEPTIONS: [&str; 4] = [
    "_ZNSt11logic_errorC",
    "_ZNSt13runtime_errorC",
    "_ZNSt9bad_allocC",
    "_ZNSt20bad_array_new_lengthC",
];

pub fn meaning(name: &str, given: &[Operand]) -> Option<Meaning> {
    let arg = |k: usize| given.get(k).copied().unwrap_or(Operand::Const(0));
    let ends = |message| (Extern::Abort(message), "assert", Order::Na, vec![]);
    Some(match name {
        "__cxa_throw" => ends("uncaught exception"),
        "_Unwind_RaiseException" | "_Unwind_Resume" | "_Unwind_Resume_or_Rethrow" => {
            (Extern::Raise, "call", Order::Na, vec![arg(0)])
        }
        "__cxa_thread_atexit" | "__cxa_thread_atexit_impl" => (
            Extern::AtThreadExit,
            "call",
            Order::Na,
            vec![arg(0), arg(1)],
        ),
        // the handlers that a program has not set, and exceptions in flight where none is handled
        "_ZSt13get_terminatev"
        | "_ZSt14get_unexpectedv"
        | "_ZSt18uncaught_exceptionv"
        | "_ZSt19uncaught_exceptionsv" => (Extern::Ignored(0), "", Order::Na, vec![]),
        "_ZSt9terminatev" => ends("call of std::terminate"),
        "__cxa_pure_virtual" => ends("call of a pure virtual function"),
        "__cxa_throw_bad_array_new_length" => ends("invalid length of a new array"),
        "__cxa_allocate_exception" => (Extern::Malloc, "call", Order::Na, vec![arg(0)]),
        name if name.starts_with("_ZSt11__terminatePFvvE") => ends("call of std::terminate"),
        // of what could throw it, nothing but misuse is modelled
        name if name.starts_with("_ZNSt3__120__throw_system_error") => {
            ends("uncaught exception std::system_error")
        }
        name if name.starts_with("_ZNSt3__122__libcpp_verbose_abort") => {
            ends("a check in the C++ library failed")
        }
        // operator new, new[], delete, delete[] in all their forms
        name if name.starts_with("_Znwm") || name.starts_with("_Znam") => {
            if name.contains("St11align_val_t") {
                (
                    Extern::AlignedAlloc,
                    "call",
                    Order::Na,
                    vec![arg(1), arg(0)],
                )
            } else {
                (Extern::Malloc, "call", Order::Na, vec![arg(0)])
            }
        }
        name if name.starts_with("_ZdlPv") || name.starts_with("_ZdaPv") => {
            (Extern::Free, "call", Order::Na, vec![arg(0)])
        }
        // sleeping takes no time
        name if name.starts_with("_ZNSt3__111this_thread") && name.contains("sleep_") => {
            (Extern::Ignored(0), "", Order::Na, vec![])
        }
        name if EXCEPTIONS.iter().any(|e| name.starts_with(e)) => {
            (Extern::Ignored(0), "", Order::Na, vec![])
        }
        _ => return None,
    })
}

/// Whether a function of <ostream> prints: it returns the stream, its first argument.
pub fn prints(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("_ZNSt3__1") else {
        return false;
    };
    let functions = [
        "24__put_character_sequence",
        "4endl",
        "4ends",
        "5flush",
        "ls",
    ];
    match rest.strip_prefix("13basic_ostreamI") {
        Some(rest) => ["Els", "E3put", "E5write", "E5flush"]
            .iter()
            .any(|f| rest.contains(f)),
        None => functions.iter().any(|f| rest.starts_with(f)) && rest.contains("basic_ostream"),
    }
}

/// Whether a function is `wait_for` or `wait_until` of a condition variable, without a predicate.
/// Their bodies read a clock before they wait: with these, a loop around them would change something
/// in every iteration, and would not be a wait loop.
pub fn waits_for_some_time(name: &str) -> bool {
    let member = name.strip_prefix("_ZNSt3__118condition_variable");
    let timed = |m: &str| m.starts_with("8wait_for") || m.starts_with("10wait_until");
    member.is_some_and(|m| timed(m) && m.contains("9cv_status"))
}

/// A symbol's name in the source, without parameters.
pub fn demangled(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    // the demangler takes other names for types: "x" is long long
    let name = Some(symbol).filter(|s| s.starts_with("_Z"));
    let name = name.and_then(|name| Symbol::new(name).ok());
    let name = name.and_then(|name| name.demangle_with_options(&options).ok());
    // the library's own inline namespace
    name.map_or(symbol.to_string(), |name| {
        name.replace("std::__1::", "std::")
    })
}
