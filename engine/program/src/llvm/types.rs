//! Types and their layout under the x86-64 data layout, the target of all front ends.
use crate::error::{Error, Result};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    Void,
    Int(u32),
    Ptr,
    /// A floating-point type by its name; values are moved but not computed with.
    Float(&'static str),
    Array(u64, TypeId),
    Struct {
        fields: Vec<TypeId>,
        packed: bool,
    },
    Vector(u64, TypeId),
    /// A named structure, which may come before its body.
    Named(u32),
    /// label, metadata, token, target types
    Other,
}

/// All types of a module, interned.
#[derive(Debug, Default)]
pub struct Types {
    list: Vec<Type>,
    ids: FxHashMap<Type, TypeId>,
    names: Vec<String>,
    name_ids: FxHashMap<String, u32>,
    bodies: Vec<Option<TypeId>>,
    // computed once all bodies are known
    layouts: RefCell<FxHashMap<TypeId, (u64, u64)>>,
}

/// Larger objects are refused: no concurrent test needs them, and sizes cannot overflow.
pub const MAX_SIZE: u64 = 1 << 26;
const MAX_DEPTH: u32 = 64;

fn round_up(value: u64, align: u64) -> u64 {
    value.div_ceil(align.max(1)) * align.max(1)
}

impl Types {
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(id) = self.ids.get(&ty) {
            return *id;
        }
        let id = TypeId(self.list.len() as u32);
        self.list.push(ty.clone());
        self.ids.insert(ty, id);
        id
    }

    /// A type that was interned.
    pub fn find(&self, ty: &Type) -> Option<TypeId> {
        self.ids.get(ty).copied()
    }

    pub fn int(&mut self, bits: u32) -> TypeId {
        self.intern(Type::Int(bits))
    }

    pub fn named(&mut self, name: &str) -> TypeId {
        let index = match self.name_ids.get(name) {
            Some(index) => *index,
            None => {
                let index = self.names.len() as u32;
                self.names.push(name.to_string());
                self.name_ids.insert(name.to_string(), index);
                self.bodies.push(None);
                index
            }
        };
        self.intern(Type::Named(index))
    }

    pub fn define(&mut self, name: &str, body: TypeId) {
        self.named(name);
        let index = self.name_ids[name] as usize;
        self.bodies[index] = Some(body);
    }

    /// The type itself, named structures replaced by their bodies.
    pub fn get(&self, id: TypeId) -> Result<&Type> {
        let mut id = id;
        for _ in 0..MAX_DEPTH {
            match &self.list[id.0 as usize] {
                Type::Named(index) => match self.bodies[*index as usize] {
                    Some(body) => id = body,
                    None => {
                        return Err(Error::unsupported(format!(
                            "a value of the opaque type %{}",
                            self.names[*index as usize]
                        )))
                    }
                },
                ty => return Ok(ty),
            }
        }
        Err(Error::invalid("type is defined by itself"))
    }

    /// Whether a structure has no name: clang uses such types for the parts in which it passes a
    /// structure by value.
    pub fn is_unnamed_structure(&self, id: TypeId) -> bool {
        matches!(self.list[id.0 as usize], Type::Struct { .. })
    }

    pub fn describe(&self, id: TypeId) -> String {
        match &self.list[id.0 as usize] {
            Type::Void => "void".into(),
            Type::Int(bits) => format!("i{bits}"),
            Type::Ptr => "ptr".into(),
            Type::Float(name) => (*name).into(),
            Type::Array(count, item) => format!("[{count} x {}]", self.describe(*item)),
            Type::Vector(count, item) => format!("<{count} x {}>", self.describe(*item)),
            Type::Struct { .. } => "a structure".into(),
            Type::Named(index) => format!("%{}", self.names[*index as usize]),
            Type::Other => "a target type".into(),
        }
    }

    pub fn size(&self, id: TypeId) -> Result<u64> {
        Ok(self.layout(id, 0)?.0)
    }

    pub fn align(&self, id: TypeId) -> Result<u64> {
        Ok(self.layout(id, 0)?.1)
    }

    /// Bytes from one array element to the next.
    pub fn stride(&self, id: TypeId) -> Result<u64> {
        let (size, align) = self.layout(id, 0)?;
        Ok(round_up(size, align))
    }

    fn layout(&self, id: TypeId, depth: u32) -> Result<(u64, u64)> {
        if depth > MAX_DEPTH {
            return Err(Error::invalid("type is nested too deeply"));
        }
        if let Some(known) = self.layouts.borrow().get(&id) {
            return Ok(*known);
        }
        let (size, align) = match self.get(id)? {
            Type::Void | Type::Other => (0, 1),
            Type::Int(bits) => {
                let bytes = u64::from(*bits).div_ceil(8);
                (bytes, bytes.next_power_of_two().min(16))
            }
            Type::Ptr => (8, 8),
            Type::Float(name) => match *name {
                "half" | "bfloat" => (2, 2),
                "float" => (4, 4),
                "double" => (8, 8),
                _ => (16, 16),
            },
            Type::Array(count, item) => {
                let (size, align) = self.layout(*item, depth + 1)?;
                (round_up(size, align).saturating_mul(*count), align)
            }
            Type::Vector(count, item) => {
                let (size, _) = self.layout(*item, depth + 1)?;
                let size = size.saturating_mul(*count).min(MAX_SIZE + 1);
                (size, size.next_power_of_two())
            }
            Type::Struct { fields, packed } => {
                let (mut at, mut most) = (0u64, 1u64);
                for field in fields {
                    let (size, align) = self.layout(*field, depth + 1)?;
                    let align = if *packed { 1 } else { align };
                    at = round_up(at, align) + round_up(size, align);
                    most = most.max(align);
                    if at > MAX_SIZE {
                        break;
                    }
                }
                (round_up(at, most), most)
            }
            Type::Named(_) => return Err(Error::invalid("type is defined by itself")),
        };
        if size > MAX_SIZE {
            return Err(Error::unsupported(format!(
                "a type of more than {} MiB",
                MAX_SIZE >> 20
            )));
        }
        self.layouts.borrow_mut().insert(id, (size, align));
        Ok((size, align))
    }

    /// Where field `index` of a structure, or element `index` of an array, lies, and its type.
    pub fn element(&self, id: TypeId, index: u64) -> Result<(u64, TypeId)> {
        match self.get(id)? {
            Type::Array(_, item) | Type::Vector(_, item) => {
                Ok((self.stride(*item)?.saturating_mul(index), *item))
            }
            Type::Struct { fields, packed } => {
                let mut at = 0;
                for (k, field) in fields.iter().enumerate() {
                    let (size, align) = self.layout(*field, 0)?;
                    let align = if *packed { 1 } else { align };
                    at = round_up(at, align);
                    if k as u64 == index {
                        return Ok((at, *field));
                    }
                    at += round_up(size, align);
                }
                Err(Error::invalid(format!("structure has no field {index}")))
            }
            _ => Err(Error::invalid(format!(
                "{} has no elements",
                self.describe(id)
            ))),
        }
    }

    /// The scalars that a first-class value of this type is made of, with their offsets.
    pub fn scalars(&self, id: TypeId) -> Result<Vec<(u64, TypeId)>> {
        let mut out = Vec::new();
        self.flatten(id, 0, 0, &mut out)?;
        Ok(out)
    }

    fn flatten(
        &self,
        id: TypeId,
        base: u64,
        depth: u32,
        out: &mut Vec<(u64, TypeId)>,
    ) -> Result<()> {
        if out.len() > 64 || depth > MAX_DEPTH {
            return Err(Error::unsupported("a value of more than 64 scalars"));
        }
        match self.get(id)? {
            Type::Struct { fields, .. } => {
                for (k, field) in fields.iter().enumerate() {
                    let (at, _) = self.element(id, k as u64)?;
                    self.flatten(*field, base + at, depth + 1, out)?;
                }
            }
            // an element has one register
            Type::Vector(_, item) if matches!(self.get(*item)?, Type::Int(65..)) => {
                return Err(Error::unsupported(format!(
                    "a value of type {}",
                    self.describe(id)
                )));
            }
            Type::Array(count, item) | Type::Vector(count, item) => {
                if *count > 64 {
                    return Err(Error::unsupported("a value of more than 64 scalars"));
                }
                for k in 0..*count {
                    self.flatten(*item, base + self.stride(*item)? * k, depth + 1, out)?;
                }
            }
            Type::Void => {}
            // two halves
            Type::Int(bits @ 65..=128) => {
                let half = |bits| self.find(&Type::Int(bits)).unwrap_or(id);
                out.extend([(base, half(64)), (base + 8, half(bits - 64))]);
            }
            _ => out.push((base, id)),
        }
        Ok(())
    }

    /// The type of a vector's elements; any other type itself.
    pub fn item(&self, id: TypeId) -> Result<TypeId> {
        match self.get(id)? {
            Type::Vector(_, item) => Ok(*item),
            _ => Ok(id),
        }
    }

    /// Bits of a scalar that fits a register.
    pub fn bits(&self, id: TypeId) -> Result<u32> {
        match self.get(id)? {
            Type::Int(bits @ 1..=64) => Ok(*bits),
            Type::Ptr | Type::Float("double") => Ok(64),
            Type::Float("float") => Ok(32),
            Type::Float("half" | "bfloat") => Ok(16),
            _ => Err(Error::unsupported(format!(
                "a value of type {}",
                self.describe(id)
            ))),
        }
    }
}
