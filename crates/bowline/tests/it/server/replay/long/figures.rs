//! What happened in a long run, in numbers.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
    time::{Duration, Instant},
};

use super::super::rig::Round;
use crate::sync::lock;

/// The numbers, which are all of one run.
#[derive(Default)]
pub(super) struct Figures(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    conversations: u64,
    rounds: usize,
    repeated_first: u64,
    repeated_later: u64,
    told_to_repeat: u64,
    kills: u64,
    effects: u64,
    twice: u64,
    differ: u64,
    unknown: u64,
    passed_over: u64,
    refused: BTreeMap<String, u64>,
    late: BTreeMap<String, u64>,
    /// How long repeated rounds took whose first attempt was cut off, or whose
    /// client left, and whose they were.
    waits: Vec<(Duration, String)>,
    faults: Vec<String>,
}

impl Figures {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        lock(&self.0)
    }

    pub(super) fn rounds(&self, rounds: usize) {
        self.lock().rounds += rounds;
    }

    pub(super) fn repeated(&self, is_first: bool) {
        let mut counts = self.lock();
        match is_first {
            true => counts.repeated_first += 1,
            false => counts.repeated_later += 1,
        }
    }

    pub(super) fn told_to_repeat(&self) {
        self.lock().told_to_repeat += 1;
    }

    pub(super) fn waited(&self, since: Instant, name: &str) {
        let waited = (since.elapsed(), name.to_owned());
        self.lock().waits.push(waited);
    }

    pub(super) fn kills(&self, kills: u64) {
        self.lock().kills = kills;
    }

    pub(super) fn effect(&self, is_new: bool, effect: &str) {
        let mut counts = self.lock();
        counts.effects += 1;
        if !is_new {
            counts.twice += 1;
            counts.faults.push(format!("it happened twice: {effect}"));
        }
    }

    pub(super) fn ended_well(&self) {
        self.lock().conversations += 1;
    }

    /// A conversation does not know the end of a step. It says so in its
    /// result, or has passed over it.
    pub(super) fn unknown(&self, is_said: bool) {
        let mut counts = self.lock();
        counts.conversations += 1;
        counts.unknown += 1;
        counts.passed_over += u64::from(!is_said);
    }

    pub(super) fn differs(&self, fault: String) {
        let mut counts = self.lock();
        counts.conversations += 1;
        counts.differ += 1;
        counts.faults.push(fault);
    }

    /// A conversation was refused in the end, though nothing was wrong with it.
    pub(super) fn refused(&self, name: &str, round: &Round) {
        let reason = reason(round);
        let mut counts = self.lock();
        counts.conversations += 1;
        counts.faults.push(format!("{name}: {round:?}"));
        *counts.refused.entry(reason).or_default() += 1;
    }

    /// What somebody heard who sent a round of long ago. These programs take
    /// the same path always.
    pub(super) fn late(&self, name: &str, round: &Round) {
        let reason = reason(round);
        let mut counts = self.lock();
        if reason.contains("diverged on replay") {
            let fault = format!("{name}, somebody late: {round:?}");
            counts.faults.push(fault);
        }
        *counts.late.entry(reason).or_default() += 1;
    }

    pub(super) fn fault(&self, fault: String) {
        self.lock().faults.push(fault);
    }

    /// Prints all, and fails if there is a fault.
    #[track_caller]
    #[expect(clippy::print_stderr, reason = "the numbers are what the run is for")]
    pub(super) fn report(&self, seed: u64, took: Duration) {
        let mut counts = self.lock();
        counts.waits.sort();
        if counts.kills == 0 && counts.unknown > 0 {
            let fault = "nobody died, and yet something is not known";
            counts.faults.push(fault.to_owned());
        }
        let Counts {
            conversations,
            rounds,
            repeated_first,
            repeated_later,
            told_to_repeat,
            kills,
            effects,
            twice,
            differ,
            unknown,
            passed_over,
            refused,
            late,
            waits,
            faults,
        } = &*counts;
        eprintln!("BOWLINE_SEED={seed}, {took:.1?}");
        eprintln!("conversations: {conversations}, rounds: {rounds}, kills: {kills}");
        eprintln!("repeated: {repeated_later} rounds, and {repeated_first} first rounds anew");
        eprintln!("told to repeat a round that was taken over: {told_to_repeat}");
        eprintln!("effects: {effects}, twice: {twice}");
        eprintln!("results that differ: {differ}");
        eprintln!("a step's end unknown: {unknown}, of which {passed_over} do not say so");
        eprintln!("refused: {refused:#?}");
        eprintln!("late rounds, and what they heard: {late:#?}");
        if let Some((worst, whose)) = waits.last() {
            let at = |percent: usize| waits[(waits.len() - 1) * percent / 100].0.as_millis();
            eprintln!(
                "{} repeated rounds waited, in ms: median {}, 90 % {}, 99 % {}, worst {} ({whose})",
                waits.len(),
                at(50),
                at(90),
                at(99),
                worst.as_millis(),
            );
        }
        assert!(
            faults.is_empty(),
            "{} faults with BOWLINE_SEED={seed}:\n{}",
            faults.len(),
            faults.join("\n")
        );
    }
}

/// What kind of answer it is, without what is of one conversation only.
fn reason(round: &Round) -> String {
    match round {
        Round::Ended(_) => "an end".to_owned(),
        Round::Asked(_) => "questions".to_owned(),
        Round::Refused(code, why) => {
            let apart = why.split('"').step_by(2);
            format!("{code}: {}", apart.collect::<Vec<_>>().join("…"))
        }
    }
}
