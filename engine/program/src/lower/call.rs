//! Lowers calls: of the program's functions and of the library.
use crate::error::{Construct, Error, Result};
use crate::ir::allocation::Allocation;
use crate::ir::instruction::*;
use crate::ir::sites::{DESTROY, INIT};
use crate::library::mutex;
use crate::llvm::ast::{Inst, Typed, Value};
use crate::llvm::metadata::is_system;
use crate::llvm::types::{Type, TypeId};
use crate::lower::cxx;
use crate::lower::function::Lower;
use crate::lower::kernel;
use crate::lower::opcodes::{float_binary, float_unary};
use crate::lower::partial::operands;
use crate::lower::random::is_random;
use crate::lower::vectors::SIGN_BITS;

/// Library calls that have no effect on what is checked; they return 0.
pub const IGNORED: &[&str] = &[
    // The scheduler is free: every interleaving is explored, with or without them.
    "sched_yield",
    "pthread_yield",
    "thrd_yield",
    "pthread_setaffinity_np",
    "sched_setaffinity",
    "pthread_setconcurrency",
    "sched_setscheduler",
    "pthread_setschedparam",
    // Time does not pass, and orders nothing. No signal interrupts a sleep: 0 says that it is over.
    "usleep",
    "sleep",
    "nanosleep",
    "clock_nanosleep",
    "thrd_sleep",
    // Output, which is not looked at. The lock of a stream orders nothing that the standards name. 0
    // is a success; the result of those in `UNKNOWN` is refused.
    "printf",
    "fprintf",
    "vprintf",
    "vfprintf",
    "puts",
    "putchar",
    "fputs",
    "fputc",
    "fflush",
    "perror",
    "setbuf",
    "setvbuf",
    // Memory is never paged out.
    "mlock",
    "munlock",
    "mlockall",
    "munlockall",
    // How large a stack is does not matter: no object outgrows it.
    "pthread_attr_setstacksize",
    // No process is started.
    "pthread_atfork",
    // No signal arrives.
    "sigemptyset",
    "sigfillset",
    "sigaddset",
    "sigdelset",
    "sigprocmask",
    "pthread_sigmask",
    "signal",
    "alarm",
    // What `rand` returns depends on no seed.
    "srand",
    "srandom",
    "srand48",
    // For debuggers.
    "pthread_setname_np",
    // For the front end's headers: that it is called is what matters.
    "weakspot_arrives_without_waiting",
];

/// Those whose result is not known: what was written, the time that was left, the former handler.
const UNKNOWN: &[&str] = &[
    "printf", "fprintf", "vprintf", "vfprintf", "putchar", "fputc", "alarm", "signal",
];

