//! Names of locations, `q.slot[1].turn`, from the debug information of `q`.
use crate::llvm::metadata::Metadata;
use rustc_hash::FxHashMap;

/// A type of the source, as needed to name its parts.
#[derive(Debug, Clone)]
enum Shape {
    Leaf,
    /// Not divided further: locks, unions.
    Whole,
    Struct(Vec<Member>),
    Array {
        item: usize,
        stride: u64,
        counts: Vec<u64>,
    },
}

#[derive(Debug, Clone)]
struct Member {
    name: String,
    offset: u64,
    size: u64,
    shape: usize,
    bits: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Shapes {
    list: Vec<Shape>,
    ids: FxHashMap<u32, usize>,
}

/// Types whose members are internal to the library.
const OPAQUE: [&str; 13] = [
    "pthread_mutex_t",
    "pthread_cond_t",
    "pthread_barrier_t",
    "pthread_once_t",
    "pthread_spinlock_t",
    "pthread_rwlock_t",
    "mtx_t",
    "cnd_t",
    "once_flag",
    "atomic_flag",
    "mutex",
    "condition_variable",
    "thread",
];

/// Tags of types that another one stands behind.
const ALIASES: [&str; 5] = [
    "DW_TAG_typedef",
    "DW_TAG_const_type",
    "DW_TAG_volatile_type",
    "DW_TAG_restrict_type",
    "DW_TAG_atomic_type",
];

/// The size in bits of an array that is declared without one, at the end of a structure.
const FLEXIBLE: u64 = 1 << 48;

pub const MAX_DEPTH: u32 = 32;

impl Shapes {
    /// Reads the type `id` of the metadata, once.
    pub fn read(&mut self, metadata: &Metadata, id: u32) -> usize {
        if let Some(known) = self.ids.get(&id) {
            return *known;
        }
        let index = self.list.len();
        // only malformed metadata is cyclic here, since pointers are leaves; a leaf ends the
        // recursion
        self.list.push(Shape::Leaf);
        self.ids.insert(id, index);
        let shape = self.shape(metadata, id);
        self.list[index] = shape;
        index
    }

    fn shape(&mut self, metadata: &Metadata, id: u32) -> Shape {
        let mut id = id;
        for _ in 0..MAX_DEPTH {
            let Some(node) = metadata.get(id) else {
                return Shape::Leaf;
            };
            if OPAQUE.contains(&node.text("name")) {
                return Shape::Whole;
            }
            match node.text("tag") {
                tag if ALIASES.contains(&tag) => match node.node("baseType") {
                    Some(base) => id = base,
                    None => return Shape::Leaf,
                },
                "DW_TAG_union_type" => return Shape::Whole,
                "DW_TAG_structure_type" | "DW_TAG_class_type" => {
                    return self.structure(metadata, id)
                }
                "DW_TAG_array_type" => return self.array(metadata, id),
                _ => return Shape::Leaf,
            }
        }
        Shape::Leaf
    }

    fn structure(&mut self, metadata: &Metadata, id: u32) -> Shape {
        let elements = metadata
            .get(id)
            .and_then(|n| n.node("elements"))
            .and_then(|e| metadata.get(e));
        let mut members = Vec::new();
        for element in elements.iter().flat_map(|e| e.refs()) {
            let Some(node) = metadata.get(element) else {
                continue;
            };
            let tag = node.text("tag");
            let is_static = node.has("flags", "DIFlagStaticMember");
            if !matches!(tag, "DW_TAG_member" | "DW_TAG_inheritance") || is_static {
                continue;
            }
            let Some(base) = node.node("baseType") else {
                continue;
            };
            let array = metadata.get(base).map(|n| n.text("tag")) == Some("DW_TAG_array_type");
            let size = match node.int("size") {
                0 if array => FLEXIBLE,
                0 => size_of(metadata, base),
                bits => bits,
            };
            members.push(Member {
                name: node.text("name").to_string(),
                offset: node.int("offset") / 8,
                size: size.div_ceil(8),
                bits: node.has("flags", "DIFlagBitField") || node.int("offset") % 8 != 0,
                shape: self.read(metadata, base),
            });
        }
        Shape::Struct(members)
    }

