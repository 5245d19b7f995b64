//! Properties that hold for every thread schedule.
//!
//! Each test tries several thousand schedules. `SCHEDULES` multiplies them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use shuttle::future::{block_on, spawn, yield_now};

use super::{
    journal::{Entry, EntryOutcome, Fingerprint},
    replayer::{EntryStatus, History, OpenQuestion, Replayer, RunFailure, Suspension},
    run::{RunOutcome, run},
    stored_journal::{EndOutcome, JournalAccess, OpenedRound},
};
use crate::{
    proto::{jsonrpc::RawJson, model::ListRootsParams},
    server::{
        conversation::lifecycle::Lifecycle,
        seal::SealKeys,
        store::{AppendOutcome, ConversationKey, JournalStore, MemoryJournalStore, NewEntry},
    },
    sync::schedules::explore,
};

fn iterations(times: usize) -> usize {
    let more = std::env::var("SCHEDULES").ok();
    times * more.and_then(|more| more.parse().ok()).unwrap_or(1)
}

/// A counter.
#[derive(Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    async fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        // Other tasks may run here.
        yield_now().await;
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

async fn ask(replayer: &Replayer, id: &str) -> Option<EntryOutcome> {
    let fingerprint = Fingerprint::for_step(id);
    if replayer.register(id, fingerprint) == EntryStatus::New {
        let question = ListRootsParams::default().into();
        let id = id.into();
        replayer.ask(OpenQuestion {
            id,
            fingerprint,
            question,
        });
    }
    replayer.wait_outcome(id).await
}

async fn step(replayer: &Replayer, id: &str, count: &Count) -> Option<EntryOutcome> {
    let fingerprint = Fingerprint::for_step(id);
    if replayer.register(id, fingerprint) == EntryStatus::New {
        let running = replayer.begin_step(id, fingerprint).await?;
        count.add().await;
        running.end(EntryOutcome::Value(RawJson::encode(&id).ok()?));
    }
    replayer.wait_outcome(id).await
}

fn suspended<T>(outcome: RunOutcome<T>) -> Suspension {
    match outcome {
        RunOutcome::Suspended(suspension) => suspension,
        RunOutcome::Ended(_) => panic!("it ended"),
        RunOutcome::Failed(failure) => panic!("{failure:?}"),
    }
}

/// A separate task runs a step while the conversation is being suspended.
/// Either the step is in the journal, or it did not happen.
#[test]
fn a_step_elsewhere_is_in_the_journal_or_does_not_happen() {
    explore(iterations(1500), || {
        let replayer = Arc::new(Replayer::first_round(Default::default()));
        let count = Count::default();
        let (remote, counted) = (Arc::clone(&replayer), count.clone());
        let elsewhere = spawn(async move {
            step(&remote, "one", &counted).await;
            step(&remote, "two", &counted).await;
        });
        let local = Arc::clone(&replayer);
        let suspension = block_on(async move {
            let suspension = suspended(run(&local, None, ask(&local, "question")).await);
            elsewhere.await.expect("no panics");
            suspension
        });
        assert_eq!(suspension.journal.len(), count.get());
    });
}

/// The same while the caller disconnects. What started, ended.
#[test]
fn nothing_begins_once_the_caller_has_left() {
    explore(iterations(1500), || {
        let replayer = Arc::new(Replayer::first_round(Default::default()));
        let (started, left) = (Count::default(), Count::default());
        let (remote, leaves) = (Arc::clone(&replayer), left.clone());
        let leaver = spawn(async move {
            leaves.add().await;
            remote.shut_down(RunFailure::Abandoned);
        });
        let (local, counted) = (Arc::clone(&replayer), started.clone());
        let outcome = block_on(async move {
            let work = async {
                step(&local, "one", &counted).await;
                step(&local, "two", &counted).await
            };
            let outcome = run(&local, None, work).await;
            leaver.await.expect("no panics");
            outcome
        });
        for id in ["one", "two"].into_iter().take(started.get()) {
            assert!(replayer.outcome(id).is_some(), "{id} came to its end");
        }
        match outcome {
            RunOutcome::Ended(_) => assert_eq!(started.get(), 2),
            RunOutcome::Failed(failure) => assert_eq!(failure, RunFailure::Abandoned),
            RunOutcome::Suspended(_) => panic!("nothing was asked"),
        }
    });
}

/// Nodes that share a store.
struct Cluster {
    store: Arc<MemoryJournalStore>,
    seal_keys: SealKeys,
    lease: Duration,
}

impl Cluster {
    fn new(lease: Duration) -> Self {
        Self {
            store: Arc::new(MemoryJournalStore::new()),
            seal_keys: SealKeys::random(),
            lease,
        }
    }

