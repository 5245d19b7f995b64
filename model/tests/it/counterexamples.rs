//! The shortest ways to break promises, step by step.

use bowline_model::{
    checker::{Model, explore},
    faults::{Budget, Leases},
    journal::JournalRules,
    node::Ownership,
    promise::Promise,
    round::Script,
    task::Tasks,
};

use crate::table;

#[track_caller]
fn check_steps(steps: Option<&[String]>, expected: &[&str]) {
    let steps = steps.expect("the promise is broken");
    for (number, step) in steps.iter().enumerate() {
        println!("{:>4}. {step}", number + 1);
    }
    let mut found = steps.iter();
    for part in expected {
        assert!(
            found.any(|step| step.contains(part)),
            "no step has {part:?} in order: {steps:#?}"
        );
    }
}

#[track_caller]
fn check(row: &str, promise: Promise, expected: &[&str]) {
    println!("{row}: {promise} is broken ({}):", promise.sentence());
    check_steps(table().counterexample(row, promise), expected);
}

#[test]
fn a_stalled_node_repeats_an_effect_if_positions_are_not_written_once() {
    let begins = "append to A \"step begins\": written";
    let expected = [
        "node 1: open A",
        "the lease of A expires",
        "node 2: open A",
        begins,
        begins,
        "HAS ITS EFFECT",
        "HAS ITS EFFECT",
    ];
    check(
        "positions are not written once",
        Promise::EffectOnce,
        &expected,
    );
}

#[test]
fn a_call_that_was_reported_as_failed_is_run_later() {
    check(
        "nobody checks whether a task was created",
        Promise::ErrorIsFinal,
        &["the reply is lost", "claim A", "HAS ITS EFFECT"],
    );
}

/// What remains: a store from which no reply comes for longer than a lease, but which
/// has stored the task, and answers another node.
#[test]
fn a_call_that_was_reported_as_failed_is_run_later_if_many_replies_are_lost() {
    let faults = |lost_messages| Budget {
        crashes: 0,
        lost_messages,
    };
    let few = Tasks {
        faults: faults(3),
        ..tasks()
    };
    assert!(!explore(&few).broken().contains(Promise::ErrorIsFinal));
    let many = Tasks {
        faults: faults(4),
        ..tasks()
    };
    let no_reply = "look for A: no reply";
    let expected = [
        "create A: the reply is lost",
        no_reply,
        no_reply,
        no_reply,
        "claim A",
        "HAS ITS EFFECT",
    ];
    check_model(&many, Promise::ErrorIsFinal, &expected);
}

#[test]
fn recover_is_overtaken_by_a_node_that_stopped() {
    check(
        "as in the code",
        Promise::RecoveryStands,
        &["recover looks for the effect", "HAS ITS EFFECT"],
    );
}

#[test]
fn a_store_that_forgets_lets_an_effect_happen_twice() {
    check(
        "the store forgets its last writes",
        Promise::EffectOnce,
        &["HAS ITS EFFECT", "forgets", "HAS ITS EFFECT"],
    );
}

#[test]
fn a_call_is_lost_and_has_a_result_if_it_writes_with_a_later_token() {
    check(
        "calls write with the latest token of their node",
        Promise::EndsOnce,
        &[
            "node 2: take session A up",
            "node 1: take session A up",
            "has a result: written",
        ],
    );
}

/// One task on two nodes, without the faults of the other models.
fn tasks() -> Tasks {
    let journal = JournalRules {
        write_once: true,
        has_leases: true,
    };
    Tasks {
        script: Script {
            steps: &[false, true],
            recovers: false,
            honours_keys: false,
            result_after_effect: true,
            journal,
        },
        count: 1,
        nodes: 2,
        leases: Leases::Expire,
        faults: Budget::default(),
        forgets: false,
        has_versions: true,
        has_takeovers: true,
        has_cancellation: false,
        ownership: Ownership::Run,
        checks_refusals: true,
        checks_creation: true,
    }
}

#[track_caller]
fn check_model(model: &impl Model, promise: Promise, expected: &[&str]) {
    println!("{promise} is broken ({}):", promise.sentence());
    check_steps(explore(model).counterexample(promise), expected);
}

#[test]
fn a_task_keeps_all_promises_without_lost_messages() {
    let broken = explore(&tasks()).broken();
    assert!(broken.is_empty(), "broken: {broken}");
}

#[test]
fn a_task_that_has_ended_changes_without_versions() {
    let model = Tasks {
        has_versions: false,
        ..tasks()
    };
    let expected = [
        "load A, has its lease",
        "the lease of A expires",
        "claim A",
        "update A: completed",
        "update A: waits for an answer; stored",
    ];
    check_model(&model, Promise::EndsOnce, &expected);
}

#[test]
fn an_answer_waits_for_a_takeover_if_the_last_run_is_still_in_the_list() {
    let model = Tasks {
        ownership: Ownership::Process,
        has_takeovers: false,
        nodes: 1,
        ..tasks()
    };
    let expected = ["waits for an answer; stored", "accepted, NOT RUN"];
    check_model(&model, Promise::Ends, &expected);
}

#[test]
fn an_answer_is_overwritten_by_an_earlier_run_of_the_same_process() {
    let model = Tasks {
        ownership: Ownership::Process,
        faults: Budget {
            crashes: 0,
            lost_messages: 1,
        },
        ..tasks()
    };
    let expected = [
        "waits for an answer; stored, but the reply is lost",
        "answer x to A is accepted, NOT RUN",
        "update A: waits for an answer; stored",
    ];
    check_model(&model, Promise::AnswerKept, &expected);
}

#[test]
fn an_answer_is_overwritten_without_any_lost_message() {
    let model = Tasks {
        ownership: Ownership::Process,
        ..tasks()
    };
    let expected = ["claim A", "accepted, NOT RUN", "update A: "];
    check_model(&model, Promise::AnswerKept, &expected);
}

#[test]
fn a_late_refusal_ends_a_task_that_was_answered() {
    let model = Tasks {
        has_cancellation: true,
        checks_refusals: false,
        ..tasks()
    };
    let expected = [
        "a client is asked",
        "answer x to A is accepted",
        "the client refuses to answer A, which is working",
    ];
    check_model(&model, Promise::AnswerKept, &expected);
}
