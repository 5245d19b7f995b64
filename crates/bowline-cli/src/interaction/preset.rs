//! Answers given on the command line: `--answer` and `bowline resume`.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline::model::{ElicitSchema, PropertySchema};
use serde_json::{Map, Value};

use super::{args::Answers, field};
use crate::{arguments, failure::Failure, input, locks, output::closest_name};

/// An answer to one field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PresetAnswer {
    /// The field's name, or `question.field`.
    pub(crate) key: String,
    value: AnswerValue,
    /// Whether the user typed it. A file may contain more than is asked for.
    pub(crate) is_typed: bool,
}

/// The value of an answer.
#[derive(Clone, Debug, PartialEq)]
enum AnswerValue {
    /// As typed; the field's type decides what it means.
    Text(String),
    /// As JSON.
    Json(Value),
}

/// A parsed `--answer`.
#[derive(Clone, Debug)]
pub(crate) enum AnswerWord {
    /// An answer to a field.
    Inline(Answers),
    /// A file of answers that is not read yet.
    File(String),
}

/// Parses `field=value`, `field:=JSON`, or `@file`.
pub(crate) fn parse_answer(text: &str) -> Result<AnswerWord, String> {
    match text.strip_prefix('@') {
        Some(path) => Ok(AnswerWord::File(path.to_owned())),
        None => parse_typed(text).map(AnswerWord::Inline),
    }
}

/// Reads answer files, within the timeout, if there is one.
pub(crate) fn read_answers(
    words: &[AnswerWord],
    timeout: Option<Duration>,
) -> Result<Vec<Answers>, Failure> {
    let read = |word: &AnswerWord| match word {
        AnswerWord::Inline(answers) => Ok(answers.clone()),
        AnswerWord::File(path) => {
            let text = input::read(path, timeout)?;
            parse_answer_file(&text).map_err(|why| Failure::usage(format!("{path}: {why}")))
        }
    };
    words.iter().map(read).collect()
}

pub(super) fn parse_typed(text: &str) -> Result<Answers, String> {
    let usage = "expected field=value, field:=JSON or @answers.json";
    let (key, value) = text.split_once('=').ok_or(usage)?;
    let (key, value) = match key.strip_suffix(':') {
        Some(key) => {
            let value =
                arguments::parse_json(value).map_err(|why| format!("invalid JSON: {why}"))?;
            (key, AnswerValue::Json(value))
        }
        None => (key, AnswerValue::Text(value.to_owned())),
    };
    if key.is_empty() {
        return Err(usage.to_owned());
    }
    let answer = PresetAnswer {
        key: key.to_owned(),
        value,
        is_typed: true,
    };
    Ok([answer].into())
}

/// Parses an object of answers by field, or of such objects by question.
fn parse_answer_file(text: &str) -> Result<Answers, String> {
    let all = match arguments::parse_json(text) {
        Ok(Value::Object(all)) => all,
        Ok(_) => return Err("expected an object".to_owned()),
        Err(why) => return Err(format!("invalid JSON: {why}")),
    };
    let given = |key, value| PresetAnswer {
        key,
        value: AnswerValue::Json(value),
        is_typed: false,
    };
    let mut answers = Vec::new();
    for (key, value) in all {
        match value {
            Value::Object(fields) => answers.extend(
                fields
                    .into_iter()
                    .map(|(field, value)| given(format!("{key}.{field}"), value)),
            ),
            value => answers.push(given(key, value)),
        }
    }
    Ok(answers.into())
}

/// All answers given on the command line, and which of them were used.
#[derive(Debug, Default)]
pub(crate) struct PresetAnswers {
    /// Answers for a suspended call come first.
    answers: Vec<PresetAnswer>,
    /// The number of answers for a suspended call.
    suspended_count: usize,
    /// Whether the questions of the suspended call are answered. Later
    /// questions may have fields of the same names with another meaning.
    suspended_done: AtomicBool,
    used: Mutex<BTreeSet<usize>>,
    asked_fields: Mutex<BTreeSet<String>>,
}

