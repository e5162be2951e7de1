//! Comparing bytes and texts, and searching them (C11, 7.24.4 to 7.24.6).
//!
//! Bytes are read one by one, and none after the one that decides the result.
use super::operations::Library;
use crate::interpreter::environment::ExternCall;
use crate::interpreter::outcome::{Outcome, RunEnd};
use crate::interpreter::thread::Thread;
use crate::ir::instruction::BytesOp;
use crate::memory::value::Val;

/// Longer texts are refused: one without an end would never be found out.
const MAX_BYTES: u64 = 1 << 16;

/// Performs the call; the result depends on all bytes read.
pub fn perform<'p, L: Library<'p>>(
    l: &mut L,
    t: &mut Thread,
    call: &ExternCall,
    op: BytesOp,
) -> Result<Val, L::Interruption> {
    let (a, b, limit) = (call.arg(0), call.arg(1), call.arg(2));
    let wanted = b.bits as u8;
    let most = match op {
        BytesOp::Memcmp | BytesOp::Memchr | BytesOp::Strncmp => limit.bits,
        BytesOp::Strnlen => b.bits,
        BytesOp::Strlen | BytesOp::Strcmp | BytesOp::Strchr => u64::MAX,
    };
    let mut dep = l.union(a.dep, b.dep);
    dep = l.union(dep, limit.dep);
    for k in 0..most {
        if k >= MAX_BYTES {
            let message = format!("a text of more than {MAX_BYTES} bytes");
            return Err(RunEnd::new(Outcome::Bound, message, Some(call.site)).into());
        }
        let byte = l.byte(t, call, a.bits.wrapping_add(k))?;
        dep = l.union(dep, byte.dep);
        let byte = byte.bits as u8;
        let found = match op {
            BytesOp::Memcmp | BytesOp::Strcmp | BytesOp::Strncmp => {
                let other = l.byte(t, call, b.bits.wrapping_add(k))?;
                dep = l.union(dep, other.dep);
                let other = other.bits as u8;
                let ends = byte == 0 && op != BytesOp::Memcmp;
                let difference = i32::from(byte) - i32::from(other);
                (difference != 0 || ends).then_some(u64::from(difference as u32))
            }
            BytesOp::Memchr | BytesOp::Strchr if byte == wanted => Some(a.bits.wrapping_add(k)),
            BytesOp::Strchr => (byte == 0).then_some(0),
            BytesOp::Strlen | BytesOp::Strnlen => (byte == 0).then_some(k),
            BytesOp::Memchr => None,
        };
        if let Some(bits) = found {
            return Ok(Val::new(bits, dep));
        }
    }
    let bits = match op {
        BytesOp::Strnlen => most,
        _ => 0,
    };
    Ok(Val::new(bits, dep))
}
