//! What is seen under the lock of a connection, until it is shown to those who
//! look on: the same for clients and servers.
//!
//! They are the application's code: an observer, or a subscriber of `tracing`.
//! Whoever unlocks the connection shows them what was seen meanwhile, one
//! thread at a time, so that they see everything in order. What is seen while
//! somebody shows something waits for its turn, also if it is the code of those
//! who look on that brought it about. What waits is bounded, and so is what one
//! thread shows before it gets back to its own work.

use std::{collections::VecDeque, mem};

/// How many observations wait at most.
const MAX_WAITING: usize = 8192;
/// How many bytes they take at most, about.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// How many are shown in one turn.
const MAX_PER_TURN: usize = 256;
/// How many are shown by whoever finds that there is nobody to leave them to.
pub(crate) const MAX_AT_END: usize = 2 * MAX_WAITING;

/// Something that was seen.
pub(crate) trait Observed: Sized {
    /// Cuts texts that are longer than is worth keeping. Says how many bytes
    /// they take then.
    fn cut(&mut self) -> usize;

    /// What is shown in place of so many that were lost, of which this is the
    /// last.
    fn lost(&self, count: usize) -> Self;
}

/// What was seen and not shown yet.
pub(crate) struct Observations<T> {
    waiting: VecDeque<Waiting<T>>,
    bytes: usize,
    /// How many there was no room for since the last that waits, and what is
    /// shown in their place.
    lost: Option<(usize, T)>,
    /// Whether somebody is showing what was seen before.
    showing: bool,
    /// A list to show from, so that nobody has to ask for memory.
    spare: Vec<T>,
}

struct Waiting<T> {
    seen: T,
    bytes: usize,
}

impl<T> Default for Observations<T> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: 0,
            lost: None,
            showing: false,
            spare: Vec::new(),
        }
    }
}

impl<T: Observed> Observations<T> {
    /// Keeps what was seen until it is shown; what there is no room for is
    /// counted.
    pub(crate) fn push(&mut self, mut seen: T) {
        let bytes = size_of::<Waiting<T>>() + seen.cut();
        if self.waiting.len() >= MAX_WAITING || self.bytes + bytes > MAX_BYTES {
            let count = self.lost.take().map_or(0, |(count, _)| count) + 1;
            self.lost = Some((count, seen.lost(count)));
            return;
        }
        // In their place.
        if let Some((_, lost)) = self.lost.take() {
            self.keep(lost, size_of::<Waiting<T>>());
        }
        self.keep(seen, bytes);
    }

    fn keep(&mut self, seen: T, bytes: usize) {
        self.bytes += bytes;
        self.waiting.push_back(Waiting { seen, bytes });
    }

    /// Takes what is to be shown in one turn, unless somebody else shows
    /// something.
    pub(crate) fn begin(&mut self, turn: &mut Vec<T>) {
        if self.waiting.is_empty() || self.showing {
            return;
        }
        self.showing = true;
        if turn.capacity() == 0 {
            mem::swap(turn, &mut self.spare);
        }
        let most = MAX_PER_TURN.min(self.waiting.len());
        for Waiting { seen, bytes } in self.waiting.drain(..most) {
            self.bytes -= bytes;
            turn.push(seen);
        }
        if self.waiting.is_empty() {
            turn.extend(self.lost.take().map(|(_, lost)| lost));
        }
    }

    /// All of a turn was shown. Says whether more waits.
    pub(crate) fn end(&mut self, turn: &mut Vec<T>) -> bool {
        turn.clear();
        self.showing = false;
        self.spare = mem::take(turn);
        !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    enum Seen {
        Number(usize),
        Text(String),
        Lost(usize),
    }

    impl Observed for Seen {
        fn cut(&mut self) -> usize {
            match self {
                Self::Text(text) => text.len(),
                Self::Number(_) | Self::Lost(_) => 0,
            }
        }

        fn lost(&self, count: usize) -> Self {
            Self::Lost(count)
        }
    }

    /// Shows one turn.
    fn show(observations: &mut Observations<Seen>) -> (Vec<Seen>, bool) {
        let mut turn = Vec::new();
        observations.begin(&mut turn);
        let shown = mem::take(&mut turn);
        (shown, observations.end(&mut turn))
    }

    #[test]
    fn a_turn_is_bounded_and_the_rest_is_shown_in_order() {
        let mut observations = Observations::default();
        (0..600).for_each(|number| observations.push(Seen::Number(number)));
        let mut shown = Vec::new();
        for (size, has_more) in [(256, true), (256, true), (88, false)] {
            let (turn, more) = show(&mut observations);
            assert_eq!((turn.len(), more), (size, has_more));
            shown.extend(turn);
        }
        assert!(shown.into_iter().eq((0..600).map(Seen::Number)));
        assert_eq!(show(&mut observations), (Vec::new(), false));
        assert_eq!(observations.bytes, 0);
    }

    #[test]
    fn what_there_is_no_room_for_is_counted_where_it_was_lost() {
        let mut observations = Observations::default();
        let all = MAX_WAITING + 10;
        (0..all).for_each(|number| observations.push(Seen::Number(number)));
        let (mut shown, _) = show(&mut observations);
        // There is room again.
        observations.push(Seen::Number(all));
        loop {
            let (turn, more) = show(&mut observations);
            shown.extend(turn);
            if !more {
                break;
            }
        }
        let expected = (0..MAX_WAITING).map(Seen::Number);
        let expected = expected.chain([Seen::Lost(10), Seen::Number(all)]);
        assert!(shown.into_iter().eq(expected));
    }

    #[test]
    fn that_the_last_ones_were_lost_is_told_too() {
        let mut observations = Observations::default();
        (0..=MAX_WAITING).for_each(|number| observations.push(Seen::Number(number)));
        let mut last = None;
        loop {
            let (turn, more) = show(&mut observations);
            last = turn.into_iter().next_back().or(last);
            if !more {
                break;
            }
        }
        assert_eq!(last, Some(Seen::Lost(1)));
    }

    #[test]
    fn what_waits_is_bounded_by_its_bytes_too() {
        let mut observations = Observations::default();
        let text = "x".repeat(MAX_BYTES / 4);
        (0..8).for_each(|_| observations.push(Seen::Text(text.clone())));
        assert!(observations.bytes <= MAX_BYTES);
        let (shown, _) = show(&mut observations);
        assert_eq!(shown.len(), 4, "three that wait, and that five were lost");
        assert_eq!(shown[3], Seen::Lost(5));
    }

    #[test]
    fn one_thread_shows_at_a_time() {
        let mut observations = Observations::default();
        observations.push(Seen::Number(1));
        let (mut mine, mut theirs) = (Vec::new(), Vec::new());
        observations.begin(&mut mine);
        observations.push(Seen::Number(2));
        observations.begin(&mut theirs);
        assert_eq!((mine.len(), theirs.len()), (1, 0));
        assert!(observations.end(&mut mine), "the second one waits");
    }
}
