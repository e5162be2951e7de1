//! Operations on rows of bits, in existing memory.
//!
//! A set of `n` events is `stride` words; a relation is `n` such rows, one after another.
//! `stride` is 1 up to 64 events. The bits of events from `n` on are 0. Each function
//! overwrites `out` with its result and returns whether it is non-empty.
use super::set::Bits;

/// Compiles a body for each of the usual strides, so that the loops over the words of a row are
/// unrolled, and once for all others.
#[macro_export]
macro_rules! by_stride {
    ($stride:ident, $body:expr) => {
        match $stride {
            1 => {
                let $stride = 1;
                $body
            }
            2 => {
                let $stride = 2;
                $body
            }
            3 => {
                let $stride = 3;
                $body
            }
            4 => {
                let $stride = 4;
                $body
            }
            _ => $body,
        }
    };
}

/// The number of words in a row over `n` events.
#[inline]
pub fn stride(n: usize) -> usize {
    n.div_ceil(64).max(1)
}

/// Every event.
#[inline]
pub fn full_set(n: usize, out: &mut [u64]) {
    for (index, word) in out.iter_mut().enumerate() {
        *word = super::set::mask(n, index);
    }
}

/// Every pair of `n` events.
pub fn full(n: usize, out: &mut [u64]) {
    let stride = stride(n);
    by_stride!(
        stride,
        out.chunks_exact_mut(stride)
            .for_each(|row| full_set(n, row))
    );
}

/// Adds the elements of `a`.
#[inline]
pub fn unite(a: &[u64], out: &mut [u64]) {
    for (word, more) in out.iter_mut().zip(a) {
        *word |= more;
    }
}

pub fn intersection(a: &[u64], b: &[u64], out: &mut [u64]) -> bool {
    words(a, b, out, |a, b| a & b)
}

pub fn difference(a: &[u64], b: &[u64], out: &mut [u64]) -> bool {
    words(a, b, out, |a, b| a & !b)
}

fn words(a: &[u64], b: &[u64], out: &mut [u64], op: impl Fn(u64, u64) -> u64) -> bool {
    let mut any = 0;
    for ((word, a), b) in out.iter_mut().zip(a).zip(b) {
        *word = op(*a, *b);
        any |= *word;
    }
    any != 0
}

/// The events that are not in a set; for a relation, the pairs that are not in it.
pub fn complement(n: usize, stride: usize, a: &[u64], out: &mut [u64]) -> bool {
    let mut any = 0;
    let rows = out.chunks_exact_mut(stride).zip(a.chunks_exact(stride));
    for (out, a) in rows {
        for (index, (word, a)) in out.iter_mut().zip(a).enumerate() {
            *word = !a & super::set::mask(n, index);
            any |= *word;
        }
    }
    any != 0
}

/// Whether `item` is in a set.
#[inline]
pub fn has(set: &[u64], item: usize) -> bool {
    set[item / 64] >> (item % 64) & 1 == 1
}

/// Every pair of an event of `from` and one of `to`.
pub fn product(stride: usize, from: &[u64], to: &[u64], out: &mut [u64]) -> bool {
    by_stride!(stride, product_of(stride, from, to, out))
}

#[inline(always)]
fn product_of(stride: usize, from: &[u64], to: &[u64], out: &mut [u64]) -> bool {
    for (item, row) in out.chunks_exact_mut(stride).enumerate() {
        if has(from, item) {
            row.copy_from_slice(to);
        } else {
            row.fill(0);
        }
    }
    some(from) && some(to)
}

/// Whether a set or relation is non-empty.
#[inline]
pub fn some(a: &[u64]) -> bool {
    a.iter().any(|word| *word != 0)
}

/// The pairs of each event of a set with itself.
pub fn identity(stride: usize, set: &[u64], out: &mut [u64]) -> bool {
    let mut any = 0;
    out.fill(0);
    for (item, row) in out.chunks_exact_mut(stride).enumerate() {
        let word = set[item / 64] & 1 << (item % 64);
        row[item / 64] = word;
        any |= word;
    }
    any != 0
}

