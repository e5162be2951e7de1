//! Operation calls, recorded in the execution graph: a write, which no thread reads, where a call
//! begins, and one of its result where it has returned.

use crate::source::{Action, Location};
use crate::threads::environment::{Interruption, ThreadEnvironment};
use program::interpreter::environment::ExternCall;
use program::interpreter::thread::Thread;
use program::ir::Order;
use program::memory::Val;

/// Calls of one program; more are refused.
const MAX_CALLS: u64 = 64;

impl ThreadEnvironment<'_> {
    pub fn call_begins(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), Interruption> {
        self.record(t, call, false, Val::constant(0))
    }

    /// The arguments are the number of the call, how it is written with `%` for each of its arguments,
    /// the result, and these arguments.
    pub fn call_returns(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), Interruption> {
        let mut written = self.local.memory.text(call.arg(1).bits);
        for argument in call.args.iter().skip(3) {
            written = written.replacen('%', &(argument.bits as i64).to_string(), 1);
        }
        self.sharing.name_call(call.arg(0).bits as u32, written);
        self.record(t, call, true, call.arg(2))
    }

    fn record(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        returned: bool,
        result: Val,
    ) -> Result<(), Interruption> {
        let number = call.arg(0).bits;
        if number >= MAX_CALLS {
            let message = format!("call number {number}: at most {MAX_CALLS} calls are compared");
            return Err(Interruption::Unsupported(message, call.site));
        }
        let action = Action::Write {
            at: Location::of_call(number as u32, returned),
            order: Order::Na,
            value: result.bits,
            rmw: false,
            undefined: 0,
        };
        if self.ask_with(t, action, call.site, (0, result.dep))?.1 {
            t.progress();
        }
        Ok(())
    }
}