impl PresetAnswers {
    /// Combines answers to any question with those for a suspended call.
    pub(crate) fn new(answers: &[Answers], suspended: &[Answers]) -> Self {
        let flatten = |answers: &[Answers]| -> Vec<PresetAnswer> {
            let each = answers.iter().flat_map(|batch| batch.iter().cloned());
            each.collect()
        };
        let mut all = flatten(suspended);
        let suspended_count = all.len();
        all.extend(flatten(answers));
        Self {
            answers: all,
            suspended_count,
            ..Self::default()
        }
    }

    /// Sets whether the questions of the suspended call are answered.
    pub(crate) fn set_suspended_done(&self, is_over: bool) {
        self.suspended_done.store(is_over, Ordering::Relaxed);
    }

    /// Returns the answers for the fields of a form, and the invalid ones.
    pub(crate) fn fill(&self, question: Option<&str>, form: &ElicitSchema) -> FilledForm {
        let mut filled = FilledForm::default();
        for (name, schema) in form.properties.iter() {
            locks::lock(&self.asked_fields).insert(name.to_owned());
            let answers = self.answers_for(question, name);
            if answers.is_empty() {
                continue;
            }
            let checked = combined_value(&answers, schema).and_then(|value| {
                field::check_value(name, schema, &value)?;
                Ok(value)
            });
            match checked {
                Ok(value) => drop(filled.content.insert(name.to_owned(), value)),
                Err(why) => filled.invalid.push((name.to_owned(), why)),
            }
        }
        filled
    }

    /// Returns the answers for a field. Answers for this question take
    /// precedence over general ones, and those for a suspended call over both.
    fn answers_for(&self, question: Option<&str>, field: &str) -> Vec<&PresetAnswer> {
        let full_key = question.map(|question| format!("{question}.{field}"));
        let start = match self.suspended_done.load(Ordering::Relaxed) {
            true => self.suspended_count,
            false => 0,
        };
        let is_for = |key: &str| key == field || full_key.as_deref() == Some(key);
        let all = start..self.answers.len();
        let all: Vec<_> = all
            .filter(|index| is_for(&self.answers[*index].key))
            .collect();
        // Overridden answers were meant for this field too.
        locks::lock(&self.used).extend(&all);
        let rank = |index: usize| {
            (
                index >= self.suspended_count,
                self.answers[index].key == field,
            )
        };
        let best = all.iter().map(|index| rank(*index)).min();
        let best = all.into_iter().filter(|index| Some(rank(*index)) == best);
        best.map(|index| &self.answers[index]).collect()
    }

    /// Returns the unused answers, with suggestions: the typed ones, or those
    /// from files.
    pub(crate) fn unused(&self, typed: bool) -> Vec<String> {
        let (used, asked) = (locks::lock(&self.used), locks::lock(&self.asked_fields));
        let all = self.answers.iter().enumerate();
        let unused =
            all.filter(|(index, answer)| !used.contains(index) && answer.is_typed == typed);
        unused
            .map(|(_, answer)| {
                let field = answer.key.rsplit('.').next().unwrap_or_default();
                let field_names = asked.iter().map(String::as_str);
                match closest_name(field, field_names)
                    .filter(|suggestion| *suggestion != answer.key)
                {
                    Some(suggestion) => {
                        format!(
                            "no question has a field `{}`; did you mean `{suggestion}`?",
                            answer.key
                        )
                    }
                    None => format!("no question has a field `{}`", answer.key),
                }
            })
            .collect()
    }
}

/// Combines the answers for a field: several make a list if the field is one.
fn combined_value(given: &[&PresetAnswer], schema: &PropertySchema) -> Result<Value, String> {
    if let [only] = given {
        return only.value_for(schema);
    }
    if !matches!(schema, PropertySchema::MultiChoice(_)) {
        return Err("answered more than once, but takes one value".to_owned());
    }
    let mut items: Vec<Value> = Vec::new();
    for given in given {
        let values = match given.value_for(schema)? {
            Value::Array(values) => values,
            one => vec![one],
        };
        for item in values {
            if !items.contains(&item) {
                items.push(item);
            }
        }
    }
    Ok(items.into())
}

impl PresetAnswer {
    fn value_for(&self, schema: &PropertySchema) -> Result<Value, String> {
        match &self.value {
            AnswerValue::Text(text) => field::parse_value(schema, text),
            AnswerValue::Json(value) => Ok(value.clone()),
        }
    }
}

