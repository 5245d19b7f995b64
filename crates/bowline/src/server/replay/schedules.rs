//! What holds in every order in which threads take their locks.
//!
//! Each test tries some thousand schedules. `SCHEDULES` multiplies them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use shuttle::future::{block_on, spawn, yield_now};

use super::{
    course::{End, Place, Round},
    journal::{Entry, Mark, Outcome},
    perform::{Performance, perform},
    stage::{Asked, Entered, Fault, PutOff, Script, Stage},
};
use crate::{
    proto::{jsonrpc::RawJson, model::ListRootsParams},
    server::{
        seal::Keyring,
        store::{Appended, JournalStore, Key, MemoryJournals, NewEntry},
        talk::presence::Presence,
    },
    sync::schedules::search,
};

fn times(times: usize) -> usize {
    let more = std::env::var("SCHEDULES").ok();
    times * more.and_then(|more| more.parse().ok()).unwrap_or(1)
}

/// How often something happened.
#[derive(Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    async fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        // Here others may go on.
        yield_now().await;
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

async fn ask(stage: &Stage, id: &str) -> Option<Outcome> {
    let mark = Mark::of_step(id);
    if stage.enter(id, mark) == Entered::New {
        let question = ListRootsParams::default().into();
        let id = id.into();
        stage.ask(Asked { id, mark, question });
    }
    stage.told(id).await
}

async fn step(stage: &Stage, id: &str, count: &Count) -> Option<Outcome> {
    let mark = Mark::of_step(id);
    if stage.enter(id, mark) == Entered::New {
        let running = stage.begin(id, mark).await?;
        count.add().await;
        running.end(Outcome::Value(RawJson::encode(&id).ok()?));
    }
    stage.told(id).await
}

fn suspended<T>(performance: Performance<T>) -> PutOff {
    match performance {
        Performance::Suspended(kept) => kept,
        Performance::Ended(_) => panic!("it ended"),
        Performance::Failed(fault) => panic!("{fault:?}"),
    }
}

/// A task of its own takes a step while the conversation is being put off.
/// Either the step is in the journal, or it did not happen.
#[test]
fn a_step_elsewhere_is_in_the_journal_or_does_not_happen() {
    search(times(1500), || {
        let stage = Arc::new(Stage::first(Default::default()));
        let count = Count::default();
        let (there, counted) = (Arc::clone(&stage), count.clone());
        let elsewhere = spawn(async move {
            step(&there, "one", &counted).await;
            step(&there, "two", &counted).await;
        });
        let here = Arc::clone(&stage);
        let kept = block_on(async move {
            let kept = suspended(perform(&here, None, ask(&here, "question")).await);
            elsewhere.await.expect("no panics");
            kept
        });
        assert_eq!(kept.journal.len(), count.get());
    });
}

/// The same while the caller leaves. What began, ended.
#[test]
fn nothing_begins_once_the_caller_has_left() {
    search(times(1500), || {
        let stage = Arc::new(Stage::first(Default::default()));
        let (begun, left) = (Count::default(), Count::default());
        let (there, leaves) = (Arc::clone(&stage), left.clone());
        let leaver = spawn(async move {
            leaves.add().await;
            there.wind_down(Fault::Abandoned);
        });
        let (here, counted) = (Arc::clone(&stage), begun.clone());
        let performance = block_on(async move {
            let work = async {
                step(&here, "one", &counted).await;
                step(&here, "two", &counted).await
            };
            let performance = perform(&here, None, work).await;
            leaver.await.expect("no panics");
            performance
        });
        for id in ["one", "two"].into_iter().take(begun.get()) {
            assert!(stage.outcome(id).is_some(), "{id} came to its end");
        }
        match performance {
            Performance::Ended(_) => assert_eq!(begun.get(), 2),
            Performance::Failed(fault) => assert_eq!(fault, Fault::Abandoned),
            Performance::Suspended(_) => panic!("nothing was asked"),
        }
    });
}

/// Nodes that share a store.
struct Fleet {
    store: Arc<MemoryJournals>,
    keyring: Keyring,
    lease: Duration,
}

impl Fleet {
    fn new(lease: Duration) -> Self {
        Self {
            store: Arc::new(MemoryJournals::new()),
            keyring: Keyring::random(),
            lease,
        }
    }

    /// A round of a conversation that goes on with this answer.
    fn place(&self, holder: &str, answer: &str) -> Place {
        Place {
            store: Arc::clone(&self.store) as Arc<dyn JournalStore>,
            keyring: self.keyring.clone(),
            purpose: Arc::from(&b"schedules"[..]),
            id: "00ff".into(),
            account: "".into(),
            holder: holder.into(),
            lease: self.lease,
            history: answer.into(),
            from: 0,
            ttl: Duration::from_secs(3600),
            clock: Arc::new(SystemTime::now),
            presence: Arc::<Presence>::default(),
        }
    }
}

