//! Returns from functions, and the end of threads.
use super::branch::close;
use super::environment::Environment;
use super::event::Operation;
use super::outcome::{Outcome, RunEnd};
use super::thread::{State, Thread};
use crate::ir::instruction::Register;
use crate::ir::program::Program;
use crate::memory::value::Val;

/// The start function of a thread has returned, or the thread exits: the destructors of its
/// thread-local variables follow, then the functions that the library runs, and then its end. When
/// main returns or calls `exit`, those that run at the end of the process follow instead of the
/// library's. A global constructor is a thread of its own here, which nothing follows.
pub fn ended<W: Environment>(
    program: &Program,
    thread: &mut Thread,
    environment: &W,
    result: Val,
) -> Result<(), RunEnd> {
    let result = *thread.ending.get_or_insert(result);
    if thread.id == 0 && thread.start != program.main {
        thread.end(result);
        return Ok(());
    }
    let next = match thread.at_exit.pop() {
        Some((function, argument)) => match program.function_at(function) {
            Some(id) => Some((id, Some(argument))),
            None => {
                let message = "a destructor that is not defined in this source is not supported";
                return Err(RunEnd::new(Outcome::Unsupported, message, None));
            }
        },
        None => {
            let functions = match thread.returned {
                true => &program.process_exits,
                false => &program.thread_exits,
            };
            let function = functions.get(thread.exits);
            thread.exits += 1;
            let over = function.is_none() && !thread.returned;
            if over && thread.id == 0 && !program.process_exits.is_empty() {
                let message = "pthread_exit in main is not supported where something runs at the \
                               end of the process";
                return Err(RunEnd::new(Outcome::Unsupported, message, None));
            }
            function.map(|id| (*id, None))
        }
    };
    thread.end(result);
    if let Some((function, argument)) = next {
        thread.state = State::Running;
        let mark = environment.locals(thread);
        let arguments = argument.as_slice();
        thread.enter(program, function, arguments, (0, 0), mark);
    }
    Ok(())
}

/// Whether a thread ends with the function that it is in: no destructor and no function of the library
/// follows. The variables of main live until the process ends, those of a client's threads on.
pub fn is_last(program: &Program, thread: &Thread) -> bool {
    let lives_on = thread.id == 0 || program.is_client;
    !lives_on && thread.at_exit.is_empty() && thread.exits >= program.thread_exits.len()
}

/// Returns from the innermost function with these values; the thread ends with its outermost one.
pub fn leave<W: Environment>(
    program: &Program,
    thread: &mut Thread,
    environment: &mut W,
    values: &[Val],
) -> Result<(), W::Interruption> {
    let Some(frame) = thread.frames.last().copied() else {
        return Ok(());
    };
    if let Some((flag, site)) = frame.once {
        environment.once_done(thread, flag, site)?;
    }
    let ends = thread.frames.len() == 1 && is_last(program, thread);
    environment.leave(thread, frame.mark, ends)?;
    if thread.frames.len() == 1 {
        let result = values.first().copied().unwrap_or_default();
        // main has returned: the process ends
        thread.returned |= thread.id == 0 && thread.ending.is_none();
        return Ok(ended(program, thread, environment, result)?);
    }
    let closed = close(thread, None);
    thread.pop();
    for (k, value) in values.iter().take(frame.results as usize).enumerate() {
        let dep = match closed {
            0 => value.dep,
            reads => environment.left_behind(value.dep, reads),
        };
        thread.set(frame.dst + k as Register, Val { dep, ..*value });
    }
    if let Some(caller) = thread.frames.last_mut() {
        caller.pc += 1;
    }
    if let (1, Operation::Called(_)) = (thread.frames.len(), thread.operation) {
        thread.operation = Operation::Start;
        thread.call = 0;
    }
    Ok(())
}
