//! Which locations threads conflict on: only there does their order matter.
use crate::memory::address_space::MAX_THREADS;
use rustc_hash::FxHashMap;

/// Which threads access what before they are joined. A location is hot when two threads conflict on
/// it; the search only branches there, since other accesses commute with every step of other
/// threads.
#[derive(Default)]
pub struct Footprint {
    touched: FxHashMap<(u64, u32), Touch>,
    /// Some location became hot since this was last reset.
    pub grown: bool,
    /// Treats every location as hot: no reduction, to test the reduction.
    #[cfg(test)]
    pub everything: bool,
}

#[derive(Default, Clone, Copy)]
struct Touch {
    readers: u64,
    writers: u64,
    hot: bool,
}

impl Footprint {
    pub fn hot(&self, address: u64, size: u32) -> bool {
        #[cfg(test)]
        if self.everything {
            return true;
        }
        self.touched.get(&(address, size)).is_some_and(|t| t.hot)
    }

    pub fn touch(&mut self, address: u64, size: u32, thread: usize, write: bool) {
        let bit = 1u64 << (thread % MAX_THREADS);
        let entry = self.touched.entry((address, size)).or_default();
        let mask = if write {
            &mut entry.writers
        } else {
            &mut entry.readers
        };
        if *mask & bit != 0 {
            return;
        }
        *mask |= bit;
        let end = address + u64::from(size);
        let now = *entry;
        let mut hot = now.hot;
        for ((other, length), touch) in &mut self.touched {
            if *other >= end || other + u64::from(*length) <= address {
                continue;
            }
            let all = (touch.readers | touch.writers) | (now.readers | now.writers);
            let writers = touch.writers | now.writers;
            // two threads, one of which writes
            if writers != 0 && all.count_ones() > 1 {
                if !touch.hot {
                    self.grown = true;
                }
                touch.hot = true;
                hot = true;
            }
        }
        if let Some(entry) = self.touched.get_mut(&(address, size)) {
            entry.hot |= hot;
        }
    }
}
