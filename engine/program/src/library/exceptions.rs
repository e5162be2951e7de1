//! Exceptions: the first phase of unwinding (Itanium C++ ABI, Exception Handling, 1.3).
//!
//! libc++abi's code, which the program is linked with, does the rest: it allocates exceptions, counts
//! their handlers and destroys them. The layout of its exceptions is known here. Of an exception of
//! another language, as of a panic of Rust, nothing is: handlers of any exception get it.
use super::operations::Library;
use crate::interpreter::environment::ExternCall;
use crate::interpreter::outcome::{Outcome, RunEnd};
use crate::interpreter::thread::{Raised, Thread};
use crate::interpreter::unwind::landing_pad;
use crate::ir::exceptions::{selector, Catch};
use crate::ir::instruction::*;
use crate::ir::program::Program;

/// The class of C++ exceptions, without its last byte: "CLNGC++".
const CXX: u64 = 0x43_4c4e_4743_2b2b;
/// The size of `_Unwind_Exception`, which the thrown object follows.
const HEADER: u64 = 32;
/// Members of `__cxa_exception` as far before its `_Unwind_Exception`: its type, the address that
/// the handler gets. In a copy made by `std::rethrow_exception`, also the object itself.
const TYPE: u64 = 80;
const ADJUSTED: u64 = 8;
const PRIMARY: u64 = 88;

/// The first phase: finds the frame that handles the exception. Without one, the program ends where
/// the exception is thrown.
pub fn raise<'p, L: Library<'p>>(
    l: &mut L,
    t: &mut Thread,
    call: &ExternCall,
) -> Result<Raised, L::Interruption> {
    let program = l.program();
    let header = call.arg(0).bits;
    let class = l.field(t, call, header, 8)?;
    if class >> 8 != CXX {
        return match handler_of_any(program, t) {
            Some(frame) => Ok(Raised {
                header,
                frame,
                selector: selector(None),
                unwinding: true,
            }),
            None => Err(uncaught(call).into()),
        };
    }
    let address = l.field(t, call, header.wrapping_sub(TYPE), 8)?;
    let unsupported = |message: String| RunEnd::new(Outcome::Unsupported, message, Some(call.site));
    let all = &program.exceptions;
    let Some(thrown) = all.by_address.get(&address).copied() else {
        return Err(unsupported("an exception of this type is not supported".into()).into());
    };
    for frame in (0..t.frames.len()).rev() {
        let Some(Op::LandingPad { handled, .. }) = landing_pad(program, t, frame) else {
            continue;
        };
        for clause in handled {
            let found = match clause {
                Handled::Any => Some((Catch::At(0), None)),
                Handled::Type(id) => Some((all.catches(*id, thrown), Some(*id))),
                Handled::AnyBut(types) => {
                    let any = types.iter().any(|id| all.catches(*id, thrown) != Catch::No);
                    (!any).then_some((Catch::At(0), None))
                }
            };
            match found {
                None | Some((Catch::No, _)) => {}
                Some((Catch::Unclear, _)) => {
                    let message = "whether this exception is caught is not modelled: its type, or \
                                   the handler's, is a pointer, has a virtual base, or is not \
                                   defined in this source";
                    return Err(unsupported(message.to_string()).into());
                }
                Some((Catch::At(offset), id)) => {
                    // a copy made by std::rethrow_exception has class "CLNGC++\1"
                    let object = match class & 0xff {
                        1 => l.field(t, call, header.wrapping_sub(PRIMARY), 8)?,
                        _ => header.wrapping_add(HEADER),
                    };
                    let adjusted = object.wrapping_add(offset);
                    l.set_field(t, call, header.wrapping_sub(ADJUSTED), 8, adjusted)?;
                    return Ok(Raised {
                        header,
                        frame,
                        selector: selector(id),
                        unwinding: true,
                    });
                }
            }
        }
    }
    Err(uncaught(call).into())
}

fn uncaught(call: &ExternCall) -> RunEnd {
    RunEnd::new(Outcome::Assertion, "uncaught exception", Some(call.site))
}

/// The frame that handles an exception of any type.
pub fn handler_of_any(program: &Program, t: &Thread) -> Option<usize> {
    let handles = |frame: &usize| match landing_pad(program, t, *frame) {
        Some(Op::LandingPad { handled, .. }) => {
            let mut clauses = handled.iter();
            clauses.any(|clause| !matches!(clause, Handled::Type(_)))
        }
        _ => false,
    };
    (0..t.frames.len()).rev().find(handles)
}
