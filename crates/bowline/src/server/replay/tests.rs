//! The rules of the replayer, one by one.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use serde_json::json;
use tokio::join;

use super::{
    journal::{Entry, EntryOutcome, Fingerprint},
    replayer::{Action, Divergence, EntryStatus, OpenQuestion, Replayer, RunFailure},
    run::{RunOutcome, run},
};
use crate::proto::{
    jsonrpc::{ErrorObject, RawJson},
    model::ListRootsParams,
};

fn value(value: u32) -> EntryOutcome {
    EntryOutcome::Value(RawJson::encode(&value).unwrap())
}

/// A journal entry whose fingerprint is derived from its id.
fn entry(id: &str, outcome: EntryOutcome) -> Entry {
    Entry {
        id: id.into(),
        fingerprint: Fingerprint::for_step(id),
        outcome,
    }
}

fn entries(ids: &[&str]) -> Vec<Entry> {
    let ids = ids.iter().zip(0..);
    ids.map(|(id, number)| entry(id, value(number))).collect()
}

fn ids(journal: &[Entry]) -> Vec<&str> {
    journal.iter().map(|entry| &*entry.id).collect()
}

/// Asks a question as a conversation does.
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

/// Runs a step as a conversation does.
async fn step(
    replayer: &Replayer,
    id: &str,
    work: impl Future<Output = u32>,
) -> Option<EntryOutcome> {
    let fingerprint = Fingerprint::for_step(id);
    if replayer.register(id, fingerprint) == EntryStatus::New {
        let running = replayer.begin_step(id, fingerprint).await?;
        running.end(value(work.await));
    }
    replayer.wait_outcome(id).await
}

fn diverged(divergence: Divergence) -> RunFailure {
    RunFailure::Diverged(divergence)
}

/// Counts its wakeups.
#[derive(Default)]
struct CountingWaker(AtomicUsize);

