//! Answers that were given beforehand: `--answer` and `bowline resume`.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline::proto::model::{ElicitSchema, PropertySchema};
use serde_json::{Map, Value};

use super::{args::Answers, field};
use crate::{arguments, failure::Failure, input, output::similar};

/// One answer to one field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    /// The field's name, or `question.field`.
    pub(crate) key: String,
    value: Worth,
    /// Whether a person typed it. A file may say more than is asked for.
    pub(crate) is_typed: bool,
}

/// What the answer is.
#[derive(Clone, Debug, PartialEq)]
enum Worth {
    /// As typed: what it means, the field says.
    Text(String),
    /// As JSON.
    Json(Value),
}

/// What was typed as an answer.
#[derive(Clone, Debug)]
pub(crate) enum AnswerWord {
    /// The answer to a field.
    Given(Answers),
    /// A file of answers, which is not read yet.
    File(String),
}

/// Reads `field=value`, `field:=JSON`, or the name of a file behind an `@`.
pub(crate) fn parse(text: &str) -> Result<AnswerWord, String> {
    match text.strip_prefix('@') {
        Some(path) => Ok(AnswerWord::File(path.to_owned())),
        None => typed(text).map(AnswerWord::Given),
    }
}

/// Reads the files of answers, which must end within this time, if there is
/// one.
pub(crate) fn read(words: &[AnswerWord], time: Option<Duration>) -> Result<Vec<Answers>, Failure> {
    let read = |word: &AnswerWord| match word {
        AnswerWord::Given(answers) => Ok(answers.clone()),
        AnswerWord::File(path) => {
            let text = input::read(path, time)?;
            of_file(&text).map_err(|why| Failure::usage(format!("{path}: {why}")))
        }
    };
    words.iter().map(read).collect()
}

pub(super) fn typed(text: &str) -> Result<Answers, String> {
    let how = "write it as field=value, as field:=JSON, or as @answers.json";
    let (key, value) = text.split_once('=').ok_or(how)?;
    let (key, value) = match key.strip_suffix(':') {
        Some(key) => {
            let value = arguments::json(value).map_err(|why| format!("not JSON: {why}"))?;
            (key, Worth::Json(value))
        }
        None => (key, Worth::Text(value.to_owned())),
    };
    if key.is_empty() {
        return Err(how.to_owned());
    }
    let given = Given {
        key: key.to_owned(),
        value,
        is_typed: true,
    };
    Ok([given].into())
}

