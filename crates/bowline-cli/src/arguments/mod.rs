//! What is given to a tool.
//!
//! `word` reads what was typed, word by word; `call_form` reads
//! `tool(a: 1, b: "x")`, and `relaxed` the JSON in it that people really type.
//! `assemble` puts it together, `build` tries it on each `view` of the schema,
//! `coerce` makes values of texts, and `check` finds what does not fit before
//! anything is sent.

mod assemble;
mod build;
mod call_form;
mod check;
mod coerce;
mod problem;
mod relaxed;
mod view;
mod word;

use std::time::Duration;

use serde_json::{Map, Value};

pub(crate) use self::{
    call_form::{Called, spelled},
    word::Given,
};
use self::{problem::Problem, word::Reader};
use crate::{
    failure::Failure,
    output::{Output, clean_name, similar},
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

/// Reads words such as `k=v`. The files that they name must end within this
/// time, if there is one.
pub(crate) fn read(words: &[String], time: Option<Duration>) -> Result<Vec<Given>, Failure> {
    let mut reader = Reader::new(time);
    words.iter().map(|word| reader.word(word)).collect()
}

impl Called<'_> {
    /// All that is given: what stood in parentheses, then what followed.
    pub(crate) fn given(&self, words: &[Given]) -> Result<Vec<Given>, Failure> {
        let mut given = match self.inside {
            Some(text) => call_form::parse(text).map_err(Failure::usage)?,
            None => Vec::new(),
        };
        given.extend_from_slice(words);
        Ok(given)
    }
}

/// Takes `word` apart: one of the names that are `known`, and its arguments.
pub(crate) fn called<'a>(
    word: &'a str,
    known: impl IntoIterator<Item = &'a str>,
) -> Result<Called<'a>, Failure> {
    Called::new(word, known).map_err(|why| {
        Failure::usage(format!("`{word}`: {why}"))
            .hint("a shell wants the whole call in quotes: 'server.tool(a: 1)'")
    })
}

/// Reads JSON as people type it.
pub(crate) fn json(text: &str) -> Result<Value, String> {
    relaxed::value(text)
}

/// Puts arguments together as the schema says, or says what is wrong.
pub(crate) fn fit(given: Vec<Given>, wanted: &Wanted<'_>) -> Result<Fitted, Failure> {
    let (arguments, mut problems) = assemble::assemble(given, wanted.schema);
    let mut is_checked = false;
    if problems.is_empty() {
        let found = check::check(&arguments, wanted.schema);
        (problems, is_checked) = (found.problems, found.is_complete);
    }
    if problems.is_empty() {
        return Ok(Fitted {
            arguments,
            is_checked,
        });
    }
    Err(explain(&problems, wanted))
}

/// Arguments in which nothing wrong was found.
pub(crate) struct Fitted {
    arguments: Arguments,
    /// Whether all of them were looked at.
    is_checked: bool,
}

impl Fitted {
    /// The arguments. If the schema was too large to check them all, that is
    /// said.
    pub(crate) fn arguments(self, output: &Output, name: &str) -> Arguments {
        if !self.is_checked {
            output.remark(format!(
                "not all arguments of {} were checked, since its schema is too large",
                clean_name(name)
            ));
        }
        self.arguments
    }
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