    fn array(&mut self, metadata: &Metadata, id: u32) -> Shape {
        let Some(node) = metadata.get(id) else {
            return Shape::Leaf;
        };
        let Some(base) = node.node("baseType") else {
            return Shape::Leaf;
        };
        let ranges = node.node("elements").and_then(|e| metadata.get(e));
        let counts = ranges
            .iter()
            .flat_map(|e| e.refs())
            .filter_map(|r| metadata.get(r))
            .map(|r| r.int("count"))
            .collect();
        Shape::Array {
            stride: size_of(metadata, base) / 8,
            item: self.read(metadata, base),
            counts,
        }
    }

    /// A type that has another one as its only known part.
    pub fn within(&mut self, part: usize, name: &str, offset: u64, size: u64) -> usize {
        self.list.push(Shape::Struct(vec![Member {
            name: name.to_owned(),
            offset,
            size,
            shape: part,
            bits: false,
        }]));
        self.list.len() - 1
    }

    /// Whether the last member is an array without a size.
    pub fn is_flexible(&self, shape: usize) -> bool {
        match &self.list[shape] {
            Shape::Struct(members) => members.last().is_some_and(|m| m.size == FLEXIBLE / 8),
            _ => false,
        }
    }

    /// The name of the part of `root` at `offset` that contains an access of `size` bytes; a part
    /// without a name (in a union, a bit-field or padding) is `+offset` from the last named part.
    /// With size 0, the name is that of the largest part that begins there.
    pub fn name(&self, root: &str, shape: Option<usize>, offset: u64, size: u64) -> String {
        let mut name = root.to_string();
        let mut rest = offset;
        let mut next = shape;
        for _ in 0..MAX_DEPTH {
            if (rest, size) == (0, 0) {
                break;
            }
            match next.map(|index| &self.list[index]) {
                Some(Shape::Struct(members)) => {
                    let member = members
                        .iter()
                        .find(|m| m.offset <= rest && rest < m.offset + m.size && !m.bits);
                    let Some(member) = member.filter(|m| rest - m.offset + size <= m.size) else {
                        break;
                    };
                    // the C++ library wraps a value in a member with a reserved name
                    let passed = member.name.starts_with("__") && members.len() == 1;
                    if !member.name.is_empty() && !passed {
                        if !name.is_empty() {
                            name.push('.');
                        }
                        name.push_str(&member.name);
                    }
                    rest -= member.offset;
                    next = Some(member.shape);
                }
                Some(Shape::Array {
                    item,
                    stride,
                    counts,
                }) if *stride > 0 && size <= *stride => {
                    let mut index = rest / stride;
                    rest %= stride;
                    let mut indices = Vec::new();
                    for count in counts.iter().skip(1).rev() {
                        indices.push(index % (*count).max(1));
                        index /= (*count).max(1);
                    }
                    indices.push(index);
                    for index in indices.iter().rev() {
                        name.push_str(&format!("[{index}]"));
                    }
                    next = Some(*item);
                }
                _ => break,
            }
        }
        if rest > 0 {
            name.push_str(&format!("+{rest}"));
        }
        name
    }
}

/// The type behind typedefs and qualifiers, and its first name.
pub fn resolved<'a>(metadata: &Metadata<'a>, id: u32) -> Option<(u32, &'a str)> {
    let (mut id, mut name) = (id, "");
    for _ in 0..MAX_DEPTH {
        let node = metadata.get(id)?;
        if name.is_empty() {
            name = node.text("name");
        }
        if !ALIASES.contains(&node.text("tag")) {
            return Some((id, name));
        }
        id = node.node("baseType")?;
    }
    None
}

/// Size in bits, through typedefs and qualifiers.
pub fn size_of(metadata: &Metadata, id: u32) -> u64 {
    let mut id = id;
    for _ in 0..MAX_DEPTH {
        let Some(node) = metadata.get(id) else {
            return 0;
        };
        match (node.int("size"), node.node("baseType")) {
            (0, Some(base)) => id = base,
            (bits, _) => return bits,
        }
    }
    0
}
