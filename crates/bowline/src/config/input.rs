//! Input variables: questions to the user that a configuration declares.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use serde_json::Value;

/// A question to the user, as VS Code's files declare it in `inputs`. Entries refer to
/// it as `${input:id}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputVariable {
    /// The ID that entries refer to.
    pub id: String,
    /// The question.
    pub description: Option<String>,
    /// Whether the answer is a secret.
    pub password: bool,
    /// The suggested answer.
    pub default: Option<String>,
    /// The answers to choose from; any answer is allowed if this is empty.
    pub options: Vec<String>,
}

/// The function that answers inputs.
pub(super) type AskFn = Arc<dyn Fn(&InputVariable) -> Option<String> + Send + Sync>;

/// The inputs of one file. Each is asked for at most once, however many servers refer
/// to it.
pub(super) struct Inputs<'a> {
    declared: Vec<InputVariable>,
    ask: Option<&'a AskFn>,
    answers: RefCell<BTreeMap<String, Option<String>>>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(declared: Vec<InputVariable>, ask: Option<&'a AskFn>) -> Self {
        Self {
            declared,
            ask,
            answers: RefCell::default(),
        }
    }

    pub(super) fn value(&self, id: &str) -> Option<String> {
        let ask = self.ask?;
        let known = self.answers.borrow().get(id).cloned();
        known.unwrap_or_else(|| {
            let answer = ask(&self.find(id));
            let mut answers = self.answers.borrow_mut();
            answers.insert(id.to_owned(), answer.clone());
            answer
        })
    }

    fn find(&self, id: &str) -> InputVariable {
        let declared = self.declared.iter().find(|input| input.id == id);
        declared.cloned().unwrap_or_else(|| InputVariable {
            id: id.to_owned(),
            ..InputVariable::default()
        })
    }
}

/// Parses the declared inputs of a file. An invalid declaration counts as missing: the
/// function that answers still gets the ID.
pub(super) fn parse_inputs(value: &Value) -> Vec<InputVariable> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(parse_input).collect()
}

fn parse_input(value: &Value) -> Option<InputVariable> {
    let string = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let options = value.get("options").and_then(Value::as_array);
    Some(InputVariable {
        id: string("id")?,
        description: string("description"),
        password: value.get("password") == Some(&Value::Bool(true)),
        default: string("default"),
        options: options.into_iter().flatten().filter_map(option).collect(),
    })
}

/// Parses an option: a string, or an object with a label and a value.
fn option(option: &Value) -> Option<String> {
    let value = option.get("value").unwrap_or(option);
    value.as_str().map(str::to_owned)
}
