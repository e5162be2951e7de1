//! The Program: functions as flat code, variables, sites.
//!
//! Global and function addresses are fixed when the program is lowered, so an address constant is
//! a number like any other, and the same in every run.
use super::allocation::Allocation;
use super::arithmetic::compare;
use super::bits::{mask, sext};
use super::exceptions::Exceptions;
use super::instruction::{Extern, FuncId, Inst, Op, Operand, Order, Register, SiteId};
use super::operators::{Predicate, RmwOp};
use super::shapes::Shapes;
use super::sites::Site;
use crate::error::Construct;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone)]
pub struct Loop {
    pub site: SiteId,
    /// Registers live at the header, as far as they can affect what the function does: with
    /// memory, the state of the loop.
    pub live: Vec<Register>,
    /// Those of them on which the branches inside the loop depend.
    pub deciding: Vec<Register>,
    /// What limits how often the loop looks at memory, if it does nothing else.
    pub counter: Option<Counter>,
    /// The loop has no effect but to take time.
    pub idle: bool,
}

impl Loop {
    /// Of the hashes of private memory, that of what decides when the loop ends.
    pub fn memory(&self, private: u64, idle: u64) -> u64 {
        if self.idle {
            private ^ idle
        } else {
            private
        }
    }
}

/// The counter of a loop that does nothing but look at memory a limited number of times: each
/// iteration leaves the loop, or returns to its header with nothing changed but the counter, and
/// registers that hold what was read, for what is behind the loop.
#[derive(Debug, Clone)]
pub struct Counter {
    pub register: Register,
    /// What each iteration adds to it.
    pub step: u64,
    pub bits: u32,
    pub tests: Vec<CounterTest>,
}

/// A comparison of a counter with a bound that stays the same in the loop.
#[derive(Debug, Clone)]
pub struct CounterTest {
    pub predicate: Predicate,
    pub bits: u32,
    /// It is compared after the step.
    pub stepped: bool,
    pub bound: Operand,
    /// The bound is the first operand.
    pub reversed: bool,
    /// The outcome with which the loop is not left.
    pub holds: bool,
}

impl Counter {
    /// The counter after the iterations from `now` on in which no test leaves the loop, up to where it
    /// wraps around. `value`: of the bounds.
    pub fn after_rounds(&self, now: u64, value: impl Fn(Operand) -> u64) -> u64 {
        let rounds = |test| self.rounds(test, now, value(test.bound));
        let rounds = self.tests.iter().map(rounds).min().unwrap_or(0);
        mask(now.wrapping_add(self.step.wrapping_mul(rounds)), self.bits)
    }

    /// How many iterations a test allows from `now` on, up to where the counter wraps around.
    fn rounds(&self, test: &CounterTest, now: u64, bound: u64) -> u64 {
        use Predicate::{Sge, Sgt, Sle, Slt};
        let signed = matches!(test.predicate, Sgt | Sge | Slt | Sle);
        let number = |value: u64| match signed {
            true => i128::from(sext(value, self.bits) as i64),
            false => i128::from(mask(value, self.bits)),
        };
        let first = number(match test.stepped {
            true => now.wrapping_add(self.step),
            false => now,
        });
        let step = i128::from(sext(self.step, self.bits) as i64);
        let numbers = 1_i128 << self.bits;
        let least = if signed { -numbers / 2 } else { 0 };
        // what decreases is counted upwards from its negative
        let up = step >= 0;
        let (first, bound, most) = match up {
            true => (first, number(bound), least + numbers - 1),
            false => (-first, -number(bound), -least),
        };
        let stays = |side: Ordering| {
            let greater = side == Ordering::Greater;
            let (a, b) = match (side, up == test.reversed) {
                (Ordering::Equal, _) => (0, 0),
                (_, reversed) if greater != reversed => (1, 0),
                _ => (0, 1),
            };
            compare(test.predicate, 8, a, b) == test.holds
        };
        let step = step.abs().max(1);
        // a test for equality alone may be passed over
        let is_met = (bound - first) % step == 0 || !stays(Ordering::Greater);
        let last = match first.cmp(&bound) {
            side if !stays(side) => return 0,
            Ordering::Less if is_met && !stays(Ordering::Equal) => bound - 1,
            Ordering::Less | Ordering::Equal if !stays(Ordering::Greater) => bound,
            _ => most,
        };
        u64::try_from((last - first) / step + 1).unwrap_or(u64::MAX)
    }
}

