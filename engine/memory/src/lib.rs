//! The global allocator: mimalloc, with a count of the memory that each thread has allocated. A
//! search uses it to respect its memory limit, independently of other threads.

use libmimalloc_sys::{mi_malloc, mi_realloc, mi_zalloc};
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::mem::align_of;

thread_local! {
    /// The bytes that this thread has allocated and not freed; negative if it has freed what
    /// other threads allocated.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// Bytes that this thread has allocated and not freed.
pub fn held() -> isize {
    HELD.try_with(Cell::get).unwrap_or(0)
}

/// Updates the count; a layout's size is at most `isize::MAX`.
fn count(allocated: usize, freed: usize) {
    let change = allocated as isize - freed as isize;
    let _ended = HELD.try_with(|held| held.set(held.get().wrapping_add(change)));
}

/// Whether mimalloc's functions without an alignment parameter suffice, which are faster: their
/// blocks are aligned to words.
fn plain(layout: Layout) -> bool {
    layout.align() <= align_of::<usize>()
}

/// mimalloc, counted.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// The trait is unsafe. Every call is forwarded to mimalloc unchanged; counting neither allocates
// nor accesses the memory.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        match plain(layout) {
            true => mi_malloc(layout.size()).cast(),
            false => MiMalloc.alloc(layout),
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        match plain(layout) {
            true => mi_zalloc(layout.size()).cast(),
            false => MiMalloc.alloc_zeroed(layout),
        }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(0, layout.size());
        MiMalloc.dealloc(at, layout);
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        match plain(layout) {
            true => mi_realloc(at.cast(), size).cast(),
            false => MiMalloc.realloc(at, layout, size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::held;

    #[test]
    fn the_memory_of_a_thread_is_counted_exactly() {
        let before = held();
        let mut list: Vec<u64> = Vec::with_capacity(1000);
        assert_eq!(held() - before, 8000);
        list.reserve_exact(3000);
        assert_eq!(held() - before, 24_000);
        drop(list);
        assert_eq!(held(), before);
    }

    #[test]
    fn another_threads_memory_is_not_counted() {
        let before = held();
        let elsewhere = std::thread::spawn(|| {
            // the closure itself was allocated by the other thread
            let before = held();
            let list = vec![0u8; 1 << 20];
            let grown = held() - before;
            drop(list);
            grown
        });
        assert_eq!(elsewhere.join().unwrap_or(0), 1 << 20);
        assert!(held() - before < 1 << 16);
    }
}
