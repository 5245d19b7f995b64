//! Which promise holds under which assumption: as the decision record says, and every
//! assumption that is taken out breaks what it is there for.

use std::path::Path;

use bowline_model::promise::{Promise, Promises};

use crate::table;

#[test]
fn the_decision_record_has_the_computed_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/adr/0044-model-of-the-fleet.md");
    let record = std::fs::read_to_string(path).expect("the decision record");
    let computed = table().to_markdown();
    assert!(
        record.contains(&computed),
        "the record does not have this table:\n{computed}"
    );
}

#[test]
fn every_promise_has_a_sentence_in_the_decision_record() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/adr/0044-model-of-the-fleet.md");
    let record = std::fs::read_to_string(path).expect("the decision record");
    for promise in Promise::ALL {
        let sentence = format!("- {promise}: {}", promise.sentence());
        assert!(record.contains(&sentence), "missing: {sentence}");
    }
}

#[test]
fn the_models_are_not_trivial() {
    let states = table().states();
    println!("{states} states");
    assert!(states > 1_000_000, "only {states} states");
}

#[track_caller]
fn check(row: &str, broken: &[Promise]) {
    let broken: Promises = broken.iter().copied().collect();
    let found = table().broken(row);
    assert_eq!(found, broken, "{row}: found {found}, expected {broken}");
}

#[test]
fn the_code_keeps_all_promises_but_that_of_recover() {
    use Promise::RecoveryStands;
    check("as in the code", &[RecoveryStands]);
    check("… and services honour keys", &[]);
    check("… and no message is lost", &[RecoveryStands]);
    check("… and no node stops for longer than its lease", &[]);
    check("… and there are no leases of journals", &[RecoveryStands]);
    check("one process, store in memory", &[]);
}

#[test]
fn each_safeguard_that_is_taken_out_breaks_its_promise() {
    let breaks = |row: &str, promise: Promise| {
        assert!(
            table().broken(row).contains(promise),
            "{row} keeps {promise}"
        );
        assert!(!table().broken("as in the code").contains(promise));
    };
    breaks("positions are not written once", Promise::EffectOnce);
    breaks("positions are not written once", Promise::OneCourse);
    breaks("positions are not written once", Promise::OutcomeStands);
    breaks("no versions, no tokens", Promise::EndsOnce);
    breaks("no versions, no tokens", Promise::OneOwner);
    breaks(
        "calls write with the latest token of their node",
        Promise::EndsOnce,
    );
    breaks("calls of sessions are not recorded", Promise::EffectOnce);
    breaks("results are written before effects", Promise::Truthful);
    breaks("the store forgets its last writes", Promise::EffectOnce);
    breaks("leases of tasks are for one process", Promise::AnswerKept);
    breaks(
        "nobody checks whether a task was created",
        Promise::ErrorIsFinal,
    );
    breaks(
        "one process, store in memory, leases for the process",
        Promise::Ends,
    );
}
