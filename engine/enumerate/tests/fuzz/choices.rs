//! Bytes as choices: a generator that asks for them makes a text of any bytes, and of fewer bytes
//! a shorter text, so that what fails shrinks.

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

    /// Once in so many times; never when there are no more bytes.
    pub fn rarely(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub fn done(&self) -> bool {
        self.bytes.is_empty()
    }
}
