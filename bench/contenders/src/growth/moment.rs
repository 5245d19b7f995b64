//! Time by the clock, and time at work.

use std::{
    fs,
    time::{Duration, Instant},
};

use crate::Failure;

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
            cpu: cpu()?,
        })
    }

    /// What has been spent since.
    pub(crate) fn spent(self) -> Result<Spent, Failure> {
        let seconds = self.clock.elapsed().as_secs_f64();
        let cpu = cpu()?.saturating_sub(self.cpu).as_secs_f64();
        Ok(Spent { seconds, cpu })
    }
}

/// What all threads of this process have worked.
fn cpu() -> Result<Duration, Failure> {
    let failed = |error: std::io::Error| format!("/proc/self/task: {error}");
    let mut nanos = 0;
    for thread in fs::read_dir("/proc/self/task").map_err(failed)? {
        let path = thread.map_err(failed)?.path().join("schedstat");
        let text = fs::read_to_string(path).map_err(failed)?;
        let first = text.split_whitespace().next().unwrap_or_default();
        nanos += first.parse::<u64>().map_err(|error| error.to_string())?;
    }
    Ok(Duration::from_nanos(nanos))
}
