//! How long tools hold the thread that they run on.
//!
//! A task of its own for each call lets calls run at the same time, on as many
//! threads as there are. To a tool that is done at once, though, it costs more
//! than the tool does. So tools that have been quick run where their call was
//! read, and whatever is not done then goes on in a task. A tool is taken for
//! slow until it was seen to be quick, and again as soon as it is not: one that
//! blocks must not keep its client's other calls waiting.
//!
//! Quick is what takes not much longer than it took to look at the call, which
//! had to be done there in any case. So it means the same on every machine.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

/// How long a tool held its thread lately, on average: in hundredths of the
/// time that it took to look at its calls.
#[derive(Debug)]
pub(crate) struct Pace {
    hundredths: AtomicU32,
}

/// The pace of a tool, and how long it took to look at one of its calls.
#[derive(Debug)]
pub(super) struct Paced {
    pub(super) pace: Arc<Pace>,
    pub(super) look: Duration,
}

/// Tools that take less than this are quick.
const QUICK: u32 = 800;
/// What a tool is taken for before anything is known of it.
const UNKNOWN: u32 = 4 * QUICK;
/// Whatever took longer than this took very long: after a pause that was not
/// its fault, a tool should be quick again in ten calls or so.
const LONGEST: u32 = 40 * QUICK;
/// Looking at a call is taken to last as long as this, at least and at most.
const LOOK: [Duration; 2] = [Duration::from_nanos(2500), Duration::from_micros(50)];

impl Pace {
    fn is_quick(&self) -> bool {
        self.hundredths.load(Ordering::Relaxed) < QUICK
    }
}

impl Paced {
    /// Whether the tool may run where its call was read.
    pub(super) fn is_quick(&self) -> bool {
        self.pace.is_quick()
    }

    /// Takes into account how long the tool took this time.
    pub(super) fn note(&self, took: Duration) {
        let look = self.look.clamp(LOOK[0], LOOK[1]).as_nanos();
        let took = u32::try_from(took.as_nanos() * 100 / look);
        let took = took.map_or(LONGEST, |took| took.min(LONGEST));
        let average = &self.pace.hundredths;
        let before = average.load(Ordering::Relaxed);
        // Two at once may overwrite each other; an average gets over that.
        average.store(before - before / 4 + took / 4, Ordering::Relaxed);
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            hundredths: AtomicU32::new(UNKNOWN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(calls: u32, took: Duration) -> Paced {
        let paced = Paced {
            pace: Arc::default(),
            look: Duration::from_micros(1),
        };
        (0..calls).for_each(|_| paced.note(took));
        paced
    }

    #[test]
    fn a_tool_is_slow_until_it_was_quick_for_some_time() {
        let took = Duration::from_micros(2);
        assert!(!after(0, took).is_quick());
        assert!(!after(2, took).is_quick());
        assert!(after(8, took).is_quick());
    }

    #[test]
    fn one_slow_call_is_enough_to_be_slow() {
        let paced = after(100, Duration::from_micros(2));
        paced.note(Duration::from_secs(5));
        assert!(!paced.is_quick());
        (0..20).for_each(|_| paced.note(Duration::from_micros(2)));
        assert!(paced.is_quick(), "and it is forgotten");
    }

    #[test]
    fn what_always_takes_long_stays_slow() {
        assert!(!after(1000, Duration::from_micros(50)).is_quick());
        let mut large = after(0, Duration::ZERO);
        large.look = Duration::from_secs(1);
        (0..1000).for_each(|_| large.note(Duration::from_millis(1)));
        assert!(
            !large.is_quick(),
            "however long it took to look at the call"
        );
    }
}
