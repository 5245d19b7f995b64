//! A long run of random conversations on two processes that are killed all the
//! time, with a client that leaves, waits and repeats its rounds.
//!
//! `BOWLINE_CONVERSATIONS` says how many there are, and `BOWLINE_SEED` which:
//! with the same seed the same programs and the same client. When nodes die is
//! a matter of time, and differs. `BOWLINE_KILL_EVERY` says after how many
//! milliseconds one dies; with 0, none does.

mod dice;
mod figures;
mod link;
mod nodes;

use std::{
    collections::HashSet,
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use self::{
    dice::{Act, Dice},
    figures::Figures,
    link::{Heard, ask},
    nodes::{Addresses, Killer},
};
use super::{
    fleet::Folder,
    program::{answer, numbered},
    properties::{live, setting},
    rig::{Called, Round},
};

/// Conversations of a usual run.
const CONVERSATIONS: u64 = 60;
/// How many there are at once.
const AT_ONCE: usize = 16;
const SEED: u64 = 0x10_96;
/// Milliseconds between kills, at the least.
const KILL_EVERY: u64 = 100;
/// No program asks more often than this.
const MOST_ROUNDS: usize = 200;
/// No round needs more attempts than this.
const MOST_ATTEMPTS: usize = 200;
/// How often to look for a node while none is up: for a minute. On a machine
/// that has other things to do, starting takes its time.
const MOST_WAITS: usize = 12_000;

/// What all who converse share.
struct Run {
    seed: u64,
    addresses: Addresses,
    figures: Figures,
}

#[tokio::test]
async fn a_long_run_with_kills_repeats_nothing_and_loses_nothing() {
    let conversations = setting("BOWLINE_CONVERSATIONS").unwrap_or(CONVERSATIONS);
    let seed = setting("BOWLINE_SEED").unwrap_or(SEED);
    let folder = Arc::new(Folder::new("long"));
    let every = setting("BOWLINE_KILL_EVERY").unwrap_or(KILL_EVERY);
    let killer = Killer::start(&folder, every, Dice::new(seed, u64::MAX)).await;
    let run = Arc::new(Run {
        seed,
        addresses: killer.addresses(),
        figures: Figures::default(),
    });
    let (began, next) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let mut workers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (run, next) = (Arc::clone(&run), Arc::clone(&next));
        workers.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= conversations {
                    return;
                }
                run.converse(number).await;
            }
        });
    }
    while let Some(worker) = workers.join_next().await {
        worker.expect("no panic");
    }
    let kills = killer.stop().await;
    run.figures.kills(kills);
    run.count_effects(&folder);
    run.figures.report(seed, began.elapsed());
}

impl Run {
    /// One conversation, to its end.
    async fn converse(&self, number: u64) {
        let mut dice = Dice::new(self.seed, number);
        // JSON has no larger numbers that everybody reads alike.
        let (program, mood) = (dice.below(1 << 50), dice.below(1000));
        let name = format!("conversation {number} (program {program}, mood {mood})");
        let called = Called {
            tool: "program",
            arguments: json!({"number": program}),
        };
        let mut params = called.params();
        let (mut held, mut ends) = (Vec::new(), Vec::new());
        let mut round = self.settle(&name, &mut dice, &params).await;
        while let Round::Asked(questions) = round {
            if held.len() > MOST_ROUNDS {
                return self.figures.fault(format!("{name} asks for ever"));
            }
            if dice.one_in(10) {
                sleep(Duration::from_millis(dice.below(300))).await;
            }
            let answers = questions.answers(|_, question| answer(question, mood));
            let later = called.later(&questions.state, &answers);
            held.push(std::mem::replace(&mut params, later));
            let old = (held.len() > 1 && dice.one_in(4)).then(|| dice.pick(&held[1..]).clone());
            let mut other = dice.fork();
            let (now, end) = tokio::join!(
                self.settle(&name, &mut dice, &params),
                self.come_late(&name, &mut other, old)
            );
            round = now;
            ends.extend(end);
        }
        if ends.iter().any(|end| *end != round) {
            let fault = format!("{name} ended in several ways: {ends:?}, {round:?}");
            self.figures.fault(fault);
        }
        self.figures.rounds(held.len() + 1);
        self.judge(&name, &expected(program, mood).await, &round);
    }

