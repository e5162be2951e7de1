//! The condition flags of AArch64: N, Z, C and V are the bits 3 to 0 of a value.

const N: i64 = 8;
pub const Z: i64 = 4;
pub const C: i64 = 2;
pub const V: i64 = 1;

/// In the code of a condition: the carry flag is set when a subtraction borrows, as on x86.
pub const INVERTED_CARRY: i64 = 16;

fn of_result(result: i64) -> i64 {
    if result < 0 {
        N
    } else if result == 0 {
        Z
    } else {
        0
    }
}

/// Those of `a + b`, as `AddWithCarry` in the Arm Architecture Reference Manual (shared/functions)
/// computes them for 64 bits.
pub fn of_sum(a: i64, b: i64) -> i64 {
    let (_, carry) = (a as u64).overflowing_add(b as u64);
    let (result, overflow) = a.overflowing_add(b);
    of_result(result) | if carry { C } else { 0 } | if overflow { V } else { 0 }
}

/// Those of `a - b`; the carry is set unless the subtraction borrows.
pub fn of_difference(a: i64, b: i64) -> i64 {
    let (result, overflow) = a.overflowing_sub(b);
    let carry = a as u64 >= b as u64;
    of_result(result) | if carry { C } else { 0 } | if overflow { V } else { 0 }
}

/// Those of comparing two addresses, as herd7 orders them.
pub fn of_addresses(order: std::cmp::Ordering) -> i64 {
    of_result(order as i64) | C
}

/// Those of a logical operation with a result of so many bits.
pub fn of_logic(result: i64, bits: i64) -> i64 {
    of_result(result << (64 - bits.clamp(1, 64)))
}

/// The conditions by their codes (`ConditionHolds` in the manual); an even code and the next one
/// are opposites.
pub const CONDITIONS: [&[&str]; 15] = [
    &["EQ"],
    &["NE"],
    &["CS", "HS"],
    &["CC", "LO"],
    &["MI"],
    &["PL"],
    &["VS"],
    &["VC"],
    &["HI"],
    &["LS"],
    &["GE"],
    &["LT"],
    &["GT"],
    &["LE"],
    &["AL"],
];

/// Whether the flags satisfy the condition of this code.
pub fn satisfy(flags: i64, code: i64) -> bool {
    let flags = match code & INVERTED_CARRY {
        0 => flags,
        _ => flags ^ C,
    };
    let code = code & !INVERTED_CARRY;
    let is = |flag: i64| flags & flag != 0;
    let even = match code >> 1 {
        0 => is(Z),
        1 => is(C),
        2 => is(N),
        3 => is(V),
        4 => is(C) && !is(Z),
        5 => is(N) == is(V),
        6 => is(N) == is(V) && !is(Z),
        _ => return true,
    };
    even != (code & 1 == 1)
}