/// Adds the pair of each event with itself.
pub fn add_identity(stride: usize, out: &mut [u64]) {
    for (item, row) in out.chunks_exact_mut(stride).enumerate() {
        row[item / 64] |= 1 << (item % 64);
    }
}

/// The pairs a, c such that for some b the pair a, b is in the one and b, c in the other.
pub fn sequence(stride: usize, a: &[u64], b: &[u64], out: &mut [u64]) -> bool {
    by_stride!(stride, sequence_of(stride, a, b, out, false))
}

/// [`sequence`] with a relation that is transitive: what an event leads to need not be added for
/// another one that leads to this event.
pub fn sequence_with_transitive(stride: usize, a: &[u64], b: &[u64], out: &mut [u64]) -> bool {
    let any = by_stride!(stride, sequence_of(stride, a, b, out, true));
    debug_assert!({
        let mut all = vec![0; a.len()];
        sequence(stride, a, b, &mut all);
        all == *out
    });
    any
}

#[inline(always)]
fn sequence_of(stride: usize, a: &[u64], b: &[u64], out: &mut [u64], transitive: bool) -> bool {
    let mut any = 0;
    for (reached, row) in out.chunks_exact_mut(stride).zip(a.chunks_exact(stride)) {
        reached.fill(0);
        for (index, word) in row.iter().enumerate() {
            let mut left = match transitive {
                true => word & !reached[index],
                false => *word,
            };
            while left != 0 {
                let middle = index * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                unite(&b[middle * stride..][..stride], reached);
                if transitive {
                    left &= !reached[index];
                }
            }
        }
        any |= reached.iter().fold(0, |any, word| any | word);
    }
    any != 0
}

/// The pairs whose first event is in `from` and whose second is in `to`; an absent set restricts
/// nothing.
pub fn restrict(
    stride: usize,
    from: Option<&[u64]>,
    a: &[u64],
    to: Option<&[u64]>,
    out: &mut [u64],
) -> bool {
    by_stride!(stride, restrict_of(stride, from, a, to, out))
}

#[inline(always)]
fn restrict_of(
    stride: usize,
    from: Option<&[u64]>,
    a: &[u64],
    to: Option<&[u64]>,
    out: &mut [u64],
) -> bool {
    let mut any = 0;
    let rows = out.chunks_exact_mut(stride).zip(a.chunks_exact(stride));
    for (item, (out, row)) in rows.enumerate() {
        let kept = from.map_or(u64::MAX, |from| {
            0u64.wrapping_sub(u64::from(has(from, item)))
        });
        for (index, (word, a)) in out.iter_mut().zip(row).enumerate() {
            *word = a & kept & to.map_or(u64::MAX, |to| to[index]);
            any |= *word;
        }
    }
    any != 0
}

/// The pairs in reverse.
pub fn inverse(stride: usize, a: &[u64], out: &mut [u64]) {
    by_stride!(stride, inverse_of(stride, a, out))
}

/// Reverses each block of 64 by 64 events by its pairs, or as a whole if there are many.
#[inline(always)]
fn inverse_of(stride: usize, a: &[u64], out: &mut [u64]) {
    /// About as many pairs as take the time of [`transpose`].
    const MANY: u32 = 160;
    out.fill(0);
    for (block_row, from) in a.chunks(64 * stride).enumerate() {
        for block_column in 0..stride {
            let words = || from.iter().skip(block_column).step_by(stride);
            let pairs: u32 = words().map(|word| word.count_ones()).sum();
            let to = &mut out[block_column * 64 * stride..];
            if pairs < MANY {
                for (item, word) in words().enumerate() {
                    for to_item in Bits(*word) {
                        to[to_item * stride + block_row] |= 1 << item;
                    }
                }
                continue;
            }
            let mut block = [0; 64];
            block
                .iter_mut()
                .zip(words())
                .for_each(|(row, word)| *row = *word);
            transpose(&mut block);
            let rows = to.chunks_exact_mut(stride).zip(block);
            rows.for_each(|(row, word)| row[block_row] = word);
        }
    }
}

