//! The rules of the stage, one by one.

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
    journal::{Entry, Mark, Outcome},
    perform::{Performance, perform},
    stage::{Asked, Divergence, Entered, Fault, Next, Stage},
};
use crate::proto::{
    jsonrpc::{ErrorObject, RawJson},
    model::ListRootsParams,
};

fn value(value: u32) -> Outcome {
    Outcome::Value(RawJson::encode(&value).unwrap())
}

/// What a journal says of something that had this as its id and its name.
fn entry(id: &str, outcome: Outcome) -> Entry {
    Entry {
        id: id.into(),
        mark: Mark::of_step(id),
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

/// What a conversation does to ask.
async fn ask(stage: &Stage, id: &str) -> Option<Outcome> {
    let mark = Mark::of_step(id);
    if stage.enter(id, mark) == Entered::New {
        let question = ListRootsParams::default().into();
        let id = id.into();
        stage.ask(Asked { id, mark, question });
    }
    stage.told(id).await
}

/// What it does to take a step.
async fn step(stage: &Stage, id: &str, work: impl Future<Output = u32>) -> Option<Outcome> {
    let mark = Mark::of_step(id);
    if stage.enter(id, mark) == Entered::New {
        let running = stage.begin(id, mark).await?;
        running.end(value(work.await));
    }
    stage.told(id).await
}

fn diverged(divergence: Divergence) -> Fault {
    Fault::Diverged(divergence)
}

/// Counts how often it is woken.
#[derive(Default)]
struct Alarm(AtomicUsize);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn what_is_known_is_told_in_order_and_one_at_a_time() {
    let stage = Stage::new(entries(&["b", "a"]));
    let (mut a, mut b) = (pin!(ask(&stage, "a")), pin!(ask(&stage, "b")));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(a.as_mut().poll(&mut cx).is_pending());
    assert!(b.as_mut().poll(&mut cx).is_pending());
    assert!(matches!(stage.next(), Next::Again));
    assert!(a.as_mut().poll(&mut cx).is_pending(), "b is first");
    assert_eq!(b.as_mut().poll(&mut cx), Poll::Ready(Some(value(0))));
    assert!(matches!(stage.next(), Next::Again));
    assert_eq!(a.as_mut().poll(&mut cx), Poll::Ready(Some(value(1))));
    assert!(matches!(stage.next(), Next::Wait));
    let mut new = pin!(ask(&stage, "new"));
    assert!(new.as_mut().poll(&mut cx).is_pending());
    let Next::Suspend(kept) = stage.next() else {
        panic!("it is not put off");
    };
    assert_eq!(ids(&kept.journal), ["b", "a"]);
}

/// It may not have come to the first one yet, for some reason of its own.
#[test]
fn what_is_waited_for_is_told_before_what_is_not() {
    let stage = Stage::new(entries(&["first", "second"]));
    let mut second = pin!(ask(&stage, "second"));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(second.as_mut().poll(&mut cx).is_pending());
    assert!(matches!(stage.next(), Next::Again));
    assert_eq!(second.as_mut().poll(&mut cx), Poll::Ready(Some(value(1))));
    // Nothing new was asked: there is time.
    assert!(matches!(stage.next(), Next::Wait));
    assert_eq!(
        stage.check_end(),
        Err(diverged(Divergence::Missing("first".into())))
    );
}

#[test]
fn those_who_wait_are_woken_when_they_are_told() {
    let stage = Stage::new(entries(&["a"]));
    let alarm = Arc::new(Alarm::default());
    let waker = Waker::from(Arc::clone(&alarm));
    let mut a = pin!(ask(&stage, "a"));
    assert!(
        a.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    assert_eq!(alarm.0.load(Ordering::SeqCst), 0);
    assert!(matches!(stage.next(), Next::Again));
    assert_eq!(alarm.0.load(Ordering::SeqCst), 1);
}

/// Tasks of their own enter, ask, begin and leave while nobody polls.
#[test]
fn whoever_runs_the_conversation_is_woken_by_what_happens_elsewhere() {
    let stage = Stage::new(Vec::new());
    let alarm = Arc::new(Alarm::default());
    stage.watch(&Waker::from(Arc::clone(&alarm)));
    let mut woken = 0;
    let mut check = |what: &str| {
        let now = alarm.0.load(Ordering::SeqCst);
        assert!(now > woken, "{what}");
        woken = now;
    };
    let mark = Mark::of_step("a");
    stage.enter("a", mark);
    check("entering");
    let question = ListRootsParams::default().into();
    let id = "a".into();
    stage.ask(Asked { id, mark, question });
    check("asking");
    stage.leave("a");
    check("leaving");
    stage.fail(ErrorObject::new(-1, "failed"));
    check("failing");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_dropped_is_not_asked() {
    let stage = Stage::new(Vec::new());
    let work = async {
        let quick = step(&stage, "quick", async { 7 });
        let won = tokio::select! {
            biased;
            answer = ask(&stage, "dropped") => answer,
            step = quick => step,
        };
        assert_eq!(won, Some(value(7)));
        ask(&stage, "kept").await
    };
    let Performance::Suspended(kept) = perform(&stage, None, work).await else {
        panic!("it is not put off");
    };
    assert_eq!(ids(&kept.journal), ["quick"]);
    let asked: Vec<_> = kept.asked.iter().map(|it| &*it.id).collect();
    assert_eq!(asked, ["kept"]);
}

/// An answer to a question that was dropped meanwhile is known, and is told to
/// nobody.
#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_waits_for_is_no_divergence() {
    let stage = Stage::new(entries(&["a", "b"]));
    let work = async {
        tokio::select! {
            biased;
            a = ask(&stage, "a") => a,
            b = ask(&stage, "b") => b,
        }
    };
    let Performance::Ended(first) = perform(&stage, None, work).await else {
        panic!("it does not end");
    };
    assert_eq!(first, Some(value(0)));
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_put_off_when_its_steps_have_ended() {
    let stage = Stage::new(Vec::new());
    let slow = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        1
    };
    let work = async { join!(ask(&stage, "a"), step(&stage, "slow", slow)) };
    let Performance::Suspended(kept) = perform(&stage, None, work).await else {
        panic!("it is not put off");
    };
    assert_eq!(kept.journal, [entry("slow", value(1))]);
    assert_eq!(kept.asked.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_was_dropped_is_in_the_journal_and_is_told_to_nobody() {
    let stage = Stage::new(Vec::new());
    let again = |stage: Stage| async move {
        let work = async {
            let endless = step(&stage, "endless", std::future::pending());
            let gave_up = tokio::time::timeout(Duration::from_secs(9), endless).await;
            assert!(gave_up.is_err());
            ask(&stage, "a").await
        };
        match perform(&stage, None, work).await {
            Performance::Suspended(kept) => kept,
            other => panic!("it is not put off: {other:?}"),
        }
    };
    let first = again(stage).await;
    assert_eq!(first.journal, [entry("endless", Outcome::GivenUp(10))]);
    let second = again(Stage::new(first.journal.clone())).await;
    assert_eq!(first.journal, second.journal);
}

#[tokio::test(start_paused = true)]
async fn another_thing_under_the_same_name_is_a_divergence() {
    let stage = Stage::new(vec![Entry {
        mark: Mark::of_step("something else"),
        ..entry("a", value(1))
    }]);
    let Performance::Failed(fault) = perform(&stage, None, ask(&stage, "a")).await else {
        panic!("it does not fail");
    };
    assert_eq!(fault, diverged(Divergence::Changed("a".into())));
}

#[tokio::test(start_paused = true)]
async fn to_end_without_what_is_known_is_a_divergence() {
    let stage = Stage::new(entries(&["a", "b"]));
    let Performance::Failed(fault) = perform(&stage, None, ask(&stage, "a")).await else {
        panic!("it does not fail");
    };
    assert_eq!(fault, diverged(Divergence::Missing("b".into())));
}

#[tokio::test(start_paused = true)]
async fn to_ask_something_new_without_what_is_known_is_a_divergence() {
    let stage = Stage::new(entries(&["a"]));
    let Performance::Failed(fault) = perform(&stage, None, ask(&stage, "b")).await else {
        panic!("it does not fail");
    };
    assert_eq!(fault, diverged(Divergence::Missing("a".into())));
}

#[tokio::test(start_paused = true)]
async fn a_new_step_waits_for_what_is_known() {
    let stage = Stage::new(entries(&["a"]));
    let begun = AtomicUsize::new(0);
    let work = || async {
        begun.fetch_add(1, Ordering::SeqCst);
        1
    };
    let Performance::Failed(_) = perform(&stage, None, step(&stage, "new", work())).await else {
        panic!("it does not fail");
    };
    assert_eq!(begun.load(Ordering::SeqCst), 0);

    let stage = Stage::new(entries(&["a"]));
    let late = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(begun.load(Ordering::SeqCst), 0);
        ask(&stage, "a").await
    };
    let both = async { join!(step(&stage, "new", work()), late) };
    let Performance::Ended(ended) = perform(&stage, None, both).await else {
        panic!("it does not end");
    };
    assert_eq!(ended, (Some(value(1)), Some(value(0))));
}

/// What a task on another thread begins after the decision would be in no
/// journal.
#[tokio::test(start_paused = true)]
async fn nothing_begins_once_it_is_decided_to_put_off() {
    let stage = Stage::new(Vec::new());
    let mut asked = pin!(ask(&stage, "a"));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(asked.as_mut().poll(&mut cx).is_pending());
    let decided = stage.next();
    let begun = step(&stage, "b", async { unreachable!("it must not begin") });
    assert_eq!(begun.await, None);
    assert!(matches!(decided, Next::Suspend(_)));
}

/// A task of its own that comes too late.
#[tokio::test(start_paused = true)]
async fn nothing_begins_on_a_closed_stage() {
    let stage = Stage::new(Vec::new());
    stage.close();
    assert_eq!(ask(&stage, "a").await, None);
    let begun = step(&stage, "b", async { unreachable!("it must not begin") });
    assert_eq!(begun.await, None);
}

#[tokio::test(start_paused = true)]
async fn what_fails_ends_the_round_and_is_not_told() {
    let stage = Stage::new(Vec::new());
    let error = ErrorObject::new(-32603, "out of order");
    let work = async {
        stage.enter("a", Mark::of_step("a"));
        stage.fail(error.clone());
        stage.told("a").await
    };
    let Performance::Failed(fault) = perform(&stage, None, work).await else {
        panic!("it does not fail");
    };
    assert_eq!(fault, Fault::Failed(error));
}

#[test]
fn outcomes_survive_their_journey() {
    for outcome in [
        value(7),
        Outcome::Failed("no".into()),
        Outcome::GivenUp(3),
        Outcome::Value(RawJson::encode(&json!({"a": [null, 1.5]})).unwrap()),
    ] {
        let written = serde_json::to_string(&entry("a", outcome.clone())).unwrap();
        let read: Entry = serde_json::from_str(&written).unwrap();
        assert_eq!(read, entry("a", outcome));
    }
}
