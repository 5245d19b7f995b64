//! What a run must keep to, in numbers.
//!
//! The tests of the crate read this file too, so it uses nothing of the others.

use std::time::Duration;

/// How many times as long as alone an honest call may take, by the median.
const MAX_SLOWDOWN: f64 = 2.0;
/// By which part of itself memory may grow from the first quarter to the last,
/// and by how many KiB beside that. An allocator does not give back all at
/// once; what leaks in every visit comes to much more.
const MAX_GROWTH: f64 = 0.125;
const MAX_GROWTH_KIB: u64 = 4096;
/// The part of a run, one in so many, in which tables and pools are filled.
const WARM_UP: usize = 8;

/// What was measured in a run.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// The memory of the process under test, in KiB, at equal intervals;
    /// `None` where there was no such process any more.
    pub(crate) memory: Vec<Option<u64>>,
    /// The medians of honest calls, alone and amid the others.
    pub(crate) usual: Duration,
    pub(crate) amid: Duration,
    /// How many honest calls there were amid the others.
    pub(crate) honest_calls: usize,
    /// What must never happen, and did.
    pub(crate) broken: Vec<String>,
}

impl Measured {
    /// What is wrong; nothing, where the run was passed.
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

/// What is wrong with the memory of the process under test.
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

/// The peaks of the first and the last quarter of what comes after the warm-up.
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
