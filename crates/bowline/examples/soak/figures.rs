//! What a run is judged by: how calls ended, how long they took, how much
//! memory there is.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// How often things happened, by name.
#[derive(Clone, Default)]
pub(crate) struct Tally(Arc<Mutex<BTreeMap<String, u64>>>);

impl Tally {
    pub(crate) fn count(&self, what: &str) {
        let mut counts = self.counts();
        match counts.get_mut(what) {
            Some(count) => *count += 1,
            None => {
                counts.insert(what.to_owned(), 1);
            }
        }
    }

    pub(crate) fn print(&self) {
        for (what, count) in &*self.counts() {
            println!("{count:10} {what}");
        }
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long honest calls took.
#[derive(Clone, Default)]
pub(crate) struct Times(Arc<Mutex<Vec<Duration>>>);

impl Times {
    pub(crate) fn add(&self, time: Duration) {
        self.times().push(time);
    }

    /// The times so far, from the shortest; and begins anew.
    pub(crate) fn take(&self) -> Sorted {
        let mut times = std::mem::take(&mut *self.times());
        times.sort_unstable();
        Sorted(times)
    }

    fn times(&self) -> MutexGuard<'_, Vec<Duration>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Times from the shortest to the longest.
pub(crate) struct Sorted(Vec<Duration>);

impl Sorted {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The time that this many in a hundred stayed within.
    pub(crate) fn percentile(&self, hundredths: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        let at = self.0.len() * hundredths / 100;
        self.0.get(at.min(last)).copied().unwrap_or_default()
    }

    /// How many times as long as in `usual` they took, at this percentile.
    pub(crate) fn ratio(&self, usual: &Self, hundredths: usize) -> f64 {
        let usual = usual.percentile(hundredths).as_secs_f64();
        self.percentile(hundredths).as_secs_f64() / usual.max(f64::EPSILON)
    }
}

/// Memory of a process, in KiB.
pub(crate) fn resident(process: u32) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let pages = statm.split(' ').nth(1);
    let pages = pages.and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * 4
}

/// Numbers that look random; the same from the same seed.
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