/// A form, as far as it is filled in.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct FilledForm {
    pub(crate) content: Map<String, Value>,
    /// Fields with invalid answers, and why.
    pub(crate) invalid: Vec<(String, String)>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form() -> ElicitSchema {
        let form = json!({"type": "object", "properties": {
            "seat": {"type": "string", "enum": ["window", "aisle"]},
            "bags": {"type": "integer"},
            "extras": {"type": "array", "items": {"type": "string", "enum": ["wifi", "meal", "bag"]}},
        }});
        serde_json::from_value(form).expect("a form")
    }

    fn parsed(texts: &[&str]) -> Vec<Answers> {
        texts
            .iter()
            .map(|text| parse_typed(text).expect(text))
            .collect()
    }

    fn answers(texts: &[&str]) -> PresetAnswers {
        PresetAnswers::new(&parsed(texts), &[])
    }

    fn content(given: &PresetAnswers, question: Option<&str>) -> Value {
        given.fill(question, &form()).content.into()
    }

    #[test]
    fn a_question_s_own_answer_goes_before_one_for_all() {
        let given = answers(&["bags=1", "pick.bags=2", "seat=aisle"]);
        let picked = json!({"seat": "aisle", "bags": 2});
        assert_eq!(content(&given, Some("pick")), picked);
        let other = json!({"seat": "aisle", "bags": 1});
        assert_eq!(content(&given, Some("other")), other);
        assert_eq!(given.unused(true), [""; 0]);
    }

    #[test]
    fn several_answers_make_a_list_where_the_field_is_one() {
        let given = answers(&["extras=bag", "extras:=[wifi, bag]"]);
        assert_eq!(content(&given, None), json!({"extras": ["bag", "wifi"]}));
        let given = answers(&["seat=aisle", "seat=window"]);
        let filled = given.fill(None, &form());
        let why = "answered more than once, but takes one value";
        assert_eq!(filled.invalid, [("seat".to_owned(), why.to_owned())]);
    }

    #[test]
    fn answers_for_a_suspended_call_are_for_no_other_question() {
        let given = PresetAnswers::new(&parsed(&["bags=1"]), &parsed(&["seat=aisle", "bags=2"]));
        let first = json!({"seat": "aisle", "bags": 2});
        assert_eq!(content(&given, Some("pick")), first);
        given.set_suspended_done(true);
        assert_eq!(content(&given, Some("pick")), json!({"bags": 1}));
        assert_eq!(given.unused(true), [""; 0]);
    }

    #[test]
    fn what_does_not_fit_or_was_not_asked_is_told() {
        let given = answers(&["bags=many", "seet=aisle", "zebra=1"]);
        let filled = given.fill(None, &form());
        assert_eq!(filled.content.len(), 0);
        assert_eq!(filled.invalid[0].0, "bags");
        let unused = given.unused(true);
        assert_eq!(
            unused[0],
            "no question has a field `seet`; did you mean `seat`?"
        );
        assert_eq!(unused[1], "no question has a field `zebra`");
        assert_eq!(given.unused(false), [""; 0]);
    }

    #[test]
    fn a_file_answers_by_field_or_by_question() {
        let file =
            parse_answer_file(r#"{"bags": 4, "pick": {"seat": "window"}}"#).expect("answers");
        let given = PresetAnswers::new(&[file], &[]);
        assert_eq!(content(&given, None), json!({"bags": 4}));
        assert_eq!(given.unused(true), [""; 0]);
        assert_eq!(
            given.unused(false),
            ["no question has a field `pick.seat`; did you mean `seat`?"]
        );
        let picked = json!({"seat": "window", "bags": 4});
        assert_eq!(content(&given, Some("pick")), picked);
        assert!(parse_answer_file("[1]").is_err());
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for text in ["seat", "=x", ":=1", "a:={"] {
            assert!(parse_answer(text).is_err(), "{text}");
        }
        let missing = parse_answer("@/there/is/no/such/file").expect("it is read later");
        assert!(read_answers(&[missing], None).is_err());
    }
}
