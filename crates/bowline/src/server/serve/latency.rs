//! Measures how long tools block their thread.
//!
//! A separate task for each call runs calls in parallel on all threads. For a
//! tool that finishes at once, though, the task costs more than the tool. So
//! tools that have been quick run where their call was read, and continue in a
//! task if they are not done. A tool is considered slow until it was measured
//! as quick, and again as soon as it is not: one that blocks must not delay its
//! client's other calls.
//!
//! A tool is quick if it does not take much longer than dispatching the call,
//! which has to be done there in any case. So the threshold scales with the
//! machine.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

/// The recent average time a tool blocked its thread, in hundredths of the time
/// to dispatch its calls.
#[derive(Debug)]
pub(crate) struct LatencyEstimate {
    percent_of_dispatch_time: AtomicU32,
}

/// The estimate of a tool, and the time one of its calls took to dispatch.
#[derive(Debug)]
pub(super) struct Timed {
    pub(super) estimate: Arc<LatencyEstimate>,
    pub(super) dispatch_time: Duration,
}

/// Tools below this are quick.
const QUICK_LIMIT: u32 = 800;
/// The estimate before anything is measured.
const INITIAL_ESTIMATE: u32 = 4 * QUICK_LIMIT;
/// The maximum of a sample: after a pause that was not its fault, a tool should
/// be quick again in about ten calls.
const MAX_SAMPLE: u32 = 40 * QUICK_LIMIT;
/// The minimum and maximum assumed for dispatching a call.
const DISPATCH_TIME_RANGE: [Duration; 2] = [Duration::from_nanos(2500), Duration::from_micros(50)];

impl LatencyEstimate {
    fn is_quick(&self) -> bool {
        self.percent_of_dispatch_time.load(Ordering::Relaxed) < QUICK_LIMIT
    }
}

impl Timed {
    /// Returns whether the tool may run where its call was read.
    pub(super) fn is_quick(&self) -> bool {
        self.estimate.is_quick()
    }

    /// Records how long the tool took.
    pub(super) fn record(&self, duration: Duration) {
        let dispatch_nanos = self
            .dispatch_time
            .clamp(DISPATCH_TIME_RANGE[0], DISPATCH_TIME_RANGE[1])
            .as_nanos();
        let duration = u32::try_from(duration.as_nanos() * 100 / dispatch_nanos);
        let duration = duration.map_or(MAX_SAMPLE, |duration| duration.min(MAX_SAMPLE));
        let average = &self.estimate.percent_of_dispatch_time;
        let before = average.load(Ordering::Relaxed);
        // Concurrent updates may overwrite each other; the average tolerates
        // that.
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