impl<'a> Lower<'_, '_, 'a> {
    pub fn call_inst(
        &mut self,
        inst: &Inst<'a>,
        result: TypeId,
        callee: &Value<'a>,
        args: &[Typed<'a>],
        byval: bool,
    ) -> Result<()> {
        match callee {
            // the front end has replaced what it understands
            Value::Asm(template) => {
                let error = Error::unsupported(format!("the inline assembly {template:?}"));
                return Err(error.about(Construct::InlineAssembly));
            }
            Value::Global(name) => {
                if let Some(id) = self.l.functions.get(name).copied() {
                    self.l.reach(id);
                    return self.own(inst, result, Callee::Direct(id), args, byval);
                }
                if let (true, Some(vector)) = (SIGN_BITS.contains(name), args.first()) {
                    return self.sign_bits(inst, vector);
                }
                self.require_no_vectors(name, args)?;
                if name.starts_with("llvm.") {
                    return self.intrinsic(inst, name, args);
                }
                // an alias of a function is a global variable of the module
                if self.l.global(callee).is_none() {
                    return self.library(inst, name, args);
                }
            }
            _ => {}
        }
        let target = self.pointer(callee)?;
        self.own(inst, result, Callee::Through(target), args, byval)
    }

    fn own(
        &mut self,
        inst: &Inst<'a>,
        result: TypeId,
        callee: Callee,
        args: &[Typed<'a>],
        byval: bool,
    ) -> Result<()> {
        if byval {
            return Err(Error::unsupported(
                "passing a structure by value to a function that is not inlined",
            ));
        }
        let mut operands = Vec::new();
        for (ty, value) in args {
            operands.extend(self.operands(*ty, value)?);
        }
        let results = match self.l.module.types.get(result)? {
            Type::Void => 0,
            _ => self.l.module.types.scalars(result)?.len() as u32,
        };
        let site = match callee {
            Callee::Direct(id) => {
                let dbg = self.l.module.functions[id as usize].dbg;
                let library = dbg.is_none() || self.l.module.metadata.is_library(dbg);
                library.then(|| self.site(inst, "call", Order::Na))
            }
            Callee::Through(_) => None,
        };
        let op = Op::Call {
            callee,
            args: operands,
            dst: self.dst(inst),
            results,
            site,
        };
        self.emit(inst, op);
        Ok(())
    }

    /// The arguments by position; a missing one is 0.
    pub fn values(&mut self, args: &[Typed<'a>]) -> Result<Vec<Operand>> {
        let mut out = Vec::new();
        for (ty, value) in args {
            out.push(match value {
                Value::Opaque => Operand::Const(0),
                value => match self.l.module.types.bits(*ty) {
                    Ok(_) => self.operand(*ty, value)?,
                    Err(_) => Operand::Const(0),
                },
            });
        }
        Ok(out)
    }

    /// Records the type of what a call allocates, if it is known.
    fn allocation(&mut self, inst: &Inst<'a>, site: SiteId) {
        let values = self.function.values.iter();
        let variables = values.filter(|(name, _)| Some(*name) == inst.result);
        let program = &mut self.l.program;
        let found = Allocation::read(
            &self.l.module.metadata,
            &mut program.shapes,
            inst.allocated,
            inst.dbg,
            variables.map(|(_, variable)| *variable),
        );
        program.allocations.extend(found.map(|found| (site, found)));
    }

    pub fn external(
        &mut self,
        inst: &Inst<'a>,
        function: Extern,
        kind: &'static str,
        order: Order,
        args: Vec<Operand>,
    ) {
        let site = self.site(inst, kind, order);
        use Extern::{AlignedAlloc, Calloc, Malloc, Realloc};
        if let Malloc | Calloc | Realloc | AlignedAlloc = function {
            self.allocation(inst, site);
        }
        let op = Op::Extern {
            function,
            args,
            dst: inst.result.map(|_| self.dst(inst)),
            site,
            write_site: site,
            private: (false, false),
        };
        self.emit(inst, op);
    }

    /// A wait for a condition variable, with its mutex.
    fn wait(&mut self, inst: &Inst<'a>, function: Extern, args: Vec<Operand>) {
        let write_site = self.site(inst, "unlock", Order::Rel);
        let site = self.site(inst, "lock", Order::Acq);
        let op = Op::Extern {
            function,
            args,
            dst: inst.result.map(|_| self.dst(inst)),
            site,
            write_site,
            private: (false, false),
        };
        self.emit(inst, op);
    }

    /// Whether an instruction is in a header or a source of the library of C++, which calls POSIX.
    fn is_in_library(&self, inst: &Inst<'a>) -> bool {
        let chain = inst.dbg.map(|dbg| self.l.module.metadata.chain(dbg));
        let innermost = chain.iter().flatten().next();
        innermost.is_some_and(|position| is_system(&position.file))
    }

    fn library(&mut self, inst: &Inst<'a>, name: &str, args: &[Typed<'a>]) -> Result<()> {
        if let Some(annotation) = kernel::fence(name) {
            self.fence(inst, Order::Kernel(annotation), false);
            return Ok(());
        }
        let given = self.values(args)?;
        let arg = |k: usize| given.get(k).copied().unwrap_or(Operand::Const(0));
        let zero = Operand::Const(0);
        use Extern::*;
        let (function, kind, order, args): cxx::Meaning = match name {
            "pthread_create" => (
                ThreadCreate,
                "create",
                Order::Rel,
                vec![arg(0), arg(2), arg(3), arg(1)],
            ),
            "thrd_create" => (
                ThreadCreate,
                "create",
                Order::Rel,
                vec![arg(0), arg(1), arg(2), zero],
            ),
            "pthread_join" => (
                ThreadJoin,
                "join",
                Order::Acq,
                vec![arg(0), arg(1), Operand::Const(8)],
            ),
            "thrd_join" => (
                ThreadJoin,
                "join",
                Order::Acq,
                vec![arg(0), arg(1), Operand::Const(4)],
            ),
            "pthread_detach" | "thrd_detach" => (ThreadDetach, "call", Order::Na, given),
            "pthread_self" | "thrd_current" => (ThreadSelf, "call", Order::Na, vec![]),
            "pthread_equal" | "thrd_equal" => (ThreadEqual, "call", Order::Na, given),
            "pthread_exit" | "thrd_exit" => (ThreadExit, "call", Order::Na, given),
            "pthread_mutex_init" => (MutexInit, INIT, Order::Na, vec![arg(0), arg(1), zero]),
            "mtx_init" => (MutexInit, INIT, Order::Na, vec![arg(0), zero, arg(1)]),
            "pthread_spin_init" => (MutexInit, INIT, Order::Na, vec![arg(0), zero, zero]),
            "pthread_mutex_lock" | "mtx_lock" | "pthread_spin_lock" => {
                (MutexLock, "lock", Order::Acq, given)
            }
            // a trylock that is repeated until it succeeds does not reveal that the lock was held
            "pthread_mutex_trylock"
            | "pthread_spin_trylock"
            | "mtx_trylock"
            | "weakspot_timedlock"
            | "weakspot_trylock_again" => {
                self.l.program.has_trylock |= name != "weakspot_trylock_again";
                // C11's thrd_busy; ETIMEDOUT and EDEADLK; EBUSY
                let (busy, deadlock) = match name {
                    "mtx_trylock" => (1, 1),
                    "weakspot_timedlock" => (110, mutex::EDEADLK),
                    _ => (16, 16),
                };
                let args = vec![arg(0), Operand::Const(busy), Operand::Const(deadlock)];
                (MutexTrylock, "lock", Order::Acq, args)
            }
            "pthread_mutex_unlock" | "mtx_unlock" | "pthread_spin_unlock" => {
                let posix = name == "pthread_mutex_unlock" && !self.is_in_library(inst);
                let args = vec![arg(0), Operand::Const(posix.into())];
                (MutexUnlock, "unlock", Order::Rel, args)
            }
            "pthread_cond_wait" | "cnd_wait" => {
                self.wait(inst, CondWait, given);
                return Ok(());
            }
            "weakspot_wait_for" => {
                self.wait(inst, CondWaitFor, given);
                return Ok(());
            }
            "pthread_mutex_destroy" | "pthread_spin_destroy" | "mtx_destroy" => {
                (Destroy(SyncObject::Mutex), DESTROY, Order::Na, given)
            }
            "pthread_cond_init" | "cnd_init" => (CondInit, INIT, Order::Na, given),
            "pthread_cond_destroy" | "cnd_destroy" => {
                (Destroy(SyncObject::Condition), DESTROY, Order::Rlx, given)
            }
            "pthread_barrier_destroy" => (Destroy(SyncObject::Barrier), DESTROY, Order::Rlx, given),
            "pthread_cond_signal" | "cnd_signal" => (CondSignal, "call", Order::Na, given),
            "pthread_cond_broadcast" | "cnd_broadcast" => (CondBroadcast, "call", Order::Na, given),
            "pthread_barrier_init" => (BarrierInit, INIT, Order::Na, vec![arg(0), arg(2)]),
            "pthread_barrier_wait" => {
                let write_site = self.site(inst, "RMW", Order::AcqRel);
                let site = self.site(inst, "R", Order::Acq);
                let result = inst.result.filter(|name| self.is_used(name));
                let op = Op::Extern {
                    function: BarrierWait,
                    args: given,
                    dst: result.map(|_| self.dst(inst)),
                    site,
                    write_site,
                    private: (false, false),
                };
                self.emit(inst, op);
                return Ok(());
            }
            "pthread_once" | "call_once" => (Once, "lock", Order::Acq, given),
            "malloc" => (Malloc, "call", Order::Na, given),
            "calloc" => (Calloc, "call", Order::Na, given),
            "realloc" => (Realloc, "call", Order::Na, given),
            "aligned_alloc" | "memalign" | "weakspot_allocate" => {
                (AlignedAlloc, "call", Order::Na, given)
            }
            "posix_memalign" => (PosixMemalign, "call", Order::Na, given),
            "free" | "weakspot_free" => (Free, "call", Order::Na, given),
            "memcpy" | "memmove" => return self.copy_memory(inst, Memcpy, args, given),
            "memset" => return self.copy_memory(inst, Memset, args, given),
            "memcmp" | "bcmp" => (Bytes(BytesOp::Memcmp), "R", Order::Na, given),
            "memchr" => (Bytes(BytesOp::Memchr), "R", Order::Na, given),
            "strlen" => (Bytes(BytesOp::Strlen), "R", Order::Na, given),
            "strnlen" => (Bytes(BytesOp::Strnlen), "R", Order::Na, given),
            "strcmp" => (Bytes(BytesOp::Strcmp), "R", Order::Na, given),
            "strncmp" => (Bytes(BytesOp::Strncmp), "R", Order::Na, given),
            "strchr" => (Bytes(BytesOp::Strchr), "R", Order::Na, given),
            name if cxx::waits_for_some_time(name) && given.len() > 1 => {
                // the lock holds the mutex first; timeout is 1, no_timeout 0
                let mutex = self.temporary(1);
                let access = Access {
                    site: self.site(inst, "R", Order::Na),
                    order: Order::Na,
                    size: 8,
                    bits: 64,
                    volatile: false,
                    private: false,
                    update: false,
                    partial: false,
                };
                let op = Op::Load {
                    dst: mutex,
                    address: arg(1),
                    access,
                };
                self.emit(inst, op);
                self.wait(inst, CondWaitFor, vec![arg(0), Operand::Register(mutex)]);
                (Either, "call", Order::Na, vec![Operand::Const(1), zero])
            }
            name if cxx::prints(name) && !given.is_empty() => {
                if inst.result.is_some() {
                    let dst = self.dst(inst);
                    self.copy(inst, dst, arg(0));
                }
                return Ok(());
            }
            name if self.number(inst, name, args, &given)? => return Ok(()),
            "__assert_fail" => (AssertFail, "assert", Order::Na, given),
            "abort" => (Abort("abort"), "assert", Order::Na, vec![]),
            // for the front end's library
            "weakspot_seldom" => (Either, "call", Order::Na, vec![zero, Operand::Const(1)]),
            "weakspot_stands_still" => (Either, "clock", Order::Na, vec![zero, Operand::Const(1)]),
            "weakspot_arrivals_wait" => {
                let other = "weakspot_arrives_without_waiting";
                let called = self.l.module.externals.contains(&other);
                (Ignored(u64::from(!called)), "", Order::Na, vec![])
            }
            "weakspot_begin_sleep" => (SleepBegin, "call", Order::Na, given),
            "weakspot_sleep" => (Sleep, "call", Order::Na, given),
            "weakspot_end_sleep" => (SleepEnd, "call", Order::Na, given),
            "weakspot_wake" => (Wake, "call", Order::Na, given),
            "weakspot_sleepers" => (Sleepers, "call", Order::Na, given),
            "weakspot_requeue" => (Requeue, "call", Order::Na, given),
            "weakspot_light_fence" | "weakspot_heavy_fence" => {
                let order = match name {
                    "weakspot_light_fence" => Order::Light,
                    _ => Order::Heavy,
                };
                self.fence(inst, order, false);
                return Ok(());
            }
            name if self.kernel_operation(inst, name, args)? => return Ok(()),
            "weakspot_is_handled" => (IsHandled, "call", Order::Na, vec![]),
            "weakspot_choose" => (Choose, "call", Order::Na, given),
            name if is_random(name) => (Random, "call", Order::Na, vec![]),
            "weakspot_parameter" => (Parameter, "call", Order::Na, given),
            "weakspot_called" => {
                self.l.program.is_client = true;
                (Called, "call", Order::Na, given)
            }
            "weakspot_returned" => (Returned, "call", Order::Na, given),
            "weakspot_discard" => (Discard, "call", Order::Na, vec![]),
            "weakspot_misuse" => (Misuse, "call", Order::Na, given),
            "weakspot_unsupported" => (Refuse, "call", Order::Na, given),
            "exit" => (Exit, "call", Order::Na, given),
            "_Exit" | "_exit" => (ExitNow, "call", Order::Na, given),
            name if IGNORED.contains(&name) => (Ignored(0), "", Order::Na, vec![]),
            _ => cxx::meaning(name, &given).ok_or_else(|| {
                let name = cxx::demangled(name);
                let message = format!("the function {name} is called but not defined");
                Error::undefined(format!("the function {name}"), message)
            })?,
        };
        if let Ignored(value) = function {
            let used = inst.result.is_some_and(|result| self.is_used(result));
            if used && UNKNOWN.contains(&name) {
                return Err(Error::unsupported(format!("using what {name} returns")));
            }
            self.ignored(inst, value);
            return Ok(());
        }
        let needed = match function {
            ThreadDetach | ThreadExit | Malloc | Free | MutexLock | MutexUnlock | CondSignal
            | CondBroadcast | BarrierWait | CondInit | SleepBegin | SleepEnd | Sleepers
            | Destroy(_) | Exit | ExitNow | Choose | Misuse | Refuse | Raise | Parameter
            | Called => 1,
            Bytes(BytesOp::Strlen) => 1,
            Sleep | Wake | AtThreadExit | ThreadEqual | Once | Calloc | Realloc | AlignedAlloc
            | Bytes(_) => 2,
            PosixMemalign | Returned => 3,
            Requeue => 5,
            _ => 0,
        };
        if args.len() < needed {
            return Err(Error::invalid(format!(
                "too few arguments in a call of {name}"
            )));
        }
        self.external(inst, function, kind, order, args);
        Ok(())
    }

    /// How many operands of instructions a value is.
    pub fn uses(&self, name: &str) -> usize {
        let mut uses = 0;
        for inst in self.function.blocks.iter().flat_map(|block| &block.insts) {
            operands(&inst.kind, &mut |value| {
                uses += usize::from(matches!(value, Value::Local(other) if *other == name));
            });
        }
        uses
    }

    fn is_used(&self, name: &str) -> bool {
        self.uses(name) > 0
    }

    /// A function of one or two floating-point numbers, by the name of LLVM's intrinsic or of C's
    /// function; returns whether it is one.
    pub fn number(
        &mut self,
        inst: &Inst<'a>,
        name: &str,
        args: &[Typed<'a>],
        given: &[Operand],
    ) -> Result<bool> {
        let Some((ty, _)) = args.first() else {
            return Ok(false);
        };
        if self.float(*ty, name).is_err() {
            return Ok(false);
        }
        let bits = self.l.module.types.bits(*ty)?;
        let name = match (bits, name.strip_suffix('f')) {
            (32, Some(plain)) => plain,
            _ => name,
        };
        let dst = self.dst(inst);
        let op = match given {
            [a] => float_unary(name).map(|op| Op::Unary {
                op: Unary::Float(op),
                bits,
                dst,
                a: *a,
            }),
            [a, b] => float_binary(name).map(|op| Op::Bin {
                op: BinOp::Float(op),
                bits,
                dst,
                a: *a,
                b: *b,
            }),
            [a, b, c] if name == "fmuladd" => {
                // rounded twice, as without a fused instruction
                let product = self.temporary(1);
                self.emit_binary(inst, (BinOp::Float(FloatOp::Mul), bits), product, *a, *b);
                Some(Op::Bin {
                    op: BinOp::Float(FloatOp::Add),
                    bits,
                    dst,
                    a: Operand::Register(product),
                    b: *c,
                })
            }
            _ => None,
        };
        let known = op.is_some();
        if let Some(op) = op {
            self.emit(inst, op);
        }
        Ok(known)
    }

    pub fn ignored(&mut self, inst: &Inst<'a>, value: u64) {
        if inst.result.is_some() {
            let dst = self.dst(inst);
            self.copy(inst, dst, Operand::Const(value));
        }
    }

    pub fn copy_memory(
        &mut self,
        inst: &Inst<'a>,
        function: Extern,
        args: &[Typed<'a>],
        given: Vec<Operand>,
    ) -> Result<()> {
        if given.len() < 3 {
            return Err(Error::invalid("too few arguments in a memory copy"));
        }
        let private = (self.private(&args[0].1), self.private(&args[1].1));
        let write_site = self.site(inst, "W", Order::Na);
        let site = match function {
            Extern::Memcpy => self.site(inst, "R", Order::Na),
            _ => write_site,
        };
        let op = Op::Extern {
            function,
            args: given,
            dst: inst.result.map(|_| self.dst(inst)),
            site,
            write_site,
            private,
        };
        self.emit(inst, op);
        Ok(())
    }
}
