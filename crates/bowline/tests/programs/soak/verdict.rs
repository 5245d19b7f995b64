//! The limits a run must stay within.
//!
//! The tests of the crate also include this file, so it uses nothing of the
//! others.

use std::time::Duration;

/// The maximum ratio of the median latency of honest calls to that without
/// attack.
const MAX_SLOWDOWN: f64 = 2.0;
/// The maximum growth of memory from the first quarter to the last, relative,
/// plus a number of KiB. An allocator does not return everything at once; a
/// leak in every visit adds up to much more.
const MAX_GROWTH: f64 = 0.125;
const MAX_GROWTH_KIB: u64 = 4096;
/// The warm-up is one in this many parts of a run, in which tables and pools
/// fill.
const WARM_UP: usize = 8;

/// The measurements of a run.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// The memory of the process under test in KiB, at equal intervals; `None`
    /// once the process has exited.
    pub(crate) memory: Vec<Option<u64>>,
    /// The median latencies of honest calls, alone and during the attack.
    pub(crate) usual: Duration,
    pub(crate) amid: Duration,
    /// The number of honest calls during the attack.
    pub(crate) honest_calls: usize,
    /// The events that must never happen, but did.
    pub(crate) broken: Vec<String>,
}

impl Measured {
    /// Returns the violations; empty if the run passed.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = self.broken.clone();
        faults.extend(memory_fault(&self.memory));
        faults.extend(self.time_fault());
        faults
    }

    fn time_fault(&self) -> Option<String> {
        if self.honest_calls == 0 {
            return Some("no honest call was answered during the attack".to_owned());
        }
        let ratio = self.amid.as_secs_f64() / self.usual.as_secs_f64().max(f64::EPSILON);
        (ratio > MAX_SLOWDOWN).then(|| {
            format!(
                "honest calls take {:?} during the attack and {:?} alone (medians): \
                 {ratio:.2} times as long, and {MAX_SLOWDOWN} is allowed",
                self.amid, self.usual,
            )
        })
    }
}

/// Returns a violation by the memory of the process under test, if any.
pub(crate) fn memory_fault(readings: &[Option<u64>]) -> Option<String> {
    let Some(readings) = readings.iter().copied().collect::<Option<Vec<u64>>>() else {
        return Some("the process under test has died".to_owned());
    };
    let Some((first, last)) = quarter_peaks(&readings) else {
        return Some("the run is too short to say whether memory stays flat".to_owned());
    };
    let allowed = first + part(first, MAX_GROWTH) + MAX_GROWTH_KIB;
    (last > allowed).then(|| {
        format!(
            "memory grows: {first} KiB at most in the first quarter, {last} KiB in the last, \
             and {allowed} KiB are allowed"
        )
    })
}

/// Returns the peaks of the first and the last quarter after the warm-up.
pub(crate) fn quarter_peaks(readings: &[u64]) -> Option<(u64, u64)> {
    let settled = &readings[readings.len() / WARM_UP..];
    let quarter = settled.len() / 4;
    let first = settled[..quarter].iter().max()?;
    let last = settled[settled.len() - quarter..].iter().max()?;
    Some((*first, *last))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a limit need not be exact"
)]
fn part(of: u64, share: f64) -> u64 {
    (of as f64 * share) as u64
}