impl Wake for CountingWaker {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn what_is_known_is_told_in_order_and_one_at_a_time() {
    let replayer = Replayer::without_journal(entries(&["b", "a"]));
    let (mut a, mut b) = (pin!(ask(&replayer, "a")), pin!(ask(&replayer, "b")));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(a.as_mut().poll(&mut cx).is_pending());
    assert!(b.as_mut().poll(&mut cx).is_pending());
    assert!(matches!(replayer.next_action(), Action::Poll));
    assert!(a.as_mut().poll(&mut cx).is_pending(), "b is first");
    assert_eq!(b.as_mut().poll(&mut cx), Poll::Ready(Some(value(0))));
    assert!(matches!(replayer.next_action(), Action::Poll));
    assert_eq!(a.as_mut().poll(&mut cx), Poll::Ready(Some(value(1))));
    assert!(matches!(replayer.next_action(), Action::Wait));
    let mut new = pin!(ask(&replayer, "new"));
    assert!(new.as_mut().poll(&mut cx).is_pending());
    let Action::Suspend(suspension) = replayer.next_action() else {
        panic!("it is not suspended");
    };
    assert_eq!(ids(&suspension.journal), ["b", "a"]);
}

/// The conversation may not have reached the first one yet.
#[test]
fn what_is_waited_for_is_told_before_what_is_not() {
    let replayer = Replayer::without_journal(entries(&["first", "second"]));
    let mut second = pin!(ask(&replayer, "second"));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(second.as_mut().poll(&mut cx).is_pending());
    assert!(matches!(replayer.next_action(), Action::Poll));
    assert_eq!(second.as_mut().poll(&mut cx), Poll::Ready(Some(value(1))));
    // Nothing new was asked, so it can wait.
    assert!(matches!(replayer.next_action(), Action::Wait));
    assert_eq!(
        replayer.check_end(),
        Err(diverged(Divergence::Missing("first".into())))
    );
}

#[test]
fn those_who_wait_are_woken_when_they_are_told() {
    let replayer = Replayer::without_journal(entries(&["a"]));
    let counter = Arc::new(CountingWaker::default());
    let waker = Waker::from(Arc::clone(&counter));
    let mut a = pin!(ask(&replayer, "a"));
    assert!(
        a.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    assert_eq!(counter.0.load(Ordering::SeqCst), 0);
    assert!(matches!(replayer.next_action(), Action::Poll));
    assert_eq!(counter.0.load(Ordering::SeqCst), 1);
}

/// Other tasks register, ask, start and leave while no one polls.
#[test]
fn whoever_runs_the_conversation_is_woken_by_what_happens_elsewhere() {
    let replayer = Replayer::without_journal(Vec::new());
    let counter = Arc::new(CountingWaker::default());
    replayer.set_waker(&Waker::from(Arc::clone(&counter)));
    let mut woken = 0;
    let mut check = |what: &str| {
        let now = counter.0.load(Ordering::SeqCst);
        assert!(now > woken, "{what}");
        woken = now;
    };
    let fingerprint = Fingerprint::for_step("a");
    replayer.register("a", fingerprint);
    check("entering");
    let question = ListRootsParams::default().into();
    let id = "a".into();
    replayer.ask(OpenQuestion {
        id,
        fingerprint,
        question,
    });
    check("asking");
    replayer.stop_waiting("a");
    check("leaving");
    replayer.fail(ErrorObject::new(-1, "failed"));
    check("failing");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_dropped_is_not_asked() {
    let replayer = Replayer::without_journal(Vec::new());
    let work = async {
        let quick = step(&replayer, "quick", async { 7 });
        let won = tokio::select! {
            biased;
            answer = ask(&replayer, "dropped") => answer,
            step = quick => step,
        };
        assert_eq!(won, Some(value(7)));
        ask(&replayer, "kept").await
    };
    let RunOutcome::Suspended(suspension) = run(&replayer, None, work).await else {
        panic!("it is not suspended");
    };
    assert_eq!(ids(&suspension.journal), ["quick"]);
    let ids_asked: Vec<_> = suspension.questions.iter().map(|it| &*it.id).collect();
    assert_eq!(ids_asked, ["kept"]);
}

/// An answer to a question that was dropped meanwhile is known, but delivered
/// to no one.
#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_waits_for_is_no_divergence() {
    let replayer = Replayer::without_journal(entries(&["a", "b"]));
    let work = async {
        tokio::select! {
            biased;
            a = ask(&replayer, "a") => a,
            b = ask(&replayer, "b") => b,
        }
    };
    let RunOutcome::Ended(first) = run(&replayer, None, work).await else {
        panic!("it does not end");
    };
    assert_eq!(first, Some(value(0)));
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_put_off_when_its_steps_have_ended() {
    let replayer = Replayer::without_journal(Vec::new());
    let slow = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        1
    };
    let work = async { join!(ask(&replayer, "a"), step(&replayer, "slow", slow)) };
    let RunOutcome::Suspended(suspension) = run(&replayer, None, work).await else {
        panic!("it is not suspended");
    };
    assert_eq!(suspension.journal, [entry("slow", value(1))]);
    assert_eq!(suspension.questions.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_was_dropped_is_in_the_journal_and_is_told_to_nobody() {
    let replayer = Replayer::without_journal(Vec::new());
    let rerun = |replayer: Replayer| async move {
        let work = async {
            let endless = step(&replayer, "endless", std::future::pending());
            let gave_up = tokio::time::timeout(Duration::from_secs(9), endless).await;
            assert!(gave_up.is_err());
            ask(&replayer, "a").await
        };
        match run(&replayer, None, work).await {
            RunOutcome::Suspended(suspension) => suspension,
            other => panic!("it is not suspended: {other:?}"),
        }
    };
    let first = rerun(replayer).await;
    assert_eq!(
        first.journal,
        [entry("endless", EntryOutcome::Abandoned(10))]
    );
    let second = rerun(Replayer::without_journal(first.journal.clone())).await;
    assert_eq!(first.journal, second.journal);
}

#[tokio::test(start_paused = true)]
async fn another_thing_under_the_same_name_is_a_divergence() {
    let replayer = Replayer::without_journal(vec![Entry {
        fingerprint: Fingerprint::for_step("something else"),
        ..entry("a", value(1))
    }]);
    let RunOutcome::Failed(fault) = run(&replayer, None, ask(&replayer, "a")).await else {
        panic!("it does not fail");
    };
    assert_eq!(fault, diverged(Divergence::Changed("a".into())));
}

#[tokio::test(start_paused = true)]
async fn to_end_without_what_is_known_is_a_divergence() {
    let replayer = Replayer::without_journal(entries(&["a", "b"]));
    let RunOutcome::Failed(fault) = run(&replayer, None, ask(&replayer, "a")).await else {
        panic!("it does not fail");
    };
    assert_eq!(fault, diverged(Divergence::Missing("b".into())));
}

#[tokio::test(start_paused = true)]
async fn to_ask_something_new_without_what_is_known_is_a_divergence() {
    let replayer = Replayer::without_journal(entries(&["a"]));
    let RunOutcome::Failed(fault) = run(&replayer, None, ask(&replayer, "b")).await else {
        panic!("it does not fail");
    };
    assert_eq!(fault, diverged(Divergence::Missing("a".into())));
}

#[tokio::test(start_paused = true)]
async fn a_new_step_waits_for_what_is_known() {
    let replayer = Replayer::without_journal(entries(&["a"]));
    let started = AtomicUsize::new(0);
    let work = || async {
        started.fetch_add(1, Ordering::SeqCst);
        1
    };
    let RunOutcome::Failed(_) = run(&replayer, None, step(&replayer, "new", work())).await else {
        panic!("it does not fail");
    };
    assert_eq!(started.load(Ordering::SeqCst), 0);

    let replayer = Replayer::without_journal(entries(&["a"]));
    let late = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(started.load(Ordering::SeqCst), 0);
        ask(&replayer, "a").await
    };
    let both = async { join!(step(&replayer, "new", work()), late) };
    let RunOutcome::Ended(ended) = run(&replayer, None, both).await else {
        panic!("it does not end");
    };
    assert_eq!(ended, (Some(value(1)), Some(value(0))));
}

/// A step that a task on another thread starts after the decision would be in
/// no journal.
#[tokio::test(start_paused = true)]
async fn nothing_begins_once_it_is_decided_to_put_off() {
    let replayer = Replayer::without_journal(Vec::new());
    let mut ids_asked = pin!(ask(&replayer, "a"));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(ids_asked.as_mut().poll(&mut cx).is_pending());
    let decided = replayer.next_action();
    let started = step(&replayer, "b", async { unreachable!("it must not begin") });
    assert_eq!(started.await, None);
    assert!(matches!(decided, Action::Suspend(_)));
}

/// A separate task that comes too late.
#[tokio::test(start_paused = true)]
async fn nothing_begins_on_a_closed_stage() {
    let replayer = Replayer::without_journal(Vec::new());
    replayer.close();
    assert_eq!(ask(&replayer, "a").await, None);
    let started = step(&replayer, "b", async { unreachable!("it must not begin") });
    assert_eq!(started.await, None);
}

#[tokio::test(start_paused = true)]
async fn what_fails_ends_the_round_and_is_not_told() {
    let replayer = Replayer::without_journal(Vec::new());
    let error = ErrorObject::new(-32603, "out of order");
    let work = async {
        replayer.register("a", Fingerprint::for_step("a"));
        replayer.fail(error.clone());
        replayer.wait_outcome("a").await
    };
    let RunOutcome::Failed(fault) = run(&replayer, None, work).await else {
        panic!("it does not fail");
    };
    assert_eq!(fault, RunFailure::Failed(error));
}

#[test]
fn outcomes_survive_their_journey() {
    for outcome in [
        value(7),
        EntryOutcome::Failed("no".into()),
        EntryOutcome::Abandoned(3),
        EntryOutcome::Value(RawJson::encode(&json!({"a": [null, 1.5]})).unwrap()),
    ] {
        let written = serde_json::to_string(&entry("a", outcome.clone())).unwrap();
        let read: Entry = serde_json::from_str(&written).unwrap();
        assert_eq!(read, entry("a", outcome));
    }
}
