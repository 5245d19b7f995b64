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
pub(crate) struct LatencyEstimate {
    percent_of_dispatch_time: AtomicU32,
}

/// The pace of a tool, and how long it took to look at one of its calls.
#[derive(Debug)]
pub(super) struct Timed {
    pub(super) estimate: Arc<LatencyEstimate>,
    pub(super) dispatch_time: Duration,
}

/// Tools that take less than this are quick.
const QUICK_LIMIT: u32 = 800;
/// What a tool is taken for before anything is known of it.
const INITIAL_ESTIMATE: u32 = 4 * QUICK_LIMIT;
/// Whatever took longer than this took very long: after a pause that was not
/// its fault, a tool should be quick again in ten calls or so.
const MAX_SAMPLE: u32 = 40 * QUICK_LIMIT;
/// Looking at a call is taken to last as long as this, at least and at most.
const DISPATCH_TIME_RANGE: [Duration; 2] = [Duration::from_nanos(2500), Duration::from_micros(50)];

impl LatencyEstimate {
    fn is_quick(&self) -> bool {
        self.percent_of_dispatch_time.load(Ordering::Relaxed) < QUICK_LIMIT
    }
}

impl Timed {
    /// Whether the tool may run where its call was read.
    pub(super) fn is_quick(&self) -> bool {
        self.estimate.is_quick()
    }

    /// Takes into account how long the tool took this time.
    pub(super) fn record(&self, duration: Duration) {
        let dispatch_nanos = self
            .dispatch_time
            .clamp(DISPATCH_TIME_RANGE[0], DISPATCH_TIME_RANGE[1])
            .as_nanos();
        let duration = u32::try_from(duration.as_nanos() * 100 / dispatch_nanos);
        let duration = duration.map_or(MAX_SAMPLE, |duration| duration.min(MAX_SAMPLE));
        let average = &self.estimate.percent_of_dispatch_time;
        let before = average.load(Ordering::Relaxed);
        // Two at once may overwrite each other; an average gets over that.
        average.store(before - before / 4 + duration / 4, Ordering::Relaxed);
    }
}

impl Default for LatencyEstimate {
    fn default() -> Self {
        Self {
            percent_of_dispatch_time: AtomicU32::new(INITIAL_ESTIMATE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(calls: u32, duration: Duration) -> Timed {
        let timed = Timed {
            estimate: Arc::default(),
            dispatch_time: Duration::from_micros(1),
        };
        (0..calls).for_each(|_| timed.record(duration));
        timed
    }

    #[test]
    fn a_tool_is_slow_until_it_was_quick_for_some_time() {
        let duration = Duration::from_micros(2);
        assert!(!after(0, duration).is_quick());
        assert!(!after(2, duration).is_quick());
        assert!(after(8, duration).is_quick());
    }

    #[test]
    fn one_slow_call_is_enough_to_be_slow() {
        let timed = after(100, Duration::from_micros(2));
        timed.record(Duration::from_secs(5));
        assert!(!timed.is_quick());
        (0..20).for_each(|_| timed.record(Duration::from_micros(2)));
        assert!(timed.is_quick(), "and it is forgotten");
    }

    #[test]
    fn what_always_takes_long_stays_slow() {
        assert!(!after(1000, Duration::from_micros(50)).is_quick());
        let mut large = after(0, Duration::ZERO);
        large.dispatch_time = Duration::from_secs(1);
        (0..1000).for_each(|_| large.record(Duration::from_millis(1)));
        assert!(
            !large.is_quick(),
            "however long it took to look at the call"
        );
    }
}
