//! Output shapes that a server does not declare, learned from results.

use bowline_schema::observe::Observer;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What results of a tool looked like: names and types of members, never values.
///
/// It is a hint for people and generators, since nothing promises that later results
/// look the same. A declared output schema always wins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ObservedOutput {
    /// How many results were observed.
    pub count: u64,
    /// Their common schema.
    pub schema: Value,
}

impl ObservedOutput {
    /// Adds a result to what was observed before.
    #[must_use]
    pub fn observe(before: Option<Self>, result: &Value) -> Self {
        let (mut observer, count) = match before {
            Some(before) => (Observer::from_schema(&before.schema), before.count),
            None => (Observer::default(), 0),
        };
        observer.observe(result);
        Self {
            count: count.saturating_add(1),
            schema: observer.to_schema(),
        }
    }
}
