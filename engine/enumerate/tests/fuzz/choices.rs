//! Takes choices from bytes: a generator turns any bytes into a text, and fewer bytes into a shorter
//! text, so that failing inputs shrink.

pub struct Choices<'b> {
    bytes: &'b [u8],
}

impl Choices<'_> {
    pub fn new(bytes: &[u8]) -> Choices<'_> {
        Choices { bytes }
    }

    /// A number below `count`; 0 when there are no more bytes.
    pub fn below(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        usize::from(*first) % count.max(1)
    }

    pub fn of<'i>(&mut self, items: &[&'i str]) -> &'i str {
        items[self.below(items.len())]
    }

    /// True once in `times`; never when there are no more bytes.
    pub fn rarely(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub fn done(&self) -> bool {
        self.bytes.is_empty()
    }
}
