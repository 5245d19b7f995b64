//! Answers that were given beforehand: `--answer` and `bowline resume`.

use std::{collections::BTreeSet, fs, sync::Mutex};

use bowline::proto::model::{ElicitSchema, PropertySchema};
use serde_json::{Map, Value};

use super::{args::Answers, field};
use crate::output::similar;

/// One answer to one field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    /// The field's name, or `question.field`.
    pub(crate) key: String,
    value: Worth,
}

/// What the answer is.
#[derive(Clone, Debug, PartialEq)]
enum Worth {
    /// As typed: what it means, the field says.
    Text(String),
    /// As a file has it.
    Json(Value),
}

/// Reads `field=value`, or a file of answers behind an `@`.
pub(crate) fn parse(text: &str) -> Result<Answers, String> {
    if let Some(path) = text.strip_prefix('@') {
        let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        return of_file(&text).map_err(|why| format!("{path}: {why}"));
    }
    let (key, value) = text
        .split_once('=')
        .filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| "write it as field=value, or as @answers.json".to_owned())?;
    let given = Given {
        key: key.to_owned(),
        value: Worth::Text(value.to_owned()),
    };
    Ok([given].into())
}

/// Reads an object of answers by field, or of such objects by question.
fn of_file(text: &str) -> Result<Answers, String> {
    let all: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| format!("an object is expected: {error}"))?;
    let given = |key, value| Given {
        key,
        value: Worth::Json(value),
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
    all: Vec<Given>,
    used: Mutex<BTreeSet<usize>>,
    asked: Mutex<BTreeSet<String>>,
}

impl GivenAnswers {
    pub(crate) fn new(answers: &[Answers]) -> Self {
        Self {
            all: answers
                .iter()
                .flat_map(|some| some.iter().cloned())
                .collect(),
            ..Self::default()
        }
    }

    /// What was given for the fields of a form, and what does not fit.
    pub(crate) fn fill(&self, question: Option<&str>, form: &ElicitSchema) -> Filled {
        let mut filled = Filled::default();
        for (name, schema) in form.properties.iter() {
            lock(&self.asked).insert(name.to_owned());
            let Some(given) = self.of_field(question, name) else {
                continue;
            };
            let fit = given.value_for(schema).and_then(|value| {
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

    /// The last one counts, and one for the question more than one for all.
    fn of_field(&self, question: Option<&str>, field: &str) -> Option<&Given> {
        let of = |key: &str| self.all.iter().rposition(|given| given.key == key);
        let at = question
            .and_then(|question| of(&format!("{question}.{field}")))
            .or_else(|| of(field))?;
        // Those that it overrules were meant for this field, too.
        let same = |given: &Given| given.key == self.all[at].key || given.key == field;
        let same = (0..self.all.len()).filter(|at| same(&self.all[*at]));
        lock(&self.used).extend(same);
        self.all.get(at)
    }

    /// What was given and never asked for, with what was perhaps meant.
    pub(crate) fn unused(&self) -> Vec<String> {
        let (used, asked) = (lock(&self.used), lock(&self.asked));
        let unused = self
            .all
            .iter()
            .enumerate()
            .filter(|(at, _)| !used.contains(at));
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
        }});
        serde_json::from_value(form).expect("a form")
    }

    fn answers(texts: &[&str]) -> GivenAnswers {
        let parsed: Vec<_> = texts.iter().map(|text| parse(text).expect(text)).collect();
        GivenAnswers::new(&parsed)
    }

    #[test]
    fn a_question_s_own_answer_goes_before_one_for_all() {
        let given = answers(&["bags=1", "pick.bags=2", "bags=3", "seat=aisle"]);
        let filled = given.fill(Some("pick"), &form());
        assert_eq!(
            Value::from(filled.content),
            json!({"bags": 2, "seat": "aisle"})
        );
        let filled = given.fill(Some("other"), &form());
        assert_eq!(
            Value::from(filled.content),
            json!({"bags": 3, "seat": "aisle"})
        );
        assert_eq!(given.unused(), [""; 0]);
    }

    #[test]
    fn what_does_not_fit_or_was_not_asked_is_told() {
        let given = answers(&["bags=many", "seet=aisle", "zebra=1"]);
        let filled = given.fill(None, &form());
        assert_eq!(filled.content.len(), 0);
        assert_eq!(filled.wrong[0].0, "bags");
        let unused = given.unused();
        assert_eq!(unused[0], "nobody asked for `seet`; did you mean `seat`?");
        assert_eq!(unused[1], "nobody asked for `zebra`");
    }

    #[test]
    fn a_file_answers_by_field_or_by_question() {
        let file = of_file(r#"{"bags": 4, "pick": {"seat": "window"}}"#).expect("answers");
        let given = GivenAnswers::new(&[file]);
        let filled = given.fill(Some("pick"), &form());
        assert_eq!(
            Value::from(filled.content),
            json!({"bags": 4, "seat": "window"})
        );
        let filled = given.fill(None, &form());
        assert_eq!(Value::from(filled.content), json!({"bags": 4}));
        assert!(of_file("[1]").is_err());
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for text in ["seat", "=x", "@/there/is/no/such/file"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
