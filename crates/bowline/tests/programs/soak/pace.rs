//! Limits the CPU time of the attackers.
//!
//! The run measures the work they cause. On a machine with few cores, an attack
//! that uses all of them would measure the machine instead.

use std::{
    process,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use super::figures::processor_time;
use crate::sync::lock;

/// The share of all attackers together: half a core.
pub(crate) const HOSTILE_SHARE: f64 = 0.5;

/// The maximum burst after a pause.
const MAX_CREDIT: Duration = Duration::from_millis(20);

/// Limits this process to a share of a core.
pub(crate) struct Pace {
    share: f64,
    state: Mutex<State>,
}

struct State {
    looked: Instant,
    used: Duration,
    /// Seconds of CPU time above the share; below it if negative.
    debt: f64,
}

impl Pace {
    pub(crate) fn new(share: f64) -> Self {
        let state = State {
            looked: Instant::now(),
            used: Duration::ZERO,
            debt: 0.0,
        };
        Self {
            share,
            state: Mutex::new(state),
        }
    }

    /// Waits if this process has used more than its share.
    pub(crate) fn rest(&self) {
        let until = Instant::now() + self.due();
        // The wait may end early.
        while let Some(rest) = until.checked_duration_since(Instant::now()) {
            thread::park_timeout(rest);
        }
    }

    /// Like [`rest`](Self::rest), for tasks.
    pub(crate) async fn rest_async(&self) {
        tokio::time::sleep(self.due()).await;
    }

    fn due(&self) -> Duration {
        let used = processor_time(process::id()).unwrap_or_default();
        let mut state = lock(&self.state);
        let earned = state.looked.elapsed().as_secs_f64() * self.share;
        let spent = used.saturating_sub(state.used).as_secs_f64();
        state.debt = (state.debt + spent - earned).max(-MAX_CREDIT.as_secs_f64());
        state.looked = Instant::now();
        state.used = used;
        Duration::from_secs_f64(state.debt.max(0.0) / self.share)
    }
}
