//! Types of heap objects, from the debug information of the calls that allocate them.
use crate::ir::shapes::{resolved, size_of, Shapes, MAX_DEPTH};
use crate::llvm::metadata::{is_system, plain, Metadata, Node};

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

/// The class of what `std::make_shared` allocates.
const SHARED: &str = "__shared_ptr_emplace<";

/// The type that an allocator is for, one of whose functions a position is in.
fn item_of_allocator(metadata: &Metadata, call: u32) -> Option<u32> {
    let mut next = Some(call);
    for _ in 0..MAX_DEPTH {
        let location = metadata.get(next?)?;
        let function = metadata.subprogram(location.node("scope")?)?;
        let class = function.node("scope").and_then(|id| metadata.get(id));
        if let Some(class) = class.filter(|c| c.text("name").starts_with("allocator<")) {
            return first_argument(metadata, class);
        }
        next = location.node("inlinedAt");
    }
    None
}

fn is_class(node: &Node) -> bool {
    ["DW_TAG_structure_type", "DW_TAG_class_type"].contains(&node.text("tag"))
}

/// The first template argument of a class.
fn first_argument(metadata: &Metadata, class: &Node) -> Option<u32> {
    let arguments = metadata.get(class.node("templateParams")?)?;
    let first = arguments.refs().next()?;
    metadata.get(first)?.node("type")
}

impl Allocation {
    /// How many objects of the type there are in so many bytes.
    pub fn items(&self, bytes: u64) -> u64 {
        match self.flexible || bytes % self.size != 0 {
            true => 1,
            false => bytes / self.size,
        }
    }

    /// `allocated` is the type that a `new` expression names; `call` is the position of the call,
    /// which may be in a function of an allocator. `variables` are the variables that hold the
    /// returned pointer; C has only these. None if no structure or class is known.
    pub fn read(
        metadata: &Metadata,
        shapes: &mut Shapes,
        allocated: Option<u32>,
        call: Option<u32>,
        variables: impl Iterator<Item = u32>,
    ) -> Option<Allocation> {
        let pointed = variables.filter_map(|variable| {
            let pointer = resolved(metadata, metadata.get(variable)?.node("type")?)?.0;
            let node = metadata.get(pointer)?;
            let is_pointer = node.text("tag") == "DW_TAG_pointer_type";
            node.node("baseType").filter(|_| is_pointer)
        });
        let item = call.and_then(|call| item_of_allocator(metadata, call));
        let types = allocated.into_iter().chain(item).chain(pointed);
        types.into_iter().find_map(|id| {
            let (id, name) = resolved(metadata, id)?;
            let node = metadata.get(id)?;
            if name.starts_with(SHARED) {
                return Allocation::shared(metadata, shapes, node);
            }
            let size = size_of(metadata, id) / 8;
            if !is_class(node) || size == 0 {
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

    /// What `std::make_shared` allocates: the counts, and the object in their member `__storage_`.
    fn shared(metadata: &Metadata, shapes: &mut Shapes, node: &Node) -> Option<Allocation> {
        let elements = metadata.get(node.node("elements")?)?;
        let mut members = elements.refs().filter_map(|id| metadata.get(id));
        let storage = members.find(|member| member.text("name") == "__storage_")?;
        let (id, name) = resolved(metadata, first_argument(metadata, node)?)?;
        let item = metadata.get(id)?;
        let (name, part) = match is_class(item) && !is_system(&metadata.file(item)) {
            true => (plain(name), ""),
            false => ("", "value"),
        };
        let shape = shapes.read(metadata, id);
        let (offset, size) = (storage.int("offset") / 8, size_of(metadata, id) / 8);
        Some(Allocation {
            name: name.to_owned(),
            shape: shapes.within(shape, part, offset, size),
            size: node.int("size") / 8,
            flexible: false,
        })
    }
}
