//! Formatting open questions, and the command line that answers them.

use bowline::model::{ElicitSchema, InputKind, InputRequest, InputRequests};
use serde_json::Value;

use super::{field, indented, one_line, page::Page, sampling};
use crate::output::Paint;

/// Formats a question as lines of text.
pub(crate) fn lines(key: &str, question: &InputRequest, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    match &question.kind {
        InputKind::Elicit(params) => {
            lines.push(heading(&params.message, key, paint));
            if params.is_url() {
                lines.push(match Page::parse(params) {
                    Ok(page) => format!("    {}", page.address()),
                    Err(why) => format!("    {why}"),
                });
            } else if let Some(form) = &params.requested_schema {
                lines.extend(field_lines(form, &params.message, paint));
            }
        }
        InputKind::CreateMessage(params) => {
            lines.push(heading("It requests sampling from a model:", key, paint));
            lines.extend(
                sampling::request_lines(params)
                    .iter()
                    .map(|line| indented(line)),
            );
        }
        _ => lines.push(heading(question.method(), key, paint)),
    }
    lines
}

fn heading(text: &str, key: &str, paint: Paint) -> String {
    let key = paint.dim(format!("({})", one_line(key)));
    let text = indented(text);
    match text.split_once('\n') {
        Some((first, rest)) => format!("{first} {key}\n{rest}"),
        None => format!("{text} {key}"),
    }
}

/// Formats the fields of a form, without repeating the message.
fn field_lines(form: &ElicitSchema, message: &str, paint: Paint) -> Vec<String> {
    let names = form.properties.iter().map(|(name, _)| name.chars().count());
    let width = names.max().unwrap_or_default();
    let mut lines = Vec::new();
    for (name, schema) in form.properties.iter() {
        let mut kind = field::describe_kind(schema);
        let choices: Vec<_> = field::choices(schema)
            .into_iter()
            .map(format_choice)
            .collect();
        if !choices.is_empty() {
            kind = format!("{kind}: {}", choices.join(", "));
        }
        if form.required.iter().any(|required| required == name) {
            kind.push_str("; required");
        }
        if let Some(default) = field::default(schema) {
            kind.push_str(&format!(" [{}]", field::format_value(&default)));
        }
        let details = [field::title(schema), field::description(schema)];
        let details = details.into_iter().flatten().map(one_line);
        let is_new = |it: &String| !it.is_empty() && it != name && it != message;
        let details: Vec<_> = details.filter(is_new).collect();
        let name = one_line(name);
        lines.push(format!("    {name:width$}  {}", paint.dim(kind)));
        if !details.is_empty() {
            lines.push(format!("    {:width$}  {}", "", details.join(": ")));
        }
    }
    lines
}

/// Formats a choice with its title.
fn format_choice((value, title): (&str, &str)) -> String {
    match (one_line(value), one_line(title)) {
        (value, title) if value == title || title.is_empty() => value,
        (value, title) => format!("{value} ({title})"),
    }
}

/// Returns the words that answer the open questions, with placeholders.
pub(crate) fn answer_words(
    questions: &InputRequests,
    is_open: impl Fn(&str) -> bool,
) -> Vec<String> {
    let is_open: Vec<_> = questions.iter().filter(|(key, _)| is_open(key)).collect();
    let forms: Vec<_> = is_open
        .iter()
        .filter_map(|(key, q)| Some((*key, form_schema(q)?)))
        .collect();
    let mut words = Vec::new();
    for (key, form) in &forms {
        for (name, schema) in form.properties.iter() {
            if !form.required.iter().any(|required| required == name) {
                continue;
            }
            let mut others = forms.iter().filter(|(other, _)| other != key);
            let shared = others.any(|(_, other)| other.properties.contains_key(name));
            let question = if shared {
                format!("{key}.")
            } else {
                String::new()
            };
            words.push(shell_quoted(&format!(
                "{question}{name}={}",
                example(schema)
            )));
        }
    }
    let wants_consent = |question: &InputRequest| match &question.kind {
        InputKind::Elicit(params) => {
            let form = params.requested_schema.as_ref();
            form.is_none_or(|form| form.required.is_empty())
        }
        _ => false,
    };
    if is_open.iter().any(|(_, question)| wants_consent(question)) {
        words.push("--accept".to_owned());
    }
    let is_sampling =
        |question: &InputRequest| matches!(question.kind, InputKind::CreateMessage(_));
    if is_open.iter().any(|(_, question)| is_sampling(question)) {
        words.push("--sampling-command …".to_owned());
    }
    words
}

/// Returns the options that answer the questions, with placeholders.
pub(crate) fn answer_options(questions: &InputRequests) -> String {
    let option = |word: String| {
        if word.starts_with("--") {
            word
        } else {
            format!("--answer {word}")
        }
    };
    let options: Vec<_> = answer_words(questions, |_| true)
        .into_iter()
        .map(option)
        .collect();
    options.join(" ")
}

/// Returns the form of a question, if it has one.
pub(super) fn form_schema(question: &InputRequest) -> Option<&ElicitSchema> {
    match &question.kind {
        InputKind::Elicit(params) => params.requested_schema.as_ref(),
        _ => None,
    }
}

/// Returns an example value.
fn example(schema: &bowline::model::PropertySchema) -> String {
    let default = field::default(schema).map(|value| match value {
        Value::Bool(yes) => yes.to_string(),
        value => field::format_value(&value),
    });
    default.unwrap_or_else(|| "…".to_owned())
}

/// Quotes a word for a shell.
pub(crate) fn shell_quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+…".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn questions() -> InputRequests {
        let form = |fields: Value, required: Value| {
            json!({"method": "elicitation/create", "params": {"message": "?", "requestedSchema":
                {"type": "object", "properties": fields, "required": required}}})
        };
        let text = json!({"type": "string"});
        let bags = json!({"type": "integer", "default": 1});
        serde_json::from_value(json!({
            "seat": form(json!({"row": text, "bags": bags}), json!(["row", "bags"])),
            "meal": form(json!({"row": text, "dish": text}), json!(["row"])),
        }))
        .expect("questions")
    }

    #[test]
    fn the_words_to_type_name_the_question_where_they_must() {
        assert_eq!(
            answer_words(&questions(), |_| true),
            ["seat.row=…", "bags=1", "meal.row=…"]
        );
        assert_eq!(answer_words(&questions(), |key| key == "meal"), ["row=…"]);
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_read_them() {
        assert_eq!(shell_quoted("seat=12A"), "seat=12A");
        assert_eq!(shell_quoted("it's $HOME"), r"'it'\''s $HOME'");
    }
}
