//! Matching answers to the questions of a suspended call.

use bowline::model::InputRequests;

use super::{args::Answers, one_line, preset::PresetAnswer, question};
use crate::{failure::Failure, output::closest_name};

/// Assigns each answer to the one question it is for, or fails, before anything
/// is sent. Extra answers in a file are kept.
pub(crate) fn match_to_questions(
    answers: &[Answers],
    questions: &InputRequests,
    is_open: impl Fn(&str) -> bool,
) -> Result<Vec<Answers>, Failure> {
    let mut matched = Vec::new();
    for answer in answers.iter().flat_map(|batch| batch.iter()) {
        let mut answer = answer.clone();
        match match_one(&answer, questions, &is_open)? {
            Some(key) => answer.key = key,
            None if !answer.is_typed => {}
            None => return Err(unknown_field(&answer, questions)),
        }
        matched.push([answer].into());
    }
    Ok(matched)
}

/// Returns the question and the field, if there are such.
fn match_one(
    answer: &PresetAnswer,
    questions: &InputRequests,
    is_open: impl Fn(&str) -> bool,
) -> Result<Option<String>, Failure> {
    let fields: Vec<_> = question_fields(questions).collect();
    let full_key = |(key, field): &(&str, &str)| format!("{key}.{field}");
    if fields.iter().any(|field| full_key(field) == answer.key) {
        return Ok(Some(answer.key.clone()));
    }
    let mut candidates = fields;
    candidates.retain(|(_, field)| *field == answer.key);
    // Answered questions are considered only if no open one matches.
    if candidates.iter().any(|(key, _)| is_open(key)) {
        candidates.retain(|(key, _)| is_open(key));
    }
    match candidates[..] {
        [] => Ok(None),
        [only] => Ok(Some(full_key(&only))),
        _ => {
            let field = one_line(&answer.key);
            let names: Vec<_> = candidates
                .iter()
                .map(|it| one_line(&full_key(it)))
                .collect();
            let failure = Failure::usage(format!("several questions have a field `{field}`"));
            Err(failure.hint(format!("use one of {}", names.join(" or "))))
        }
    }
}

fn unknown_field(answer: &PresetAnswer, questions: &InputRequests) -> Failure {
    let key = one_line(&answer.key);
    let failure = Failure::usage(format!("no question has a field `{key}`; nothing was sent"));
    let field = answer.key.rsplit('.').next().unwrap_or_default();
    match closest_name(field, question_fields(questions).map(|(_, field)| field)) {
        Some(suggestion) => failure.hint(format!("did you mean `{}`?", one_line(suggestion))),
        None => failure,
    }
}

/// Returns each question with each of its fields.
fn question_fields(questions: &InputRequests) -> impl Iterator<Item = (&str, &str)> {
    questions.iter().flat_map(|(key, request)| {
        let form = question::form_schema(request);
        let names = form.map(|form| form.properties.iter().map(|(name, _)| name));
        names.into_iter().flatten().map(move |name| (key, name))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::interaction::preset::parse_typed;

    #[track_caller]
    fn check(words: &[&str], open: &str, expected: Result<&[&str], &str>) {
        let form = |fields: &[&str]| {
            let text = json!({"type": "string"});
            let fields = fields.iter().map(|name| ((*name).to_owned(), text.clone()));
            let fields: serde_json::Map<_, _> = fields.collect();
            json!({"method": "elicitation/create", "params": {"message": "?",
                "requestedSchema": {"type": "object", "properties": fields}}})
        };
        let questions = json!({"seat": form(&["row", "side"]), "meal": form(&["row", "dish"])});
        let questions: InputRequests = serde_json::from_value(questions).expect("questions");
        let answers: Vec<_> = words
            .iter()
            .map(|word| parse_typed(word).expect(word))
            .collect();
        let matched = match_to_questions(&answers, &questions, |key| open.contains(key));
        let matched = matched.map_err(|failure| failure.message);
        let keys = matched.map(|all| -> Vec<_> {
            let all = all.iter().flat_map(|batch| batch.iter());
            all.map(|answer| answer.key.clone()).collect()
        });
        let expected = expected.map(|keys| keys.iter().map(|key| (*key).to_owned()).collect());
        assert_eq!(keys, expected.map_err(str::to_owned), "{words:?}");
    }

    #[test]
    fn an_answer_is_for_one_question() {
        check(
            &["side=left", "dish=soup"],
            "seat meal",
            Ok(&["seat.side", "meal.dish"]),
        );
        check(&["meal.row=1"], "seat meal", Ok(&["meal.row"]));
        check(&["row=1"], "meal", Ok(&["meal.row"]));
        check(&["side=left"], "meal", Ok(&["seat.side"]));
        check(
            &["row=1"],
            "seat meal",
            Err("several questions have a field `row`"),
        );
        check(&["row=1"], "", Err("several questions have a field `row`"));
        check(
            &["rwo=1"],
            "seat meal",
            Err("no question has a field `rwo`; nothing was sent"),
        );
        check(
            &["seat.dish=1"],
            "seat meal",
            Err("no question has a field `seat.dish`; nothing was sent"),
        );
    }
}