/// An inlined call: the function, and the call's location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub function: String,
    /// The `inlinedAt` node; there is one per call.
    pub location: u32,
}

#[derive(Debug, Clone)]
pub struct Function {
    /// The name in the source.
    pub name: String,
    /// Whether it is a function of a header of the compiler that contains no code of the user's.
    pub library: bool,
    /// How many registers, from the first on, its parameters have.
    pub params: u32,
    pub registers: u32,
    pub code: Vec<Inst>,
    pub loops: Vec<Loop>,
}

#[derive(Debug, Clone)]
pub struct Global {
    pub name: String,
    /// Its type in the source, an index into `Program::shapes`.
    pub shape: Option<usize>,
    pub address: u64,
    pub size: u64,
    pub align: u64,
    /// The initial bytes, without trailing zeros.
    pub image: Vec<u8>,
    pub constant: bool,
    pub thread_local: bool,
    /// Of a thread-local one: where the source first uses it.
    pub site: SiteId,
    /// Declared, not defined: only its address can be used.
    pub declared: bool,
}

impl Global {
    /// What is not defined where it is declared only: "the variable v", or "the class c", whose tables
    /// of virtual functions are elsewhere.
    pub fn what(&self) -> String {
        let tables = ["{vtt(", "{vtable("];
        let class = tables
            .iter()
            .find_map(|t| self.name.strip_prefix(t)?.strip_suffix(")}"));
        match class {
            Some(class) => format!("the class {class}"),
            None => format!("the variable {}", self.name),
        }
    }

    /// The message about a use of it then.
    pub fn undefined(&self) -> String {
        format!("{} is declared but not defined", self.what())
    }
}

#[derive(Debug, Clone)]
pub struct Local {
    pub name: String,
    pub shape: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub struct Program {
    pub functions: Vec<Function>,
    pub globals: Vec<Global>,
    /// Local variables that live in memory.
    pub locals: Vec<Local>,
    pub sites: Vec<Site>,
    pub calls: Vec<Call>,
    pub shapes: Shapes,
    /// What calls that allocate memory allocate, by their sites, where the type is known.
    pub allocations: rustc_hash::FxHashMap<SiteId, Allocation>,
    pub main: FuncId,
    /// The types of exceptions that are thrown or handled.
    pub exceptions: Exceptions,
    /// Global constructors, in the order in which they run.
    pub constructors: Vec<FuncId>,
    /// Functions of the library that run, in this order, when a thread ends.
    pub thread_exits: Vec<FuncId>,
    /// Functions that run, in this order, when the process ends: the one of the library that runs the
    /// handlers of `atexit` and `__cxa_atexit`, then global destructors.
    pub process_exits: Vec<FuncId>,
    /// What is used and not defined, "the function f", and where first: an error if an execution
    /// reaches it.
    pub undefined: Vec<(String, SiteId)>,
    /// Whether it uses the address of a function or a variable that is declared and not defined.
    pub points_outside: bool,
    /// The names of functions that are declared and not defined, some of which the library defines,
    /// by their addresses.
    pub externals: rustc_hash::FxHashMap<u64, String>,
    /// What `weakspot_parameter` returns; 0 for a number that is not among them.
    pub parameters: Vec<u64>,
    /// Some call is a trylock, which tests a mutex without waiting: an unlock is then observable.
    pub has_trylock: bool,
    /// It has the Linux kernel's primitives, whose header defines `KERNEL_HEADER`.
    pub of_kernel: bool,
    /// A client of an object: its threads stand for threads that live on after these calls.
    pub is_client: bool,
    /// `file:line:column` of a `DILocation`, for messages.
    pub places: rustc_hash::FxHashMap<u32, String>,
}

/// What the header for the Linux kernel's primitives defines in each translation unit.
pub const KERNEL_HEADER: &str = "weakspot_kernel_header";

/// Function `k` has the address `FUNCTION_BASE + 16 k`.
pub const FUNCTION_BASE: u64 = 0x4000_0000;

impl Program {
    /// The number of the parameter that says whether the program is its own specification.
    pub const IS_SPECIFICATION: usize = 0;

    fn ops(&self) -> impl Iterator<Item = &Op> {
        let code = self.functions.iter().flat_map(|function| &function.code);
        code.map(|inst| &inst.op)
    }

    /// What the refused instruction at a site is about, whose message this is.
    pub fn refused(&self, at: Option<SiteId>, said: &str) -> Construct {
        let mut refused = self.ops().filter_map(|op| match op {
            Op::Refused {
                message,
                site,
                construct,
            } if Some(*site) == at && message == said => Some(*construct),
            _ => None,
        });
        refused.next().unwrap_or_default()
    }

