//! What is given to a tool.
//!
//! `word` reads what was typed, word by word; `call_form` reads
//! `tool(a: 1, b: "x")`, and `relaxed` the JSON in it that people really type.
//! `assemble` puts it together, `coerce` makes values of texts by the schema,
//! and `check` finds what does not fit before anything is sent.

mod assemble;
mod call_form;
mod check;
mod coerce;
mod problem;
mod relaxed;
mod word;

use serde_json::{Map, Value};

pub(crate) use self::{call_form::split_call, word::Given};
use self::{problem::Problem, word::Reader};
use crate::{
    failure::Failure,
    output::similar,
    signature::{Document, Schema},
};

/// All arguments, as the server is to get them.
pub(crate) type Arguments = Map<String, Value>;

/// For whom arguments are, and what they must be like.
pub(crate) struct Wanted<'a> {
    /// The name of the tool or prompt.
    pub(crate) name: &'a str,
    pub(crate) schema: Schema<'a>,
    /// How it is called, for messages.
    pub(crate) signature: String,
}

/// Reads words such as `k=v`, and `call`, which is what stood in parentheses.
pub(crate) fn read(words: &[String], call: Option<&str>) -> Result<Vec<Given>, Failure> {
    let mut given = match call {
        Some(text) => call_form::parse(text).map_err(Failure::usage)?,
        None => Vec::new(),
    };
    let mut reader = Reader::default();
    for word in words {
        given.push(reader.word(word)?);
    }
    Ok(given)
}

/// Puts arguments together as the schema says, or says what is wrong.
pub(crate) fn fit(given: Vec<Given>, wanted: &Wanted<'_>) -> Result<Arguments, Failure> {
    let (arguments, mut problems) = assemble::assemble(given, wanted.schema);
    if problems.is_empty() {
        problems = check::check(&arguments, wanted.schema);
    }
    if problems.is_empty() {
        return Ok(arguments);
    }
    Err(explain(&problems, wanted))
}

/// Puts arguments together without a schema: what reads as JSON is JSON.
pub(crate) fn unchecked(given: Vec<Given>) -> Result<Arguments, Failure> {
    let anything = Document::new("true");
    let (arguments, problems) = assemble::assemble(given, anything.schema());
    match problems.first() {
        None => Ok(arguments),
        Some(problem) => Err(Failure::usage(problem.describe("this"))),
    }
}

fn explain(problems: &[Problem], wanted: &Wanted<'_>) -> Failure {
    let meant = |problem: &'_ Problem| {
        let meant = problem.meant(|name, known| similar(name, known.iter().copied()));
        meant.map(str::to_owned)
    };
    let meant: Vec<_> = problems.iter().filter_map(meant).collect();
    let described: Vec<_> = problems
        .iter()
        // What is there under a wrong name is not missing.
        .filter(|problem| !problem.is_missing(&meant))
        .map(|problem| problem.describe(wanted.name))
        .collect();
    // Below each other, after the word `error:`.
    let mut failure = Failure::usage(described.join("\n       "));
    for meant in &meant {
        failure = failure.hint(format!("did you mean `{meant}`?"));
    }
    failure = failure.hint(wanted.signature.clone());
    match problems.iter().any(Problem::is_debatable) {
        false => failure,
        true => failure.hint("--no-check sends the arguments as they are"),
    }
}
