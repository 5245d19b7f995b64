//! Cutting what is read into lines, without copying them.

/// How much room there is for a read, at least.
const ROOM: usize = 256 * 1024;

/// What was read and is not yet done with.
pub(crate) struct Lines {
    bytes: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// No line ends between the start and here.
    seen: usize,
    /// Where the next read goes.
    end: usize,
}

impl Lines {
    pub(crate) fn new() -> Self {
        Self {
            bytes: vec![0; 2 * ROOM],
            start: 0,
            seen: 0,
            end: 0,
        }
    }

    /// Where to read to. Say [`filled`](Self::filled) afterwards.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.bytes.len() - self.end < ROOM && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.seen -= self.start;
            self.start = 0;
        }
        if self.bytes.len() - self.end < ROOM {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// So many bytes were read.
    pub(crate) fn filled(&mut self, count: usize) {
        self.end += count;
    }

    /// The next line that is whole.
    pub(crate) fn next(&mut self) -> Option<&[u8]> {
        match memchr::memchr(b'\n', &self.bytes[self.seen..self.end]) {
            Some(found) => {
                let line = self.start..self.seen + found;
                self.start = line.end + 1;
                self.seen = self.start;
                Some(&self.bytes[line])
            }
            None => {
                self.seen = self.end;
                if self.start == self.end {
                    (self.start, self.seen, self.end) = (0, 0, 0);
                }
                None
            }
        }
    }
}