    /// Sends a round until somebody says what came of it.
    async fn settle(&self, name: &str, dice: &mut Dice, params: &Value) -> Round {
        // A first round that is repeated is another conversation.
        let is_first = params.get("requestState").is_none();
        let (mut since, mut attempt, mut alone) = (None, 0, 0);
        while attempt < MOST_ATTEMPTS && alone < MOST_WAITS {
            let heard = self.attempt(name, dice, params, attempt).await;
            match heard {
                Heard::Answer(Round::Refused(_, why)) if why.contains("repeat the request") => {
                    self.figures.told_to_repeat();
                }
                Heard::Answer(round) => {
                    if let Some(since) = since.filter(|_| !is_first) {
                        self.figures.waited(since, name);
                    }
                    return round;
                }
                Heard::CutOff | Heard::Left => {}
                Heard::Nobody => {
                    alone += 1;
                    sleep(Duration::from_millis(5)).await;
                    continue;
                }
            }
            attempt += 1;
            self.figures.repeated(is_first);
            since.get_or_insert_with(Instant::now);
        }
        self.figures.fault(format!("{name}: a round has no end"));
        Round::Refused(0, "a round has no end".to_owned())
    }

    /// Sends a round once or twice, as the dice say.
    async fn attempt(&self, name: &str, dice: &mut Dice, params: &Value, attempt: usize) -> Heard {
        let node = usize::from(dice.one_in(2));
        let one = || self.ask(name, node, params);
        let other = || self.ask(name, 1 - node, params);
        match dice.act() {
            // Those who leave again and again never hear anything.
            Act::Leave(after) if attempt < 3 => timeout(after, one()).await.unwrap_or(Heard::Left),
            Act::AtOnce => {
                let (one, other) = tokio::join!(one(), other());
                self.figures.repeated(params.get("requestState").is_none());
                self.agree(name, params, one, other)
            }
            Act::Again => {
                let one = one().await;
                if !matches!(one, Heard::Answer(_)) {
                    return one;
                }
                self.figures.repeated(params.get("requestState").is_none());
                let other = other().await;
                self.agree(name, params, one, other)
            }
            Act::Leave(_) | Act::Once => one().await,
        }
    }

    async fn ask(&self, name: &str, node: usize, params: &Value) -> Heard {
        let Some(address) = self.addresses.of(node) else {
            return Heard::Nobody;
        };
        let patience = Duration::from_secs(60);
        let heard = timeout(patience, ask(address, params)).await;
        heard.unwrap_or_else(|_| {
            self.figures.fault(format!("{name}: no answer in a minute"));
            Heard::CutOff
        })
    }

    /// Two who send the same round hear the same.
    fn agree(&self, name: &str, params: &Value, one: Heard, other: Heard) -> Heard {
        let passes = |heard: &Heard| match heard {
            Heard::Answer(Round::Refused(_, why)) => why.contains("repeat the request"),
            Heard::Answer(_) => false,
            _ => true,
        };
        if passes(&one) || passes(&other) {
            return if passes(&one) { other } else { one };
        }
        let (Heard::Answer(a), Heard::Answer(b)) = (&one, &other) else {
            return one;
        };
        let same = match (a, b) {
            (Round::Asked(a), Round::Asked(b)) => a.asked == b.asked,
            (a, b) => a == b,
        };
        if !same && params.get("requestState").is_some() {
            let fault = format!("{name}: one round, two answers: {a:?}, and {b:?}");
            self.figures.fault(fault);
        }
        other
    }

    /// Sends a round of long ago. Whatever is heard, nothing happens. If it is
    /// the end of the conversation, there is no other.
    async fn come_late(&self, name: &str, dice: &mut Dice, old: Option<Value>) -> Option<Round> {
        let node = usize::from(dice.one_in(2));
        match self.ask(name, node, &old?).await {
            Heard::Answer(round) => {
                self.figures.late(name, &round);
                matches!(round, Round::Ended(_)).then_some(round)
            }
            _ => None,
        }
    }

    /// Whether a conversation ended as it did live.
    fn judge(&self, name: &str, expected: &(String, bool), round: &Round) {
        let Round::Ended(_) = round else {
            return self.figures.refused(name, round);
        };
        let ended = round.text();
        if ended == *expected {
            return self.figures.ended_well();
        }
        if ended.0.contains(" (not known: ") {
            return self
                .figures
                .unknown(ended.0.contains("its outcome is unknown"));
        }
        let fault = format!("{name} came to {ended:?}, and live to {expected:?}");
        self.figures.differs(fault);
    }

    /// Nothing happened twice, and no answer came to another question.
    fn count_effects(&self, folder: &Folder) {
        let done = fs::read_to_string(folder.0.join("done")).unwrap_or_default();
        let mut seen = HashSet::new();
        for line in done.lines() {
            let (_, effect) = line.split_once(' ').expect("who did what");
            if effect.contains("wrong: ") {
                self.figures
                    .fault(format!("an answer went astray: {effect}"));
            }
            self.figures.effect(seen.insert(effect), effect);
        }
    }
}

/// What a program comes to with a client of 2025-11-25: the text, and whether
/// it failed. Its time does not pass.
async fn expected(program: u64, mood: u64) -> (String, bool) {
    let played = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let (text, failed, ..) = runtime.block_on(live(&numbered(program), mood));
        (text, failed)
    });
    played.await.expect("no panic")
}
