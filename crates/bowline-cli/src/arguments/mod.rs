//! Parsing tool arguments.
//!
//! `word` parses the command line word by word; `call_expression` parses
//! `tool(a: 1, b: "x")`, and `loose_json` the relaxed JSON in it, if it is not
//! `strict_json`. `assemble` puts everything together, `build` tries it on each
//! of the schema's `alternatives`, `coerce` converts strings to values, and
//! `check` finds each `problem` and its `place` before anything is sent.

mod alternatives;
mod assemble;
mod build;
mod call_expression;
mod check;
mod coerce;
mod loose_json;
mod place;
mod problem;
mod strict_json;
mod word;

use std::time::Duration;

use bowline_schema::shape::Shape;
use serde_json::{Map, Value};

pub(crate) use self::{
    call_expression::{CallExpression, quoted_name},
    word::ArgumentWord,
};
use self::{problem::ArgumentProblem, word::WordReader};
use crate::{
    failure::Failure,
    output::{Output, closest_name, escape_name},
};

/// The arguments as sent to the server.
pub(crate) type Arguments = Map<String, Value>;

/// The tool or prompt that arguments are for, and its schema.
pub(crate) struct ArgumentTarget<'a> {
    /// The name of the tool or prompt.
    pub(crate) name: &'a str,
    pub(crate) shape: &'a Shape,
    /// Its signature, for messages.
    pub(crate) signature: String,
}

/// Parses words such as `k=v`. Reading the files they name must finish within
/// the timeout, if there is one.
pub(crate) fn parse_words(
    words: &[String],
    timeout: Option<Duration>,
) -> Result<Vec<ArgumentWord>, Failure> {
    let mut reader = WordReader::new(timeout);
    words.iter().map(|word| reader.read_word(word)).collect()
}

impl CallExpression<'_> {
    /// Returns all arguments: those in parentheses, then the others.
    pub(crate) fn all_arguments(
        &self,
        words: &[ArgumentWord],
    ) -> Result<Vec<ArgumentWord>, Failure> {
        let mut all_words = match self.arguments {
            Some(text) => call_expression::parse_arguments(text).map_err(Failure::usage)?,
            None => Vec::new(),
        };
        all_words.extend_from_slice(words);
        Ok(all_words)
    }
}

/// Parses `word` as one of the `known` names with its arguments.
pub(crate) fn parse_call<'a>(
    word: &'a str,
    known: impl IntoIterator<Item = &'a str>,
) -> Result<CallExpression<'a>, Failure> {
    CallExpression::new(word, known).map_err(|why| {
        Failure::usage(format!("`{word}`: {why}"))
            .hint("quote the whole call in a shell: 'server.tool(a: 1)'")
    })
}

/// Parses relaxed JSON.
pub(crate) fn parse_json(text: &str) -> Result<Value, String> {
    loose_json::parse(text)
}

/// Builds arguments by the schema, or returns what is wrong with them.
pub(crate) fn build_checked(
    words: Vec<ArgumentWord>,
    target: &ArgumentTarget<'_>,
) -> Result<CheckedArguments, Failure> {
    let (arguments, mut problems) = assemble::assemble(words, target.shape);
    let mut is_checked = false;
    if problems.is_empty() {
        let found = check::check(&arguments, target.shape);
        (problems, is_checked) = (found.problems, found.is_complete);
    }
    if problems.is_empty() {
        return Ok(CheckedArguments {
            arguments,
            is_checked,
        });
    }
    Err(usage_failure(&problems, target))
}

/// Arguments in which no problem was found.
pub(crate) struct CheckedArguments {
    arguments: Arguments,
    /// Whether all of them were checked.
    is_checked: bool,
}

impl CheckedArguments {
    /// Returns the arguments. Prints a note if the schema was too large to
    /// check them all.
    pub(crate) fn into_arguments(self, output: &Output, name: &str) -> Arguments {
        if !self.is_checked {
            output.note(format!(
                "not all arguments of {} were checked: its schema is too large",
                escape_name(name)
            ));
        }
        self.arguments
    }
}

/// Builds arguments without a schema: valid JSON is parsed.
pub(crate) fn build_unchecked(words: Vec<ArgumentWord>) -> Result<Arguments, Failure> {
    let permissive = Shape::new(Value::Bool(true));
    let (arguments, problems) = assemble::assemble(words, &permissive);
    match problems.first() {
        None => Ok(arguments),
        Some(problem) => Err(Failure::usage(problem.describe("this"))),
    }
}

fn usage_failure(problems: &[ArgumentProblem], target: &ArgumentTarget<'_>) -> Failure {
    let suggestions = problems.iter().filter_map(|problem| {
        let find = |name: &str, known: &[_]| closest_name(name, known.iter().copied());
        Some((problem, problem.suggestion(find)?))
    });
    let suggestions: Vec<_> = suggestions.collect();
    // An argument given under a wrong name is not missing.
    let is_explained = |problem: &ArgumentProblem| {
        let mut suggestions = suggestions.iter();
        suggestions.any(|(other, meant)| problem.is_explained_by(other, meant))
    };
    let described: Vec<_> = problems
        .iter()
        .filter(|problem| !is_explained(problem))
        .map(|problem| problem.describe(target.name))
        .collect();
    // Aligned after `error:`.
    let mut failure = Failure::usage(described.join("\n       "));
    for (_, meant) in &suggestions {
        failure = failure.hint(format!("did you mean `{meant}`?"));
    }
    failure = failure.hint(target.signature.clone());
    match problems.iter().any(ArgumentProblem::is_advisory) {
        false => failure,
        true => failure.hint("use --no-check to send the arguments as they are"),
    }
}

#[cfg(test)]
mod tests {
    use bowline_schema::shape::Shape;
    use serde_json::json;

    use super::{ArgumentTarget, build_checked, parse_words};

    #[test]
    fn what_is_given_under_a_wrong_name_is_not_missing() {
        let shape = Shape::new(json!({
            "properties": {
                "from": {"type": "string"},
                "stops": {"items": {
                    "properties": {"city": {"type": "string"}, "from": {"type": "string"}},
                    "required": ["city", "from"]
                }}
            },
            "required": ["from"]
        }));
        let target = ArgumentTarget {
            name: "fly",
            shape: &shape,
            signature: "fly(…)".to_owned(),
        };
        let words = ["form=Porto", "stops:=[{ctiy: Faro}]"].map(str::to_owned);
        let words = parse_words(&words, None).expect("they can be read");
        let failure = build_checked(words, &target).err().expect("it is wrong");
        assert_eq!(
            failure.message.lines().map(str::trim).collect::<Vec<_>>(),
            [
                "fly has no argument `stops[0].ctiy`",
                "fly has no argument `form`",
                "`stops[0].from` is missing: string",
            ]
        );
    }
}
