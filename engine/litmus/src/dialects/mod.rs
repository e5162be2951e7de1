//! The dialects: the table in which `Test::parse` looks for the first word of a test. Adding one
//! is a file with a `Dialect` and an entry here.

mod aarch64;
pub mod c;
mod ppc;
mod riscv;
mod x86;

use super::dialect::Dialect;

pub static DIALECTS: [&Dialect; 6] = [
    &c::C,
    &x86::X86,
    &x86::X86_64,
    &aarch64::AARCH64,
    &ppc::PPC,
    &riscv::RISCV,
];

pub fn named(name: &str) -> Option<&'static Dialect> {
    DIALECTS.into_iter().find(|dialect| dialect.name == name)
}
