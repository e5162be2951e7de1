//! Exceptions: the second phase of unwinding (Itanium C++ ABI, Exception Handling, 1.3).
use super::branch::{close, take};
use super::environment::Environment;
use super::outcome::{Limits, Outcome, RunEnd};
use super::thread::{Raised, Thread};
use crate::ir::exceptions::CLEANUP;
use crate::ir::instruction::*;
use crate::ir::program::Program;
use crate::memory::value::Val;

/// Where a frame continues if the call that it is in throws.
pub fn landing_pad<'p>(program: &'p Program, t: &Thread, frame: usize) -> Option<&'p Op> {
    let frame = &t.frames[frame];
    let code = &program.functions[frame.function as usize].code;
    let edge = code.get(frame.pc as usize)?.unwind.as_ref()?;
    code.get(edge.pc as usize).map(|inst| &inst.op)
}

/// A step of the second phase: enters the landing pad of the last frame, or leaves the frame.
pub fn unwind<W: Environment>(
    program: &Program,
    limits: &Limits,
    t: &mut Thread,
    environment: &mut W,
    raised: Raised,
) -> Result<(), W::Interruption> {
    let Some(top) = t.frames.len().checked_sub(1) else {
        return Ok(());
    };
    let enters = match landing_pad(program, t, top) {
        Some(Op::LandingPad { cleanup, .. }) => *cleanup || top == raised.frame,
        _ => false,
    };
    let edge = t.inst(program).and_then(|inst| inst.unwind.as_deref());
    if let (true, Some(edge)) = (enters, edge) {
        let selector = match top == raised.frame {
            true => raised.selector,
            false => CLEANUP,
        };
        t.raised = Some(Raised {
            selector,
            unwinding: false,
            ..raised
        });
        return Ok(take(program, limits, t, environment, edge)?);
    }
    let frame = t.frames[top];
    if let Some((_, site)) = frame.once {
        let message = "an exception that leaves the function of pthread_once is not supported";
        return Err(RunEnd::new(Outcome::Unsupported, message, Some(site)).into());
    }
    environment.leave(t, frame.mark, false)?;
    close(t, None);
    t.pop();
    Ok(())
}

/// The results of a landing pad: the exception and the selector.
pub fn landed(t: &Thread) -> (Val, Val) {
    let raised = t.raised.as_ref();
    (
        Val::constant(raised.map_or(0, |r| r.header)),
        Val::constant(raised.map_or(0, |r| r.selector)),
    )
}
