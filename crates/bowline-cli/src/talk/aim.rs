//! Which question of a parked call an answer is for.

use bowline::proto::model::InputRequests;

use super::{args::Answers, given::Given, one_line, question};
use crate::{failure::Failure, output::similar};

/// Gives each answer the name of the one question that it is for, or says why
/// there is none, before anything is sent. What a file has beyond the questions
/// stays as it is.
pub(crate) fn aim(
    answers: &[Answers],
    questions: &InputRequests,
    is_open: impl Fn(&str) -> bool,
) -> Result<Vec<Answers>, Failure> {
    let mut aimed = Vec::new();
    for given in answers.iter().flat_map(|some| some.iter()) {
        let mut given = given.clone();
        match aim_one(&given, questions, &is_open)? {
            Some(key) => given.key = key,
            None if !given.is_typed => {}
            None => return Err(unknown(&given, questions)),
        }
        aimed.push([given].into());
    }
    Ok(aimed)
}

/// The question and the field that are meant, if there are such.
fn aim_one(
    given: &Given,
    questions: &InputRequests,
    is_open: impl Fn(&str) -> bool,
) -> Result<Option<String>, Failure> {
    let fields: Vec<_> = fields(questions).collect();
    let whole = |(key, field): &(&str, &str)| format!("{key}.{field}");
    if fields.iter().any(|field| whole(field) == given.key) {
        return Ok(Some(given.key.clone()));
    }
    let mut meant = fields;
    meant.retain(|(_, field)| *field == given.key);
    // What is answered already is meant only where nothing else is.
    if meant.iter().any(|(key, _)| is_open(key)) {
        meant.retain(|(key, _)| is_open(key));
    }
    match meant[..] {
        [] => Ok(None),
        [only] => Ok(Some(whole(&only))),
        _ => {
            let field = one_line(&given.key);
            let each: Vec<_> = meant.iter().map(|it| one_line(&whole(it))).collect();
            let failure = Failure::usage(format!("`{field}` is asked for more than once"));
            Err(failure.hint(format!("say which is meant: {}", each.join(" or "))))
        }
    }
}

fn unknown(given: &Given, questions: &InputRequests) -> Failure {
    let key = one_line(&given.key);
    let failure = Failure::usage(format!("nobody asked for `{key}`; nothing was sent"));
    let field = given.key.rsplit('.').next().unwrap_or_default();
    match similar(field, fields(questions).map(|(_, field)| field)) {
        Some(meant) => failure.hint(format!("did you mean `{}`?", one_line(meant))),
        None => failure,
    }
}

/// Each question with each of its fields.
fn fields(questions: &InputRequests) -> impl Iterator<Item = (&str, &str)> {
    questions.iter().flat_map(|(key, asked)| {
        let form = question::form(asked);
        let names = form.map(|form| form.properties.iter().map(|(name, _)| name));
        names.into_iter().flatten().map(move |name| (key, name))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::talk::given::typed;

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
        let answers: Vec<_> = words.iter().map(|word| typed(word).expect(word)).collect();
        let aimed = aim(&answers, &questions, |key| open.contains(key));
        let aimed = aimed.map_err(|failure| failure.message);
        let keys = aimed.map(|all| -> Vec<_> {
            let all = all.iter().flat_map(|some| some.iter());
            all.map(|given| given.key.clone()).collect()
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
            Err("`row` is asked for more than once"),
        );
        check(&["row=1"], "", Err("`row` is asked for more than once"));
        check(
            &["rwo=1"],
            "seat meal",
            Err("nobody asked for `rwo`; nothing was sent"),
        );
        check(
            &["seat.dish=1"],
            "seat meal",
            Err("nobody asked for `seat.dish`; nothing was sent"),
        );
    }
}
