//! The annotations of events: the dialect's sets that an event is in, one bit each.

pub type Annotations = u64;

/// The bit of a name in a dialect's table; a name that is not in it does not compile.
pub const fn annotation(table: &[&str], name: &str) -> Annotations {
    let mut bit = 0;
    while bit < table.len() {
        if equal(table[bit].as_bytes(), name.as_bytes()) {
            return 1 << bit;
        }
        bit += 1;
    }
    panic!("no such annotation")
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