    /// A round of a conversation resumed with this answer.
    fn access(&self, holder: &str, answer: &str) -> JournalAccess {
        JournalAccess {
            store: Arc::clone(&self.store) as Arc<dyn JournalStore>,
            generation: None,
            seal_keys: self.seal_keys.clone(),
            purpose: Arc::from(&b"schedules"[..]),
            id: "00ff".into(),
            account: "".into(),
            holder: holder.into(),
            lease: self.lease,
            history_digest: answer.into(),
            first_position: 0,
            ttl: Duration::from_secs(3600),
            clock: Arc::new(SystemTime::now),
            lifecycle: Arc::<Lifecycle>::default(),
        }
    }
}

/// Runs a round: two concurrent steps, and a third after them. Returns the
/// response, if any.
async fn run_round(
    access: JournalAccess,
    answer: &'static str,
    counts: [Count; 3],
) -> Option<String> {
    let (journal, since) = match access.open(|| {}).await {
        Ok(OpenedRound::Run(journal, since)) => (*journal, since),
        Ok(OpenedRound::Finished(answer)) => return String::from_utf8(answer.to_vec()).ok(),
        Err(_) => return None,
    };
    let answers = vec![Entry {
        id: "question".into(),
        fingerprint: Fingerprint::for_step("question"),
        outcome: EntryOutcome::Value(RawJson::encode(&answer).ok()?),
    }];
    let replayer = Replayer::later_round(History {
        before: Vec::new(),
        answers,
        since,
    });
    let work = async {
        ask(&replayer, "question").await;
        let [one, two, three] = &counts;
        let both = tokio::join!(step(&replayer, "one", one), step(&replayer, "two", two));
        step(&replayer, "three", three).await;
        both
    };
    let end = match run(&replayer, Some(&journal), work).await {
        RunOutcome::Ended(_) => journal.record_end(answer.as_bytes(), Vec::new()).await.ok(),
        RunOutcome::Suspended(_) => panic!("all is answered"),
        RunOutcome::Failed(_) => None,
    };
    journal.release().await;
    match end? {
        EndOutcome::Recorded => Some(answer.to_owned()),
        EndOutcome::AlreadyEnded(answer) => String::from_utf8(answer.to_vec()).ok(),
    }
}

fn counts() -> [Count; 3] {
    Default::default()
}

/// The same round on two nodes at once: the one that waits gets the other's
/// response.
#[test]
fn the_same_round_on_two_nodes_happens_once() {
    explore(iterations(800), || {
        let cluster = Cluster::new(Duration::from_secs(6));
        let counts = counts();
        let one = spawn(run_round(
            cluster.access("one", "yes"),
            "yes",
            counts.clone(),
        ));
        let two = spawn(run_round(
            cluster.access("two", "yes"),
            "yes",
            counts.clone(),
        ));
        let (one, two) = block_on(async { (one.await, two.await) });
        assert_eq!(one.expect("no panics").as_deref(), Some("yes"));
        assert_eq!(two.expect("no panics").as_deref(), Some("yes"));
        assert_eq!(counts.map(|count| count.get()), [1, 1, 1]);
    });
}

/// Leases that expire immediately: every node believes to have it, and only the
/// positions of the journal decide.
#[test]
fn nodes_that_are_wrong_about_their_lease_do_nothing_twice() {
    explore(iterations(1500), || {
        let cluster = Cluster::new(Duration::ZERO);
        let counts = counts();
        let names = ["one", "two", "three"];
        let nodes = names.map(|name| {
            spawn(run_round(
                cluster.access(name, "yes"),
                "yes",
                counts.clone(),
            ))
        });
        block_on(async {
            for node in nodes {
                node.await.expect("no panics");
            }
        });
        let counts = counts.map(|count| count.get());
        assert!(counts.iter().all(|count| *count <= 1), "{counts:?}");
    });
}

/// Two answers to one question at once: only one has side effects, and only one
/// ends the conversation.
#[test]
fn two_answers_at_once_are_one_course() {
    for lease in [Duration::from_secs(6), Duration::ZERO] {
        explore(iterations(800), move || {
            let cluster = Cluster::new(lease);
            let (yes, no) = (counts(), counts());
            let one = spawn(run_round(cluster.access("one", "yes"), "yes", yes.clone()));
            let two = spawn(run_round(cluster.access("two", "no"), "no", no.clone()));
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
    explore(iterations(800), || {
        let store = Arc::new(MemoryJournalStore::new());
        let writers = [0_u8, 1, 2].map(|writer| {
            let store = Arc::clone(&store);
            spawn(async move {
                let mut written = 0;
                for position in 0..3 {
                    let entry = NewEntry::new(position, vec![writer], Duration::from_secs(60));
                    let appended = store.append(ConversationKey::new("a", ""), entry).await;
                    written +=
                        usize::from(appended.expect("it has room") == AppendOutcome::Appended);
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
