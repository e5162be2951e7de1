//! Module-level lowering: addresses of functions and globals, initial values, constants, the set of
//! reachable functions.
use crate::error::{Error, Result};
use crate::ir::arithmetic;
use crate::ir::bits::{mask, sext};
use crate::ir::exceptions::TypeKind;
use crate::ir::instruction::{FuncId, TypeInfoId};
use crate::ir::program::{Global, Program, FUNCTION_BASE, KERNEL_HEADER};
use crate::ir::shapes::Shapes;
use crate::llvm::ast::{Expr, Module, Typed, Value};
use crate::llvm::types::{Type, TypeId, MAX_SIZE};
use crate::lower::cxx::demangled;
use crate::lower::opcodes::binary_op;
use rustc_hash::FxHashMap;

/// Variables of the C library, which are zeros.
const PROVIDED: [&str; 5] = ["stdin", "stdout", "stderr", "environ", "__dso_handle"];

const GLOBAL_BASE: u64 = 0x1_0000;
pub const EXTERNAL_BASE: u64 = 0x5000_0000;

/// Whether a name is not one of the compiler's, as of a table of virtual functions.
fn is_users(name: &str) -> bool {
    !name.starts_with(['_', '{'])
}

/// The state of lowering a module.
pub struct Lowering<'m, 'a> {
    pub module: &'m Module<'a>,
    pub program: Program,
    pub functions: FxHashMap<&'a str, FuncId>,
    pub externals: FxHashMap<&'a str, u64>,
    pub globals: FxHashMap<&'a str, usize>,
    /// Reachable functions that are not lowered yet.
    pub work: Vec<FuncId>,
    pub met: Vec<bool>,
    pub calls: FxHashMap<u32, u32>,
}

impl<'m, 'a> Lowering<'m, 'a> {
    /// Marks a function as reachable.
    pub fn reach(&mut self, id: FuncId) {
        if !std::mem::replace(&mut self.met[id as usize], true) {
            self.work.push(id);
        }
    }

    pub fn place_globals(&mut self) -> Result<()> {
        let mut at = GLOBAL_BASE;
        let mut shapes = Shapes::default();
        for (k, global) in self.module.globals.iter().enumerate() {
            self.globals.insert(global.name, k);
            self.program.of_kernel |= global.name.starts_with(KERNEL_HEADER);
            let metadata = &self.module.metadata;
            let variable = global
                .dbg
                .and_then(|id| metadata.get(id))
                .and_then(|n| n.node("var").or(global.dbg))
                .and_then(|id| metadata.get(id));
            let name = variable.map(|v| v.text("name")).unwrap_or_default();
            let shape = variable
                .filter(|_| !name.is_empty())
                .and_then(|v| v.node("type"))
                .map(|t| shapes.read(metadata, t));
            let size = match self.module.types.size(global.ty) {
                Ok(size) => size,
                // an opaque or huge type that only a declaration uses
                Err(_) if global.init.is_none() => 0,
                Err(error) => return Err(error),
            };
            let align = global.align.max(16);
            if !align.is_power_of_two() || align > 1 << 20 {
                return Err(Error::invalid(format!(
                    "invalid alignment of @{}",
                    global.name
                )));
            }
            at = at.div_ceil(align) * align;
            let address = at;
            if !global.thread_local && !global.alias {
                // a gap: one past the end of an object is in no object
                at += size + 16;
            }
            if at > FUNCTION_BASE {
                return Err(Error::unsupported(format!(
                    "having more than {} MiB of global variables",
                    FUNCTION_BASE >> 20
                )));
            }
            let declared = global.init.is_none() && !PROVIDED.contains(&global.name);
            if global.name.starts_with("_ZTI") {
                let id = self.program.exceptions.id(global.name);
                self.program.exceptions.by_address.insert(address, id);
            }
            self.program.globals.push(Global {
                name: match name {
                    "" => demangled(global.name),
                    name => name.to_string(),
                },
                shape,
                address,
                size,
                align,
                image: Vec::new(),
                constant: global.constant,
                thread_local: global.thread_local,
                site: 0,
                declared: declared && !global.alias,
            });
        }
        self.program.shapes = shapes;
        for k in 0..self.module.globals.len() {
            let global = &self.module.globals[k];
            if let (true, Some(target)) = (global.alias, &global.init) {
                let ty = self.pointer_type()?;
                self.program.globals[k].address = self.constant(ty, target)?;
                self.program.globals[k].size = 0;
            }
        }
        Ok(())
    }