/// Mirrors 64 by 64 bits at the diagonal: exchanges ever smaller quarters (Warren, Hacker's Delight,
/// 7-3).
fn transpose(block: &mut [u64; 64]) {
    let (mut width, mut low) = (32, u64::MAX >> 32);
    while width > 0 {
        for pair in block.chunks_exact_mut(2 * width) {
            let (upper, lower) = pair.split_at_mut(width);
            for (one, other) in upper.iter_mut().zip(lower) {
                let exchanged = (*one >> width ^ *other) & low;
                *other ^= exchanged;
                *one ^= exchanged << width;
            }
        }
        width /= 2;
        low ^= low << width;
    }
}

/// The events that lead to some event.
pub fn domain(stride: usize, a: &[u64], out: &mut [u64]) {
    out.fill(0);
    for (item, row) in a.chunks_exact(stride).enumerate() {
        out[item / 64] |= u64::from(some(row)) << (item % 64);
    }
}

/// The events that some event leads to.
pub fn range(stride: usize, a: &[u64], out: &mut [u64]) {
    out.fill(0);
    a.chunks_exact(stride).for_each(|row| unite(row, out));
}

/// Whether no event leads to itself.
pub fn is_irreflexive(stride: usize, a: &[u64]) -> bool {
    let mut rows = a.chunks_exact(stride).enumerate();
    rows.all(|(item, row)| !has(row, item))
}

/// Whether a; b is irreflexive: no pair of the one has its reverse in the other.
pub fn is_sequence_irreflexive(stride: usize, a: &[u64], b: &[u64]) -> bool {
    let count = |a: &[u64]| a.iter().map(|word| word.count_ones()).sum::<u32>();
    let (fewer, more) = if count(a) <= count(b) { (a, b) } else { (b, a) };
    let irreflexive = by_stride!(stride, !some_reversed(stride, fewer, more));
    debug_assert_eq!(irreflexive, {
        let mut all = vec![0; a.len()];
        sequence(stride, a, b, &mut all);
        is_irreflexive(stride, &all)
    });
    irreflexive
}

#[inline(always)]
fn some_reversed(stride: usize, a: &[u64], b: &[u64]) -> bool {
    a.chunks_exact(stride).enumerate().any(|(from, row)| {
        let reverse = |to: usize| has(&b[to * stride..][..stride], from);
        let mut words = row.iter().enumerate();
        words.any(|(index, word)| Bits(*word).any(|to| reverse(index * 64 + to)))
    })
}

/// Makes a relation its own transitive closure.
pub fn close(stride: usize, rows: &mut [u64]) {
    let oracle = cfg!(debug_assertions).then(|| {
        let mut all = rows.to_vec();
        by_stride!(stride, close_any(stride, &mut all));
        all
    });
    let acyclic = match stride {
        1 => close_acyclic(rows),
        _ => by_stride!(stride, close_wide(stride, rows)),
    };
    if !acyclic {
        by_stride!(stride, close_any(stride, rows));
    }
    debug_assert!(oracle.is_none_or(|oracle| oracle == *rows));
}

/// Closes any relation: Warshall's algorithm, row by row.
#[inline(always)]
fn close_any(stride: usize, rows: &mut [u64]) {
    let mut through = vec![0; stride];
    for middle in 0..rows.len() / stride {
        through.copy_from_slice(&rows[middle * stride..][..stride]);
        if !some(&through) {
            continue;
        }
        for row in rows.chunks_exact_mut(stride) {
            let leads = 0u64.wrapping_sub(u64::from(has(row, middle)));
            for (word, more) in row.iter_mut().zip(&through) {
                *word |= more & leads;
            }
        }
    }
}

/// Closes the relation in depth-first postorder, each event after those it leads to. If there is a
/// cycle, returns false with only pairs of the closure added. Up to 64 events.
fn close_acyclic(rows: &mut [u64]) -> bool {
    depth_first(rows.len(), rows, &|rows, item| rows[item], &|rows, item| {
        let (mut all, mut left) = (rows[item], rows[item]);
        while left != 0 {
            let more = rows[left.trailing_zeros() as usize];
            left &= left - 1;
            left &= !more;
            all |= more;
        }
        rows[item] = all;
    })
}

