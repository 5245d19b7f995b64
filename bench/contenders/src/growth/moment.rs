//! Time by the clock, and time at work.

use std::time::{Duration, Instant};

use crate::{Failure, process::Process};

/// A moment, by the clock and by the work that was done until then.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    clock: Instant,
    cpu: Duration,
}

/// What lies between two moments.
#[derive(Clone, Copy)]
pub(crate) struct Spent {
    /// By the clock.
    pub(crate) seconds: f64,
    /// On all cores together.
    pub(crate) cpu: f64,
}

impl Moment {
    /// Now.
    pub(crate) fn now() -> Result<Self, Failure> {
        Ok(Self {
            clock: Instant::now(),
            cpu: Process::own().cpu()?,
        })
    }

    /// What has been spent since.
    pub(crate) fn spent(self) -> Result<Spent, Failure> {
        let seconds = self.clock.elapsed().as_secs_f64();
        let cpu = Process::own().cpu()?.saturating_sub(self.cpu).as_secs_f64();
        Ok(Spent { seconds, cpu })
    }
}
