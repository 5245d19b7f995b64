//! What one honest course of each conversation allows.

use std::{collections::HashMap, time::Duration};

use serde_json::Value;

use super::{
    tools::IN_TIME,
    world::{Effect, LIFE, Ledger},
};

/// How much later than the first step the life of a conversation may be
/// counted from, and how long a round may go on that began in time.
const SLACK: Duration = Duration::from_secs(60);

/// All that is wrong, each with the number of its rule.
pub(crate) fn faults(ledger: &Ledger, ends: &HashMap<usize, Vec<Value>>) -> Vec<(u8, String)> {
    let mut faults = Vec::new();
    for conversation in 0..ledger.conversations.len() {
        let effects = ledger.effects.iter();
        let effects: Vec<_> = effects
            .filter(|effect| effect.conversation == conversation)
            .collect();
        let found = pairs(&effects)
            .into_iter()
            .chain(strays(ledger, conversation, &effects));
        let told: Vec<_> = effects
            .iter()
            .map(|effect| format!("    {effect}"))
            .collect();
        faults.extend(found.map(|(rule, what)| {
            let told = told.join("\n");
            (rule, format!("conversation {conversation}: {what}\n{told}"))
        }));
    }
    for (call, ends) in ends {
        let other = ends.iter().find(|end| **end != ends[0]);
        if let Some(other) = other {
            let what = format!("call {call} has two ends:\n    {}\n    {other}", ends[0]);
            faults.push((5, what));
        }
    }
    faults.sort();
    faults
}

/// What must not be true of any two effects of a conversation.
fn pairs(effects: &[&Effect]) -> Vec<(u8, String)> {
    let mut faults = Vec::new();
    for (number, one) in effects.iter().enumerate() {
        for other in &effects[number + 1..] {
            let (a, b) = (&one.name, &other.name);
            if a == b {
                faults.push((1, format!("{a:?} happened twice")));
            }
            let known = one.known.iter();
            let mut torn = known.filter_map(|(question, answer)| {
                let differs = other.known.get(question)? != answer;
                differs.then_some(question)
            });
            if let Some(question) = torn.next() {
                let what = format!("two courses: {a:?} and {b:?} differ in {question:?}");
                let rule = if question == IN_TIME { 8 } else { 2 };
                faults.push((rule, what));
            }
            if [a, b].contains(&&"after".to_owned()) && [a, b].contains(&&"cleanup".to_owned()) {
                faults.push((4, "after and cleanup".to_owned()));
            }
        }
    }
    faults
}

/// What must not be true of any effect.
fn strays(ledger: &Ledger, conversation: usize, effects: &[&Effect]) -> Vec<(u8, String)> {
    let origin = &ledger.conversations[conversation];
    let mut faults = Vec::new();
    for effect in effects {
        let name = &effect.name;
        if name.starts_with("wrong") {
            faults.push((0, format!("an answer in the wrong place: {name}")));
        }
        if effect.argument != origin.argument || effect.principal != origin.principal {
            let what = format!("{name:?} belongs to another request than {origin:?}");
            faults.push((3, what));
        }
        if effect.at > origin.at + LIFE + SLACK && name != "cleanup" {
            let what = format!("{name:?} after the end of {origin:?}");
            faults.push((6, what));
        }
    }
    faults
}