/// Reads an object of answers by field, or of such objects by question.
fn of_file(text: &str) -> Result<Answers, String> {
    let all = match arguments::json(text) {
        Ok(Value::Object(all)) => all,
        Ok(_) => return Err("an object is expected".to_owned()),
        Err(why) => return Err(format!("not JSON: {why}")),
    };
    let given = |key, value| Given {
        key,
        value: Worth::Json(value),
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

/// All answers that were given, and which of them were asked for.
#[derive(Debug, Default)]
pub(crate) struct GivenAnswers {
    /// Those for the questions of a parked call stand first.
    all: Vec<Given>,
    /// How many of them are for a parked call.
    parked: usize,
    /// Whether the questions of the parked call are answered. Later ones may
    /// have fields of the same names, and mean something else.
    parked_is_over: AtomicBool,
    used: Mutex<BTreeSet<usize>>,
    asked: Mutex<BTreeSet<String>>,
}

impl GivenAnswers {
    /// Answers to whatever is asked, and to what a parked call has asked.
    pub(crate) fn new(answers: &[Answers], parked: &[Answers]) -> Self {
        let of = |answers: &[Answers]| -> Vec<Given> {
            let each = answers.iter().flat_map(|some| some.iter().cloned());
            each.collect()
        };
        let (mut all, answers) = (of(parked), of(answers));
        let parked = all.len();
        all.extend(answers);
        Self {
            all,
            parked,
            ..Self::default()
        }
    }

    /// Begins or ends the time in which the questions of a parked call are
    /// answered.
    pub(crate) fn end_parked(&self, is_over: bool) {
        self.parked_is_over.store(is_over, Ordering::Relaxed);
    }

    /// What was given for the fields of a form, and what does not fit.
    pub(crate) fn fill(&self, question: Option<&str>, form: &ElicitSchema) -> Filled {
        let mut filled = Filled::default();
        for (name, schema) in form.properties.iter() {
            lock(&self.asked).insert(name.to_owned());
            let given = self.of_field(question, name);
            if given.is_empty() {
                continue;
            }
            let fit = value_of(&given, schema).and_then(|value| {
                field::fits(name, schema, &value)?;
                Ok(value)
            });
            match fit {
                Ok(value) => drop(filled.content.insert(name.to_owned(), value)),
                Err(why) => filled.wrong.push((name.to_owned(), why)),
            }
        }
        filled
    }

    /// What was given for a field. One for the question counts more than one
    /// for all, and one for a parked call most.
    fn of_field(&self, question: Option<&str>, field: &str) -> Vec<&Given> {
        let whole = question.map(|question| format!("{question}.{field}"));
        let begin = match self.parked_is_over.load(Ordering::Relaxed) {
            true => self.parked,
            false => 0,
        };
        let is_for = |key: &str| key == field || whole.as_deref() == Some(key);
        let all = begin..self.all.len();
        let all: Vec<_> = all.filter(|at| is_for(&self.all[*at].key)).collect();
        // Those that are overruled were meant for this field, too.
        lock(&self.used).extend(&all);
        let rank = |at: usize| (at >= self.parked, self.all[at].key == field);
        let best = all.iter().map(|at| rank(*at)).min();
        let best = all.into_iter().filter(|at| Some(rank(*at)) == best);
        best.map(|at| &self.all[at]).collect()
    }

    /// What was given and never asked for, with what was perhaps meant: what
    /// was typed, or what files say.
    pub(crate) fn unused(&self, typed: bool) -> Vec<String> {
        let (used, asked) = (lock(&self.used), lock(&self.asked));
        let all = self.all.iter().enumerate();
        let unused = all.filter(|(at, given)| !used.contains(at) && given.is_typed == typed);
        unused
            .map(|(_, given)| {
                let field = given.key.rsplit('.').next().unwrap_or_default();
                let free = asked.iter().map(String::as_str);
                match similar(field, free).filter(|meant| *meant != given.key) {
                    Some(meant) => {
                        format!("nobody asked for `{}`; did you mean `{meant}`?", given.key)
                    }
                    None => format!("nobody asked for `{}`", given.key),
                }
            })
            .collect()
    }
}

/// The value that was given: several make a list where the field is one.
fn value_of(given: &[&Given], schema: &PropertySchema) -> Result<Value, String> {
    if let [only] = given {
        return only.value_for(schema);
    }
    if !matches!(schema, PropertySchema::MultiChoice(_)) {
        return Err("it is answered more than once, and takes one value".to_owned());
    }
    let mut items: Vec<Value> = Vec::new();
    for given in given {
        let more = match given.value_for(schema)? {
            Value::Array(more) => more,
            one => vec![one],
        };
        for item in more {
            if !items.contains(&item) {
                items.push(item);
            }
        }
    }
    Ok(items.into())
}

impl Given {
    fn value_for(&self, schema: &PropertySchema) -> Result<Value, String> {
        match &self.value {
            Worth::Text(text) => field::read(schema, text),
            Worth::Json(value) => Ok(value.clone()),
        }
    }
}

/// A form, as far as it is filled in.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Filled {
    pub(crate) content: Map<String, Value>,
    /// Fields whose given answers do not fit, and why.
    pub(crate) wrong: Vec<(String, String)>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
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
        texts.iter().map(|text| typed(text).expect(text)).collect()
    }

    fn answers(texts: &[&str]) -> GivenAnswers {
        GivenAnswers::new(&parsed(texts), &[])
    }

    fn content(given: &GivenAnswers, question: Option<&str>) -> Value {
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
        let why = "it is answered more than once, and takes one value";
        assert_eq!(filled.wrong, [("seat".to_owned(), why.to_owned())]);
    }

    #[test]
    fn answers_for_a_parked_call_are_for_no_other_question() {
        let given = GivenAnswers::new(&parsed(&["bags=1"]), &parsed(&["seat=aisle", "bags=2"]));
        let first = json!({"seat": "aisle", "bags": 2});
        assert_eq!(content(&given, Some("pick")), first);
        given.end_parked(true);
        assert_eq!(content(&given, Some("pick")), json!({"bags": 1}));
        assert_eq!(given.unused(true), [""; 0]);
    }

    #[test]
    fn what_does_not_fit_or_was_not_asked_is_told() {
        let given = answers(&["bags=many", "seet=aisle", "zebra=1"]);
        let filled = given.fill(None, &form());
        assert_eq!(filled.content.len(), 0);
        assert_eq!(filled.wrong[0].0, "bags");
        let unused = given.unused(true);
        assert_eq!(unused[0], "nobody asked for `seet`; did you mean `seat`?");
        assert_eq!(unused[1], "nobody asked for `zebra`");
        assert_eq!(given.unused(false), [""; 0]);
    }

    #[test]
    fn a_file_answers_by_field_or_by_question() {
        let file = of_file(r#"{"bags": 4, "pick": {"seat": "window"}}"#).expect("answers");
        let given = GivenAnswers::new(&[file], &[]);
        assert_eq!(content(&given, None), json!({"bags": 4}));
        assert_eq!(given.unused(true), [""; 0]);
        assert_eq!(
            given.unused(false),
            ["nobody asked for `pick.seat`; did you mean `seat`?"]
        );
        let picked = json!({"seat": "window", "bags": 4});
        assert_eq!(content(&given, Some("pick")), picked);
        assert!(of_file("[1]").is_err());
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for text in ["seat", "=x", ":=1", "a:={"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let missing = parse("@/there/is/no/such/file").expect("it is read later");
        assert!(read(&[missing], None).is_err());
    }
}
