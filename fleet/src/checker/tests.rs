//! Logs by hand, each with one thing wrong.

use std::slice::from_ref;

use super::{Evidence, check};
use crate::{
    effects::{Effect, LogLine},
    outcome::{End, Kind, Outcome, Report},
};

/// A line of the log: its number, course, step and answers.
fn line(id: u64, course: &str, step: &str, answers: &[&str]) -> LogLine {
    let effect = Effect {
        conversation: "c".to_owned(),
        course: course.to_owned(),
        step: step.to_owned(),
        key: format!("{course} {step}"),
        answers: answers.iter().map(ToString::to_string).collect(),
        node: "node-0".to_owned(),
        process: 1,
    };
    LogLine::Happened { id, effect }
}

/// All that happens in a call.
fn all_lines() -> Vec<LogLine> {
    vec![
        line(1, "x", "reserve", &[]),
        line(2, "x", "charge", &["a"]),
        line(3, "x", "ship", &["a", "b"]),
    ]
}

fn report(effects: &[(&str, u64)]) -> Report {
    let effects = effects.iter().map(|(step, id)| ((*step).to_owned(), *id));
    Report {
        effects: effects.collect(),
        ..Report::default()
    }
}

fn full_report() -> Report {
    report(&[("reserve", 1), ("charge", 2), ("ship", 3)])
}

fn ended(end: End) -> Outcome {
    Outcome {
        conversation: "c".to_owned(),
        kind: Kind::Rounds,
        beginnings: 1,
        end,
        also_reported: Vec::new(),
    }
}

#[track_caller]
fn assert_found(log: &[LogLine], outcomes: &[Outcome], messages: &[&str]) {
    let found = check(&Evidence {
        log,
        planned: &["c".to_owned()],
        outcomes,
        is_durable: true,
    });
    let found: Vec<&str> = found.iter().map(|it| &*it.message).collect();
    assert_eq!(found, messages);
}

#[test]
fn a_call_that_completed_is_fine() {
    assert_found(&all_lines(), &[ended(End::Reported(full_report()))], &[]);
}

#[test]
fn a_call_that_is_unknown_may_have_happened_or_not() {
    for length in 0..=3 {
        let log = &all_lines()[..length];
        assert_found(log, &[ended(End::Unknown("the connection was cut"))], &[]);
    }
}

#[test]
fn a_call_without_an_outcome_is_found_and_so_are_two() {
    let none = "it has 0 outcomes instead of one";
    let unknown = "nobody knows of this call, but it had effects";
    assert_found(&[], &[], &[none]);
    assert_found(&all_lines(), &[], &[none, unknown]);
    let twice = [ended(End::Cancelled), ended(End::Cancelled)];
    assert_found(&[], &twice, &["it has 2 outcomes instead of one"]);
}

#[test]
fn an_effect_that_happened_twice_is_found() {
    let mut log = all_lines();
    log.push(line(4, "x", "ship", &["a", "b"]));
    assert_found(
        &log,
        &[ended(End::Reported(full_report()))],
        &[
            "step ship happened 2 times in one course",
            "step ship happened 2 times",
        ],
    );
    let twice = [line(1, "x", "reserve", &[]), line(2, "x", "reserve", &[])];
    let found = ["step reserve happened 2 times in one course"];
    assert_found(&twice, &[ended(End::Cancelled)], &found);
}

#[test]
fn each_request_may_begin_a_course_and_no_more() {
    let log = [line(1, "x", "reserve", &[]), line(2, "y", "reserve", &[])];
    let mut outcome = ended(End::Reported(report(&[("reserve", 1)])));
    let found = ["1 requests began 2 courses"];
    assert_found(&log, from_ref(&outcome), &found);
    outcome.beginnings = 2;
    assert_found(&log, &[outcome], &[]);
}

#[test]
fn a_call_that_was_not_processed_has_no_effects() {
    let mut outcome = ended(End::LostSession);
    outcome.beginnings = 0;
    assert_found(&[], from_ref(&outcome), &[]);
    let log = [line(1, "x", "plain", &[])];
    assert_found(&log, &[outcome], &["0 requests began 1 courses"]);
}

#[test]
fn effects_of_different_answers_are_found() {
    let log = [
        line(1, "x", "charge", &["a"]),
        line(2, "x", "ship", &["evil", "b"]),
    ];
    let found = ["effects of different answers happened"];
    assert_found(&log, &[ended(End::Cancelled)], &found);
    let mut outcome = ended(End::Cancelled);
    outcome.beginnings = 2;
    let log = [
        line(1, "x", "charge", &["a"]),
        line(2, "y", "ship", &["a", "b"]),
    ];
    let found = ["steps after a question happened in different courses"];
    assert_found(&log, &[outcome], &found);
}

#[test]
fn what_was_reported_and_did_not_happen_is_found() {
    let log = &all_lines()[..2];
    let found = ["effect 3 of step ship was reported and did not happen"];
    assert_found(log, &[ended(End::Reported(full_report()))], &found);
    let wrong = report(&[("reserve", 2)]);
    let found = ["effect 2 of step reserve was reported and did not happen"];
    assert_found(log, &[ended(End::Reported(wrong))], &found);
    let nothing = ended(End::Reported(Report::default()));
    assert_found(&[], &[nothing], &["nothing was reported"]);
}

#[test]
fn what_was_reported_as_not_done_and_happened_is_found() {
    let mut report = report(&[("reserve", 1)]);
    report.void.push("charge".to_owned());
    let outcome = ended(End::Reported(report));
    assert_found(&all_lines()[..1], from_ref(&outcome), &[]);
    let found = ["step charge was reported as not done and happened"];
    assert_found(&all_lines()[..2], &[outcome], &found);
}

#[test]
fn everyone_is_told_the_same() {
    let mut outcome = ended(End::Reported(full_report()));
    outcome.also_reported.push(full_report());
    assert_found(&all_lines(), from_ref(&outcome), &[]);
    outcome.also_reported.push(report(&[("reserve", 1)]));
    let found = ["it was reported to have ended in different ways"];
    assert_found(&all_lines(), &[outcome], &found);
}

#[test]
fn calls_that_do_not_end_and_tasks_that_are_lost_are_found() {
    let stuck = ended(End::Stuck("the task is working".to_owned()));
    assert_found(&[], &[stuck], &["it did not end: the task is working"]);
    let lost = ended(End::LostTask);
    let found = ["the task was lost, although the store keeps everything"];
    assert_found(&[], from_ref(&lost), &found);
    let forgetful = Evidence {
        log: &[],
        planned: &["c".to_owned()],
        outcomes: &[lost],
        is_durable: false,
    };
    assert_eq!(check(&forgetful), []);
}

/// What a service rejected did not happen.
#[test]
fn rejected_effects_do_not_count() {
    let LogLine::Happened { effect, .. } = line(9, "x", "charge", &["a"]) else {
        panic!("it happened");
    };
    let log = [line(1, "x", "reserve", &[]), LogLine::Rejected { effect }];
    let mut report = report(&[("reserve", 1)]);
    report.void.push("charge".to_owned());
    assert_found(&log, &[ended(End::Reported(report))], &[]);
}