    pub fn images(&mut self) -> Result<()> {
        for k in 0..self.module.globals.len() {
            let global = &self.module.globals[k];
            let Some(init) = &global.init else { continue };
            if global.alias {
                continue;
            }
            match global.name {
                "llvm.global_ctors" => {
                    let found = self.by_priority(init);
                    self.program.constructors = found;
                    continue;
                }
                "llvm.global_dtors" => {
                    let found = self.by_priority(init);
                    self.program.process_exits.extend(found.iter().rev());
                    continue;
                }
                name if name.starts_with("llvm.") => continue,
                _ => {}
            }
            if global.name.starts_with("_ZTI") {
                self.type_information(global.name, init);
            }
            let mut image = Vec::new();
            self.write(global.ty, init, 0, &mut image)?;
            self.program.globals[k].image = image;
        }
        Ok(())
    }

    /// The functions of a list of global constructors or destructors, in the order in which
    /// constructors run.
    fn by_priority(&mut self, init: &Value<'a>) -> Vec<FuncId> {
        let entries = match init {
            Value::List(entries) => entries.as_slice(),
            _ => &[],
        };
        let mut found = Vec::new();
        for (_, entry) in entries {
            if let Value::List(fields) = entry {
                if let [(_, Value::Int(priority)), (_, Value::Global(name)), ..] = &fields[..] {
                    if let Some(id) = self.functions.get(name) {
                        found.push((*priority, *id));
                    }
                }
            }
        }
        found.sort_by_key(|f| f.0);
        for (_, id) in &found {
            self.reach(*id);
        }
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// Reads the bases of a class from its type information (Itanium C++ ABI, 2.9.5).
    fn type_information(&mut self, name: &str, init: &Value<'a>) {
        let id = self.program.exceptions.id(name);
        let fields: Vec<&Value> = match init {
            Value::List(fields) => fields.iter().map(|f| &f.1).collect(),
            _ => return,
        };
        let number = |value: &Value| match value {
            Value::Int(value) => Some(*value as u64),
            _ => None,
        };
        let mut base = |value: &Value, flags: u64| {
            // not a public base: no handler of its type applies
            let name = global_name(value).filter(|_| flags & 2 != 0)?;
            let offset = (flags & 1 == 0).then_some((flags as i64 >> 8) as u64);
            Some((self.program.exceptions.id(name), offset))
        };
        let kind = match fields.first().and_then(|v| global_name(v)) {
            Some(v) if v.contains("__class_type_info") => TypeKind::Class(Vec::new()),
            Some(v) if v.contains("__si_class_type_info") => {
                let found = fields.get(2).and_then(|v| base(v, 2));
                TypeKind::Class(found.into_iter().collect())
            }
            Some(v) if v.contains("__vmi_class_type_info") => {
                let pairs = fields.get(4..).unwrap_or_default().chunks_exact(2);
                let read = pairs.filter_map(|p| base(p[0], number(p[1])?));
                TypeKind::Class(read.collect())
            }
            Some(v) if v.contains("pointer") => TypeKind::Pointer,
            _ => TypeKind::Plain,
        };
        self.program.exceptions.types[id as usize].kind = kind;
    }

    /// The type that a clause of a landing pad names; None: any.
    pub fn handled_type(&mut self, value: &Value<'a>) -> Result<Option<TypeInfoId>> {
        match value {
            Value::Null | Value::Zero => Ok(None),
            value => match global_name(value) {
                Some(name) => Ok(Some(self.program.exceptions.id(name))),
                None => Err(Error::unsupported("a handler of this type")),
            },
        }
    }

    /// Writes a constant into an image, without trailing zeros.
    fn write(&mut self, ty: TypeId, value: &Value<'a>, at: u64, image: &mut Vec<u8>) -> Result<()> {
        match value {
            Value::Zero | Value::Undef | Value::Null => Ok(()),
            Value::Bytes(bytes) => {
                put(image, at, bytes);
                Ok(())
            }
            Value::List(items) => {
                for (k, (ty_item, item)) in items.iter().enumerate() {
                    let (offset, _) = self.module.types.element(ty, k as u64)?;
                    self.write(*ty_item, item, at.saturating_add(offset), image)?;
                }
                Ok(())
            }
            Value::Splat(item) => {
                for (offset, _) in self.module.types.scalars(ty)? {
                    self.write(item.0, &item.1, at.saturating_add(offset), image)?;
                }
                Ok(())
            }
            Value::Int(value) => {
                let size = self.module.types.size(ty)?.min(16) as usize;
                if at < MAX_SIZE {
                    put(image, at, &value.to_le_bytes()[..size]);
                }
                Ok(())
            }
            Value::Float(_)
                if matches!(self.module.types.get(ty)?, Type::Float(name)
                    if !matches!(*name, "float" | "double" | "half" | "bfloat")) =>
            {
                Ok(())
            }
            other => {
                let bits = self.constant(ty, other)?;
                let size = self.module.types.size(ty)?.min(8) as usize;
                put(image, at, &bits.to_le_bytes()[..size]);
                Ok(())
            }
        }
    }

    /// The value of a scalar constant.
    pub fn constant(&mut self, ty: TypeId, value: &Value<'a>) -> Result<u64> {
        let bits = self.module.types.bits(ty)?;
        Ok(match value {
            Value::Int(value) => mask(*value as u64, bits),
            Value::Null | Value::Zero | Value::Undef => 0,
            Value::Global(name) => self.address(name)?,
            Value::Float(text) => float_bits(text, bits)?,
            Value::Expr(expr) => mask(self.expression(expr)?, bits),
            _ => return Err(Error::invalid("constant does not fit its type")),
        })
    }

    fn address(&mut self, name: &'a str) -> Result<u64> {
        if let Some(id) = self.functions.get(name) {
            let id = *id;
            self.reach(id);
            return Ok(FUNCTION_BASE + 16 * u64::from(id));
        }
        if let Some(k) = self.globals.get(name) {
            if self.module.globals[*k].thread_local {
                return Err(Error::unsupported(format!(
                    "a constant that holds the address of the thread-local variable @{name}"
                )));
            }
            let variable = &self.program.globals[*k];
            self.program.points_outside |= variable.declared && is_users(&variable.name);
            return Ok(variable.address);
        }
        if let Some(address) = self.externals.get(name) {
            self.program.points_outside |= is_users(&self.program.externals[address]);
            // a thread-local variable with a constant initial value has no function that initialises
            // it, and those that use it test for that (Itanium C++ ABI, 2.8)
            let is_absent = name.starts_with("_ZTH");
            return Ok(if is_absent { 0 } else { *address });
        }
        Err(Error::invalid(format!("@{name} is not defined")))
    }

    pub fn is_thread_local(&self, name: &str) -> bool {
        let known = self.globals.get(name);
        known.is_some_and(|k| self.module.globals[*k].thread_local)
    }

    /// The global variable that a value refers to.
    pub fn global(&self, value: &Value<'a>) -> Option<u32> {
        match value {
            Value::Global(name) => self.globals.get(name).map(|k| *k as u32),
            _ => None,
        }
    }

    /// Refuses a variable that is declared but not defined, except those of the library.
    pub fn check_defined(&self, value: &Value<'a>) -> Result<()> {
        if let Value::Global(name) = value {
            if let Some(k) = self.globals.get(name) {
                let known = PROVIDED.contains(name);
                if self.module.globals[*k].init.is_none() && !known && !name.starts_with('_') {
                    let variable = &self.program.globals[*k];
                    return Err(Error::undefined(variable.what(), variable.undefined()));
                }
            }
        }
        Ok(())
    }

    fn expression(&mut self, expr: &Expr<'a>) -> Result<u64> {
        match expr {
            Expr::Gep {
                source,
                base,
                indices,
            } => {
                let ptr = self.pointer_type()?;
                let mut address = self.constant(ptr, base)?;
                let mut ty = *source;
                for (k, (index_ty, index)) in indices.iter().enumerate() {
                    let bits = self.module.types.bits(*index_ty)?;
                    let index = sext(self.constant(*index_ty, index)?, bits);
                    let offset = if k == 0 {
                        self.module.types.stride(ty)?.wrapping_mul(index)
                    } else {
                        let (offset, item) = self.step(ty, index)?;
                        ty = item;
                        offset
                    };
                    address = address.wrapping_add(offset);
                }
                Ok(address)
            }
            Expr::Cast { op, value } => {
                let from = self.module.types.bits(value.0)?;
                let bits = self.constant(value.0, &value.1)?;
                match *op {
                    "sext" => Ok(sext(bits, from)),
                    "trunc" | "zext" | "ptrtoint" | "ptrtoaddr" | "inttoptr" | "bitcast"
                    | "addrspacecast" => Ok(bits),
                    op => Err(Error::unsupported(format!("the constant expression {op}"))),
                }
            }
            Expr::Bin { op, a, b } => self.binary(op, a, b),
            Expr::Other(op) => Err(Error::unsupported(format!("the constant expression {op}"))),
        }
    }

    fn binary(&mut self, op: &str, a: &Typed<'a>, b: &Typed<'a>) -> Result<u64> {
        let bits = self.module.types.bits(a.0)?;
        let (x, y) = (self.constant(a.0, &a.1)?, self.constant(b.0, &b.1)?);
        let op = binary_op(op)
            .ok_or_else(|| Error::unsupported(format!("the constant expression {op}")))?;
        arithmetic::binary(op, bits, x, y)
            .ok_or_else(|| Error::invalid("division by zero in a constant"))
    }

    pub fn pointer_type(&self) -> Result<TypeId> {
        self.module
            .types
            .find(&Type::Ptr)
            .ok_or_else(|| Error::invalid("pointer in a module without pointer types"))
    }

    /// The offset and type that one index leads to; array indices need not be in bounds, fields
    /// must exist.
    pub fn step(&self, ty: TypeId, index: u64) -> Result<(u64, TypeId)> {
        let types = &self.module.types;
        match types.get(ty)? {
            Type::Array(_, item) | Type::Vector(_, item) => {
                Ok((types.stride(*item)?.wrapping_mul(index), *item))
            }
            _ => types.element(ty, index),
        }
    }
}

/// The variable that a constant is the address of, or an address within it.
fn global_name<'a>(value: &Value<'a>) -> Option<&'a str> {
    match value {
        Value::Global(name) => Some(name),
        Value::Expr(expr) => match &**expr {
            Expr::Gep { base, .. } => global_name(base),
            Expr::Cast { value, .. } => global_name(&value.1),
            Expr::Bin { a, .. } => global_name(&a.1),
            Expr::Other(_) => None,
        },
        _ => None,
    }
}

fn put(image: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let used = bytes.iter().rposition(|b| *b != 0).map_or(0, |k| k + 1);
    if used == 0 || at.saturating_add(used as u64) > MAX_SIZE {
        return;
    }
    let (start, end) = (at as usize, at as usize + used);
    if image.len() < end {
        image.resize(end, 0);
    }
    image[start..end].copy_from_slice(&bytes[..used]);
}

fn float_bits(text: &str, bits: u32) -> Result<u64> {
    let wide = match text.strip_prefix("0x") {
        Some(hex) => match u64::from_str_radix(hex, 16) {
            Ok(value) => f64::from_bits(value),
            Err(_) => return Err(Error::unsupported(format!("the constant {text}"))),
        },
        None => text
            .parse()
            .map_err(|_| Error::invalid(format!("malformed constant {text}")))?,
    };
    match bits {
        64 => Ok(wide.to_bits()),
        32 => Ok(u64::from((wide as f32).to_bits())),
        _ => Err(Error::unsupported(format!("the constant {text}"))),
    }
}