    /// Whether some function calls a function of the library.
    pub fn calls(&self, wanted: Extern) -> bool {
        self.ops()
            .any(|op| matches!(op, Op::Extern { function, .. } if *function == wanted))
    }

    /// Whether it has fences, other than those that only restrain the compiler.
    pub fn has_fences(&self) -> bool {
        self.ops()
            .any(|op| matches!(op, Op::Fence { signal: false, .. }))
    }

    /// Whether it has read-modify-writes, other than those of the library.
    pub fn updates(&self) -> bool {
        self.ops()
            .any(|op| matches!(op, Op::Rmw { .. } | Op::Cas { .. }))
    }

    /// Whether some read-modify-write adds a number to a location, and another one subtracts one.
    pub fn adds_and_subtracts(&self) -> bool {
        let adds = |op: &&Op| match op {
            Op::Rmw { op, .. } => matches!(op, RmwOp::Add | RmwOp::Sub),
            _ => false,
        };
        self.ops().filter(adds).count() > 1
    }

    /// Whether it has weak compare-exchanges.
    pub fn has_weak_exchanges(&self) -> bool {
        self.ops()
            .any(|op| matches!(op, Op::Cas { weak: true, .. }))
    }

    /// Whether it has light or heavy fences.
    pub fn has_asymmetric_fences(&self) -> bool {
        self.ops().any(|op| match op {
            Op::Fence { order, .. } => matches!(order, Order::Light | Order::Heavy),
            _ => false,
        })
    }

    /// The constants that it may write or compare with.
    pub fn constants(&self) -> BTreeSet<u64> {
        let mut found = BTreeSet::new();
        for inst in self.functions.iter().flat_map(|function| &function.code) {
            match &inst.op {
                Op::Compare { a, b, .. } | Op::Select { a, b, .. } => {
                    found.extend([a, b].into_iter().filter_map(constant));
                }
                Op::Store { value, .. } | Op::Rmw { value, .. } => found.extend(constant(value)),
                Op::Cas {
                    expected, desired, ..
                } => found.extend([expected, desired].into_iter().filter_map(constant)),
                Op::Switch { cases, .. } => found.extend(cases.iter().map(|case| case.0)),
                _ => {}
            }
            let moves = inst.edges().into_iter().flat_map(|edge| &edge.moves);
            found.extend(moves.filter_map(|(_, operand)| constant(operand)));
        }
        found
    }

    /// The program in which operations are performed as their specification says, if it has one.
    pub fn specification(&self) -> Option<Program> {
        let given = self.parameters.get(Self::IS_SPECIFICATION).copied();
        if given == Some(1) || !self.calls(Extern::Returned) {
            return None;
        }
        let mut specification = self.clone();
        match specification.parameters.first_mut() {
            Some(first) => *first = 1,
            None => specification.parameters.push(1),
        }
        Some(specification)
    }

    /// The assertions at places where none of these is, one per place.
    pub fn other_assertions(&self, reached: &BTreeSet<SiteId>) -> Vec<SiteId> {
        let code = self.functions.iter().flat_map(|function| &function.code);
        let assertions = code.filter_map(|inst| match &inst.op {
            Op::CondBr { asserts, .. } => *asserts,
            _ => None,
        });
        let place = |site: SiteId| {
            let site = &self.sites[site as usize];
            (&site.file, site.line, site.column)
        };
        let reached: BTreeSet<_> = reached.iter().map(|site| place(*site)).collect();
        let others = assertions.map(|site| (place(site), site));
        let others: BTreeMap<_, _> = others.filter(|(at, _)| !reached.contains(at)).collect();
        others.into_values().collect()
    }

    /// The variable that an address is in and that is declared, but not defined.
    pub fn declared_at(&self, address: u64) -> Option<&Global> {
        let within = |g: &&Global| address.wrapping_sub(g.address) < g.size.max(1) + 16;
        self.globals.iter().filter(|g| g.declared).find(within)
    }

    pub fn function_at(&self, address: u64) -> Option<FuncId> {
        let offset = address.checked_sub(FUNCTION_BASE)?;
        let index = offset / 16;
        (offset % 16 == 0 && index < self.functions.len() as u64).then_some(index as FuncId)
    }
}

fn constant(operand: &Operand) -> Option<u64> {
    match operand {
        Operand::Const(value) => Some(*value),
        _ => None,
    }
}
