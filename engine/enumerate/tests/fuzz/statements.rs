//! Makes litmus tests of C, from its statements.

use super::choices::Choices;
use super::question::{question, NUMBERS};

const ORDERS: [&str; 6] = [
    "relaxed", "acquire", "release", "acq_rel", "seq_cst", "consume",
];

struct Statements<'c, 'b> {
    c: &'c mut Choices<'b>,
    registers: usize,
    /// How many statements may follow; nested blocks multiply them.
    left: usize,
}

impl Statements<'_, '_> {
    fn expression(&mut self, depth: usize) -> String {
        let place = self.c.of(&["x", "y"]);
        let order = format!("memory_order_{}", self.c.of(&ORDERS));
        if depth == 0 {
            return match self.c.below(2) {
                0 => self.c.of(&NUMBERS).to_owned(),
                _ => format!("r{}", self.c.below(self.registers + 1)),
            };
        }
        let d = depth - 1;
        match self.c.below(12) {
            0 | 1 => format!("atomic_load_explicit({place}, {order})"),
            2 => format!(
                "atomic_fetch_add_explicit({place}, {}, {order})",
                self.expression(d)
            ),
            3 => format!(
                "atomic_exchange_explicit({place}, {}, {order})",
                self.expression(d)
            ),
            4 => format!("atomic_load({place})"),
            5 => {
                let weak = self.c.of(&["weak", "strong"]);
                let new = self.expression(d);
                format!("atomic_compare_exchange_{weak}_explicit({place}, z, {new}, {order}, memory_order_relaxed)")
            }
            6 => "*z".to_owned(),
            7 => {
                let op = self.c.of(&[
                    "+", "-", "*", "==", "!=", "<", "&", "^", "|", "/", "%", "<<",
                ]);
                format!("({} {op} {})", self.expression(d), self.expression(d))
            }
            8 => format!("!({})", self.expression(d)),
            _ => self.expression(0),
        }
    }

    fn block(&mut self, depth: usize, text: &mut String) {
        for _ in 0..self.c.below(5) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let place = self.c.of(&["x", "y"]);
            let order = self.c.of(&ORDERS);
            let line = match self.c.below(11) {
                0 | 1 => {
                    let value = self.expression(1);
                    format!("atomic_store_explicit({place}, {value}, memory_order_{order});")
                }
                2..=4 => {
                    self.registers += 1;
                    let value = self.expression(2);
                    format!("int r{} = {value};", self.registers)
                }
                5 => format!("atomic_thread_fence(memory_order_{order});"),
                6 => format!("*z = {};", self.expression(1)),
                7 => format!(
                    "r{} = {};",
                    self.c.below(self.registers + 1),
                    self.expression(1)
                ),
                8 if depth > 0 => {
                    let mut inner = String::new();
                    self.block(depth - 1, &mut inner);
                    format!("if ({}) {{\n{inner}}}", self.expression(1))
                }
                9 if depth > 0 => {
                    let mut inner = String::new();
                    self.block(depth - 1, &mut inner);
                    format!("while ({}) {{\n{inner}}}", self.expression(1))
                }
                _ => format!(
                    "{}({place});",
                    self.c.of(&["lock", "unlock", "atomic_load"])
                ),
            };
            text.push_str(&line);
            text.push('\n');
        }
    }
}

pub fn in_c(c: &mut Choices<'_>) -> String {
    let threads = 1 + c.below(3);
    let mut text = format!(
        "C made\n{{ {} }}\n",
        c.of(&["", "x=1;", "int z = 2;", "y=-1;"])
    );
    for thread in 0..threads {
        text.push_str(&format!(
            "P{thread} (atomic_int* x, atomic_int* y, int* z) {{\nint r0 = {};\n",
            c.of(&NUMBERS)
        ));
        let mut statements = Statements {
            c: &mut *c,
            registers: 0,
            left: 7,
        };
        statements.block(2, &mut text);
        text.push_str("}\n");
    }
    let observed = |c: &mut Choices<'_>| match c.below(4) {
        0 => "x".to_owned(),
        1 => "z".to_owned(),
        _ => format!("{}:r{}", c.below(threads), c.below(3)),
    };
    text.push_str(&question(c, &observed));
    text
}
