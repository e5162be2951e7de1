//! [`Module`] → [`Program`]: what `main` and the global constructors reach.
use crate::error::{Construct, Error, Result};
use crate::ir::instruction::FuncId;
use crate::ir::program::{Function, Program};
use crate::llvm::ast::Module;
use crate::lower::cxx::demangled;
use crate::lower::function::lower_function;
use crate::lower::module::{Lowering, EXTERNAL_BASE};
use rustc_hash::FxHashMap;

/// Functions with names that begin so run when a thread ends, in the order of their names.
const THREAD_EXIT: &str = "weakspot_thread_exit_";

/// The function that runs the handlers that are registered for the end of the process.
const PROCESS_EXIT: &str = "weakspot_process_exit";

/// Lowers what `main` and the global constructors reach.
pub fn lower(module: &Module) -> Result<Program> {
    let mut lowering = Lowering {
        module,
        program: Program::default(),
        functions: FxHashMap::default(),
        externals: FxHashMap::default(),
        globals: FxHashMap::default(),
        work: Vec::new(),
        met: vec![false; module.functions.len()],
        calls: FxHashMap::default(),
    };
    // of a parameter that is not supported, calling the function is the error
    let scalars = |ty| module.types.scalars(ty).map_or(0, |each| each.len() as u32);
    for (k, function) in module.functions.iter().enumerate() {
        lowering.functions.insert(function.name, k as FuncId);
        let name = function
            .dbg
            .and_then(|d| module.metadata.get(d))
            .map(|n| module.metadata.name(n))
            .filter(|n| !n.is_empty())
            .unwrap_or_else(|| demangled(function.name));
        lowering.program.functions.push(Function {
            name,
            library: false,
            params: function.params.iter().map(|(ty, _)| scalars(*ty)).sum(),
            registers: 0,
            code: Vec::new(),
            loops: Vec::new(),
        });
    }
    for (k, name) in module.externals.iter().enumerate() {
        let address = EXTERNAL_BASE + 16 * k as u64;
        lowering.externals.insert(name, address);
        let name = demangled(name).to_string();
        lowering.program.externals.insert(address, name);
    }
    lowering.place_globals()?;
    let Some(main) = lowering.functions.get("main") else {
        let error = Error::invalid("the program has no function main");
        return Err(error.about(Construct::NoMain));
    };
    lowering.program.main = *main;
    lowering.reach(lowering.program.main);
    let mut exits: Vec<(&&str, &FuncId)> = lowering.functions.iter().collect();
    exits.retain(|(name, _)| name.starts_with(THREAD_EXIT));
    exits.sort();
    lowering.program.thread_exits = exits.iter().map(|(_, id)| **id).collect();
    for id in lowering.program.thread_exits.clone() {
        lowering.reach(id);
    }
    if let Some(id) = lowering.functions.get(PROCESS_EXIT).copied() {
        lowering.program.process_exits.push(id);
        lowering.reach(id);
    }
    lowering.images()?;
    while let Some(id) = lowering.work.pop() {
        lower_function(&mut lowering, id)?;
    }
    Ok(lowering.program)
}