/// [`close_acyclic`] for any number of events.
#[inline(always)]
fn close_wide(stride: usize, rows: &mut [u64]) -> bool {
    let Some(order) = postorder(stride, rows) else {
        return false;
    };
    let mut left = vec![0; stride];
    let mut all = vec![0; stride];
    let (left, all) = (&mut left[..stride], &mut all[..stride]);
    for item in order {
        let row = item as usize * stride;
        left.copy_from_slice(&rows[row..][..stride]);
        all.copy_from_slice(left);
        for word in 0..stride {
            while left[word] != 0 {
                let next = word * 64 + left[word].trailing_zeros() as usize;
                left[word] &= left[word] - 1;
                let more = &rows[next * stride..][..stride];
                for (index, more) in more.iter().enumerate() {
                    left[index] &= !more;
                    all[index] |= more;
                }
            }
        }
        rows[row..][..stride].copy_from_slice(all);
    }
    true
}

/// Visits a graph of up to 64 events depth first and leaves each event after those it leads to;
/// returns false as soon as there is a cycle.
#[inline(always)]
fn depth_first<R: ?Sized>(
    n: usize,
    rows: &mut R,
    row: &impl Fn(&R, usize) -> u64,
    leave: &impl Fn(&mut R, usize),
) -> bool {
    let (mut done, mut open) = (0u64, 0u64);
    let mut path = [0u8; 64];
    for start in 0..n {
        if done >> start & 1 == 1 {
            continue;
        }
        let mut depth = 0;
        path[0] = start as u8;
        open |= 1 << start;
        loop {
            let top = path[depth] as usize;
            let reached = row(rows, top);
            if reached & open != 0 {
                return false;
            }
            let next = reached & !done;
            if next != 0 {
                let next = next.trailing_zeros() as usize;
                depth += 1;
                path[depth] = next as u8;
                open |= 1 << next;
                continue;
            }
            leave(rows, top);
            open &= !(1 << top);
            done |= 1 << top;
            if depth == 0 {
                break;
            }
            depth -= 1;
        }
    }
    true
}

/// The events that lead to others, each after those it leads to; none if there is a cycle.
#[inline(always)]
fn postorder(stride: usize, rows: &[u64]) -> Option<Vec<u32>> {
    let n = rows.len() / stride;
    let (mut done, mut open) = (vec![0; stride], vec![0; stride]);
    let (done, open) = (&mut done[..stride], &mut open[..stride]);
    for (item, row) in rows.chunks_exact(stride).enumerate() {
        done[item / 64] |= u64::from(!some(row)) << (item % 64);
    }
    let mut order = Vec::with_capacity(n);
    let mut path = Vec::new();
    // most pairs lead to later events, which are left then
    for start in (0..n).rev() {
        let mut next = (!has(done, start)).then_some(start);
        loop {
            if let Some(item) = next {
                open[item / 64] |= 1 << (item % 64);
                path.push(item);
            }
            let Some(top) = path.last().copied() else {
                break;
            };
            next = None;
            let mut back = 0;
            let row = &rows[top * stride..][..stride];
            for (index, word) in row.iter().enumerate().rev() {
                back |= word & open[index];
                let fresh = word & !done[index];
                if fresh != 0 {
                    next = Some(index * 64 + fresh.trailing_zeros() as usize);
                }
            }
            if back != 0 {
                return None;
            }
            if next.is_none() {
                open[top / 64] &= !(1 << (top % 64));
                done[top / 64] |= 1 << (top % 64);
                order.push(top as u32);
                path.pop();
            }
        }
    }
    Some(order)
}

/// Whether no path leads from an event to itself.
pub fn is_acyclic(stride: usize, rows: &[u64]) -> bool {
    let mut rows = rows;
    match stride {
        1 => depth_first(rows.len(), &mut rows, &|rows, item| rows[item], &|_, _| {}),
        _ => by_stride!(stride, postorder(stride, rows).is_some()),
    }
}
