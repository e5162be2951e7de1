//! Hash functions for memory and for the state of a loop.

/// Zobrist hashing: each byte contributes independently of the others; a zero contributes nothing.
pub fn mixed(address: u64, byte: u8) -> u64 {
    if byte == 0 {
        return 0;
    }
    scatter(address ^ (u64::from(byte) << 56))
}

/// Splitmix64's finaliser: every bit of the result depends on every bit of the argument.
pub fn scatter(x: u64) -> u64 {
    let mut x = x ^ 0x9e37_79b9_7f4a_7c15;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
