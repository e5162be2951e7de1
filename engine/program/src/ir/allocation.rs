//! Types of heap objects, from the debug information of the calls that allocate them.
use crate::ir::shapes::{resolved, size_of, Shapes};
use crate::llvm::metadata::{is_system, plain, Metadata};

/// The type of what a call of `malloc` or `operator new` allocates: one object, or an array.
#[derive(Debug, Clone)]
pub struct Allocation {
    /// The name of a type of the user's; empty for a type of a library.
    pub name: String,
    /// Index into `Program::shapes`.
    pub shape: usize,
    /// In bytes.
    pub size: u64,
    /// The last member is an array without a size.
    pub flexible: bool,
}

impl Allocation {
    /// How many objects of the type there are in so many bytes.
    pub fn items(&self, bytes: u64) -> u64 {
        match self.flexible || bytes % self.size != 0 {
            true => 1,
            false => bytes / self.size,
        }
    }

    /// `allocated` is the type that a `new` expression names. `variables` are the variables that
    /// hold the returned pointer; C has only these. None if no structure or class is known.
    pub fn read(
        metadata: &Metadata,
        shapes: &mut Shapes,
        allocated: Option<u32>,
        variables: impl Iterator<Item = u32>,
    ) -> Option<Allocation> {
        let pointed = variables.filter_map(|variable| {
            let pointer = resolved(metadata, metadata.get(variable)?.node("type")?)?.0;
            let node = metadata.get(pointer)?;
            let is_pointer = node.text("tag") == "DW_TAG_pointer_type";
            node.node("baseType").filter(|_| is_pointer)
        });
        allocated.into_iter().chain(pointed).find_map(|id| {
            let (id, name) = resolved(metadata, id)?;
            let node = metadata.get(id)?;
            let structure = ["DW_TAG_structure_type", "DW_TAG_class_type"];
            let size = size_of(metadata, id) / 8;
            if !structure.contains(&node.text("tag")) || size == 0 {
                return None;
            }
            let library = is_system(&metadata.file(node));
            let shape = shapes.read(metadata, id);
            Some(Allocation {
                name: if library {
                    String::new()
                } else {
                    plain(name).to_owned()
                },
                shape,
                size,
                flexible: shapes.is_flexible(shape),
            })
        })
    }
}