/// Plays a round: two steps at once, and a third after them. Gives what was
/// answered, if anything was.
async fn play(place: Place, answer: &'static str, counts: [Count; 3]) -> Option<String> {
    let (course, since) = match place.open(|| {}).await {
        Ok(Round::Play(course, since)) => (course, since),
        Ok(Round::Played(answer)) => return String::from_utf8(answer.to_vec()).ok(),
        Err(_) => return None,
    };
    let answers = vec![Entry {
        id: "question".into(),
        mark: Mark::of_step("question"),
        outcome: Outcome::Value(RawJson::encode(&answer).ok()?),
    }];
    let stage = Stage::resumed(Script {
        before: Vec::new(),
        answers,
        since,
    });
    let work = async {
        ask(&stage, "question").await;
        let [one, two, three] = &counts;
        let both = tokio::join!(step(&stage, "one", one), step(&stage, "two", two));
        step(&stage, "three", three).await;
        both
    };
    let end = match perform(&stage, Some(&course), work).await {
        Performance::Ended(_) => course.end(answer.as_bytes(), Vec::new()).await.ok(),
        Performance::Suspended(_) => panic!("all is answered"),
        Performance::Failed(_) => None,
    };
    course.release().await;
    match end? {
        End::Ours => Some(answer.to_owned()),
        End::Before(answer) => String::from_utf8(answer.to_vec()).ok(),
    }
}

fn counts() -> [Count; 3] {
    Default::default()
}

/// The same round on two nodes at once: who waits is told what the other came
/// to.
#[test]
fn the_same_round_on_two_nodes_happens_once() {
    search(times(800), || {
        let fleet = Fleet::new(Duration::from_secs(6));
        let counts = counts();
        let one = spawn(play(fleet.place("one", "yes"), "yes", counts.clone()));
        let two = spawn(play(fleet.place("two", "yes"), "yes", counts.clone()));
        let (one, two) = block_on(async { (one.await, two.await) });
        assert_eq!(one.expect("no panics").as_deref(), Some("yes"));
        assert_eq!(two.expect("no panics").as_deref(), Some("yes"));
        assert_eq!(counts.map(|count| count.get()), [1, 1, 1]);
    });
}

/// Leases that end as they are given: everybody believes to be the only one,
/// and the positions of the journal alone decide.
#[test]
fn nodes_that_are_wrong_about_their_lease_do_nothing_twice() {
    search(times(1500), || {
        let fleet = Fleet::new(Duration::ZERO);
        let counts = counts();
        let names = ["one", "two", "three"];
        let nodes = names.map(|name| spawn(play(fleet.place(name, "yes"), "yes", counts.clone())));
        block_on(async {
            for node in nodes {
                node.await.expect("no panics");
            }
        });
        let counts = counts.map(|count| count.get());
        assert!(counts.iter().all(|count| *count <= 1), "{counts:?}");
    });
}

/// Two answers to one question, at once: one of them has effects, and only one
/// is the end of the conversation.
#[test]
fn two_answers_at_once_are_one_course() {
    for lease in [Duration::from_secs(6), Duration::ZERO] {
        search(times(800), move || {
            let fleet = Fleet::new(lease);
            let (yes, no) = (counts(), counts());
            let one = spawn(play(fleet.place("one", "yes"), "yes", yes.clone()));
            let two = spawn(play(fleet.place("two", "no"), "no", no.clone()));
            let (one, two) = block_on(async { (one.await, two.await) });
            let ends = [one.expect("no panics"), two.expect("no panics")];
            let happened = |counts: [Count; 3]| counts.iter().any(|count| count.get() > 0);
            assert!(!(happened(yes) && happened(no)), "two courses: {ends:?}");
            assert!(ends.iter().flatten().count() <= 1, "{ends:?}");
        });
    }
}

#[test]
fn one_writer_has_each_position() {
    search(times(800), || {
        let store = Arc::new(MemoryJournals::new());
        let writers = [0_u8, 1, 2].map(|writer| {
            let store = Arc::clone(&store);
            spawn(async move {
                let mut written = 0;
                for position in 0..3 {
                    let entry = NewEntry::new(position, vec![writer], Duration::from_secs(60));
                    let appended = store.append(Key::new("a", ""), entry).await;
                    written += usize::from(appended.expect("it has room") == Appended::Done);
                }
                written
            })
        });
        let all = block_on(async {
            let mut all = 0;
            for writer in writers {
                all += writer.await.expect("no panics");
            }
            all
        });
        assert!(all <= 3, "{all}");
    });
}
