//! Measurements of a run: outcomes of calls, latencies and memory.

use std::{
    collections::BTreeMap,
    fs,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use crate::sync::lock;

/// Counts of events, by name.
#[derive(Clone, Default)]
pub(crate) struct Tally(Arc<Mutex<Counts>>);

#[derive(Default)]
struct Counts {
    seen: BTreeMap<String, u64>,
    /// Events that must never happen.
    faults: BTreeMap<String, u64>,
}

impl Tally {
    pub(crate) fn count(&self, what: &str) {
        add(&mut self.counts().seen, what);
    }

    /// Counts an event that must never happen: the run fails.
    pub(crate) fn fault(&self, what: &str) {
        add(&mut self.counts().faults, what);
    }

    /// Returns the events that must never happen, but did.
    pub(crate) fn faults(&self) -> Vec<String> {
        let counts = self.counts();
        let faults = counts.faults.iter();
        faults
            .map(|(what, count)| format!("{what} ({count} times)"))
            .collect()
    }

    pub(crate) fn print(&self) {
        for (what, count) in &self.counts().seen {
            println!("{count:10} {what}");
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        lock(&self.0)
    }
}

fn add(counts: &mut BTreeMap<String, u64>, what: &str) {
    match counts.get_mut(what) {
        Some(count) => *count += 1,
        None => {
            counts.insert(what.to_owned(), 1);
        }
    }
}

/// The latencies of honest calls.
#[derive(Clone, Default)]
pub(crate) struct Times(Arc<Mutex<Vec<Duration>>>);

impl Times {
    pub(crate) fn add(&self, time: Duration) {
        self.times().push(time);
    }

    /// Returns the latencies so far, sorted, and clears them.
    pub(crate) fn take(&self) -> Sorted {
        let mut times = std::mem::take(&mut *self.times());
        times.sort_unstable();
        Sorted(times)
    }

    fn times(&self) -> MutexGuard<'_, Vec<Duration>> {
        lock(&self.0)
    }
}

/// Latencies in ascending order.
pub(crate) struct Sorted(Vec<Duration>);

impl Sorted {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the latency at this percentile.
    pub(crate) fn percentile(&self, hundredths: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        let at = self.0.len() * hundredths / 100;
        self.0.get(at.min(last)).copied().unwrap_or_default()
    }

    /// Returns the ratio to `usual` at this percentile.
    pub(crate) fn ratio(&self, usual: &Self, hundredths: usize) -> f64 {
        let usual = usual.percentile(hundredths).as_secs_f64();
        self.percentile(hundredths).as_secs_f64() / usual.max(f64::EPSILON)
    }
}

/// Returns the memory of a process in KiB, or `None` once it has exited.
pub(crate) fn resident(process: u32) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    // An exited process that was not waited for has none left.
    (pages > 0).then_some(pages * 4)
}

/// Returns the CPU time a process has used so far, without its children.
pub(crate) fn processor_time(process: u32) -> Option<Duration> {
    ticks(process, 11..13)
}

/// Returns the CPU time of its children that it has waited for.
pub(crate) fn processor_time_of_children(process: u32) -> Option<Duration> {
    ticks(process, 13..15)
}

fn ticks(process: u32, fields: Range<usize>) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program name comes first and may contain anything.
    let (_, numbers) = stat.rsplit_once(") ")?;
    let numbers: Vec<u64> = numbers
        .split(' ')
        .map(|number| number.parse().unwrap_or_default())
        .collect();
    let ticks: u64 = numbers.get(fields)?.iter().sum();
    // A hundred ticks a second, on every common Linux.
    Some(Duration::from_millis(ticks * 10))
}

/// Pseudorandom numbers; the same for the same seed.
#[derive(Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next() % end).unwrap_or_default()
    }

    pub(crate) fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}
