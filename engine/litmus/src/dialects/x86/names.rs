//! The names of x86's instructions, with the letters that say the size of their operands.

use super::flags;
use crate::value::Op;

#[derive(Clone, Copy)]
pub enum Form {
    Move,
    /// `mov` from a smaller part, with zeros or copies of its sign above.
    Extend {
        bits: i64,
        signed: bool,
    },
    /// Of two operands; `cmp` and `test` write the flags alone.
    Sum,
    Difference,
    Compare,
    Logic(Op),
    Test,
    ShiftLeft,
    /// Of one operand.
    Increment,
    Decrement,
    Negate,
    Not,
    Exchange,
    ExchangeAdd,
    CompareExchange,
    /// `cmpxchg8b`: of the pairs `edx:eax` and `ecx:ebx`.
    CompareExchangePair,
    /// `cmpxchg16b`: of the pairs `rdx:rax` and `rcx:rbx`.
    CompareExchangeHalves,
    MoveIf(i64),
    SetIf(i64),
}

const TABLE: [(&str, Form); 20] = [
    ("mov", Form::Move),
    ("xchg", Form::Exchange),
    ("xadd", Form::ExchangeAdd),
    ("cmpxchg", Form::CompareExchange),
    ("cmp", Form::Compare),
    ("test", Form::Test),
    ("add", Form::Sum),
    ("sub", Form::Difference),
    ("xor", Form::Logic(Op::Xor)),
    ("or", Form::Logic(Op::Or)),
    ("and", Form::Logic(Op::And)),
    ("shl", Form::ShiftLeft),
    ("sal", Form::ShiftLeft),
    ("inc", Form::Increment),
    ("dec", Form::Decrement),
    ("neg", Form::Negate),
    ("not", Form::Not),
    ("cmpxchg8b", Form::CompareExchangePair),
    ("cmpxchg16b", Form::CompareExchangeHalves),
    ("movabs", Form::Move),
];

/// The bits by the letter that may end the name of an instruction.
fn bits_of(letter: &str) -> Option<i64> {
    Some(match letter {
        "b" => 8,
        "w" => 16,
        "l" => 32,
        "q" => 64,
        _ => return None,
    })
}

/// What an instruction does, and the bits of its operands if its name says so.
pub fn form(word: &str) -> Option<(Form, Option<i64>)> {
    let shorter = |word: &'_ str| {
        let at = word.len().checked_sub(1)?;
        Some((word.get(..at)?.to_owned(), bits_of(word.get(at..)?)?))
    };
    let named = |word: &str| TABLE.iter().find(|(name, _)| *name == word).map(|f| f.1);
    if let Some(form) = named(word) {
        return Some((form, None));
    }
    for (prefix, signed) in [("movz", false), ("movs", true)] {
        let Some(sizes) = word.strip_prefix(prefix) else {
            continue;
        };
        let letters: Vec<Option<i64>> = sizes
            .split("")
            .filter(|letter| !letter.is_empty())
            .map(bits_of)
            .collect();
        let to = match letters[..] {
            [Some(8 | 16 | 32)] => None,
            [Some(from), Some(to)] if from < to => Some(to),
            _ => continue,
        };
        let bits = letters[0]?;
        // movl clears the upper bits anyway: there is no movzl
        if signed || bits < 32 {
            return Some((Form::Extend { bits, signed }, to));
        }
    }
    if let Some(code) = word.strip_prefix("set").and_then(flags::condition) {
        return Some((Form::SetIf(code), Some(8)));
    }
    let conditional = word.strip_prefix("cmov");
    if let Some(code) = conditional.and_then(flags::condition) {
        return Some((Form::MoveIf(code), None));
    }
    let (name, bits) = shorter(word)?;
    if let Some(code) = name.strip_prefix("cmov").and_then(flags::condition) {
        return Some((Form::MoveIf(code), Some(bits)));
    }
    named(&name).map(|form| (form, Some(bits)))
}
