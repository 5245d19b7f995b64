//! Answers are checked against the form that asked for them.

use bowline::{
    client::check_answer,
    model::{ElicitSchema, PropertySchema, decode},
};
use proptest::{prelude::*, sample::Index};
use serde_json::{Map, Value, json};

/// Checks values of one required field, each with what is wrong, if anything.
#[track_caller]
fn check(property: &Value, answers: &[(Value, Option<&str>)]) {
    let form = form(&json!({"properties": {"it": property}, "required": ["it"]}));
    for (value, expected) in answers {
        let fault = check_answer(&form, &json!({"it": value})).err();
        let fault = fault.map(|fault| fault.to_string());
        assert_eq!(fault.as_deref(), *expected, "{property} and {value}");
    }
}

/// A form, from its properties and what is required.
fn form(parts: &Value) -> ElicitSchema {
    let mut wire = parts.clone();
    wire["type"] = json!("object");
    decode(wire.to_string().as_bytes()).expect("the form decodes")
}

#[test]
fn an_answer_is_an_object() {
    let form = form(&json!({"properties": {}}));
    assert_eq!(check_answer(&form, &json!({})), Ok(()));
    for (answer, message) in [
        (json!(null), "expected an object, not null"),
        (json!([1]), "expected an object, not a list"),
        (json!("a"), "expected an object, not a string"),
        (json!(true), "expected an object, not a boolean"),
        (json!(1), "expected an object, not a number"),
    ] {
        assert_eq!(
            check_answer(&form, &answer).unwrap_err().to_string(),
            message
        );
    }
}

#[test]
fn fields_may_be_left_out_unless_required() {
    let form = form(&json!({
        "properties": {"name": {"type": "string"}, "note": {"type": "string"}},
        "required": ["name"],
    }));
    let fault = |answer| check_answer(&form, &answer).unwrap_err();
    assert_eq!(check_answer(&form, &json!({"name": "Ada"})), Ok(()));
    assert_eq!(
        check_answer(&form, &json!({"name": "Ada", "note": null})),
        Ok(())
    );
    let missing = fault(json!({"note": "x"}));
    assert_eq!(missing.path, "name");
    assert_eq!(missing.message, "an answer is required");
    assert_eq!(fault(json!({"name": null})), missing);
    let stranger = fault(json!({"name": "Ada", "age": 36}));
    assert_eq!(stranger.to_string(), "age: the form has no such field");
    assert_eq!(fault(json!({"name": "Ada", "age": null})), stranger);
    let mistyped = fault(json!({"name": "Ada", "ntoe": "x"}));
    assert_eq!(
        mistyped.to_string(),
        "ntoe: the form has no such field; did you mean `note`?"
    );
}

#[test]
fn the_first_fault_is_what_is_missing_or_else_comes_first_in_the_answer() {
    let form = form(&json!({
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "boolean"}},
        "required": ["c"],
    }));
    for (answer, path) in [
        (json!({"x": 1, "b": "1", "a": 1}), "c"),
        (json!({"b": "1", "x": 1, "a": 1, "c": true}), "b"),
        (json!({"x": 1, "b": "1", "a": 1, "c": true}), "x"),
        (json!({"c": "yes", "a": 1}), "c"),
    ] {
        let fault = check_answer(&form, &answer).unwrap_err();
        assert_eq!(fault.path, path, "{answer}");
    }
}

#[test]
fn what_is_nearly_a_choice_is_told() {
    check(
        &json!({"type": "string", "enum": ["window", "aisle"]}),
        &[(
            json!("windwo"),
            Some("it: this is not one of the choices; did you mean `window`?"),
        )],
    );
    check(
        &json!({"type": "array", "items": {"anyOf": [{"const": "fish", "title": "Fish"}]}}),
        &[(
            json!(["Fish"]),
            Some("it[0]: this is not one of the choices; did you mean `fish`?"),
        )],
    );
}

#[test]
fn strings_are_not_repeated() {
    let secret = "sesame";
    for property in [
        json!({"type": "string", "minLength": 9}),
        json!({"type": "string", "format": "uri"}),
        json!({"type": "string", "enum": ["a"]}),
        json!({"type": "array", "items": {"enum": ["a"]}}),
        json!({"type": "integer"}),
        json!({"type": "boolean"}),
    ] {
        let form = form(&json!({"properties": {"it": property}}));
        for value in [json!(secret), json!([secret, secret])] {
            let fault = check_answer(&form, &json!({"it": value})).unwrap_err();
            assert!(!fault.to_string().contains(secret), "{fault}");
        }
    }
}

#[test]
fn texts() {
    check(
        &json!({"type": "string", "minLength": 2, "maxLength": 3}),
        &[
            (json!("ab"), None),
            (json!("äöü"), None),
            (json!("🐙🐙"), None),
            (json!("ä"), Some("it: 1 characters; the minimum is 2")),
            (json!("abcd"), Some("it: 4 characters; the maximum is 3")),
            (json!(12), Some("it: expected a string, not a number")),
        ],
    );
    check(
        &json!({"type": "string", "format": "email"}),
        &[
            (json!("ada@post.example"), None),
            (json!("ada"), Some("it: this is not an e-mail address")),
        ],
    );
    check(
        &json!({"type": "string", "format": "iban"}),
        &[(json!("x"), None)],
    );
}

#[test]
fn numbers() {
    check(
        &json!({"type": "number", "minimum": 0.5, "maximum": 2}),
        &[
            (json!(0.5), None),
            (json!(1), None),
            (json!(2.0), None),
            (json!(0.4), Some("it: 0.4 is less than 0.5")),
            (json!(3), Some("it: 3 is greater than 2")),
            (json!("1"), Some("it: expected a number, not a string")),
        ],
    );
    check(
        &json!({"type": "integer", "minimum": -9_007_199_254_740_993_i64}),
        &[
            (json!(1), None),
            (json!(1.0), None),
            (json!(1e300), None),
            (json!(u64::MAX), None),
            (json!(1.5), Some("it: 1.5 is not a whole number")),
            (
                json!(true),
                Some("it: expected a whole number, not a boolean"),
            ),
            // Both have the same nearest double.
            (
                json!(-9_007_199_254_740_994_i64),
                Some("it: -9007199254740994 is less than -9007199254740993"),
            ),
        ],
    );
}

#[test]
fn booleans() {
    check(
        &json!({"type": "boolean"}),
        &[
            (json!(false), None),
            (json!("yes"), Some("it: expected a boolean, not a string")),
            (json!(0), Some("it: expected a boolean, not a number")),
        ],
    );
}

#[test]
fn choices_in_every_spelling() {
    for property in [
        json!({"type": "string", "enum": ["w", "a"]}),
        json!({"type": "string", "enum": ["w", "a"], "enumNames": ["Window", "Aisle"]}),
        json!({"type": "string", "oneOf": [
            {"const": "w", "title": "Window"}, {"const": "a", "title": "Aisle"},
        ]}),
    ] {
        check(
            &property,
            &[
                (json!("w"), None),
                (json!("a"), None),
                (json!("Window"), Some("it: this is not one of the choices")),
                (
                    json!(0),
                    Some("it: expected one of the choices, not a number"),
                ),
            ],
        );
    }
}

#[test]
fn choices_of_several() {
    for items in [
        json!({"type": "string", "enum": ["a", "b", "c"]}),
        json!({"anyOf": [
            {"const": "a", "title": "A"},
            {"const": "b", "title": "B"},
            {"const": "c", "title": "C"},
        ]}),
    ] {
        check(
            &json!({"type": "array", "items": items, "minItems": 1, "maxItems": 2}),
            &[
                (json!(["a"]), None),
                (json!(["c", "a"]), None),
                (json!([]), Some("it: 0 choices; the minimum is 1")),
                (
                    json!(["a", "b", "c"]),
                    Some("it: 3 choices; the maximum is 2"),
                ),
                (
                    json!(["a", "A"]),
                    Some("it[1]: this is not one of the choices; did you mean `a`?"),
                ),
                (json!(["b", "b"]), Some("it[1]: this choice occurs twice")),
                (
                    json!("a"),
                    Some("it: expected a list of choices, not a string"),
                ),
            ],
        );
    }
}

#[test]
fn what_no_revision_has_accepts_anything() {
    check(
        &json!({"type": "string", "pattern": "^a", "enumNames": 7}),
        &[(json!("b"), None)],
    );
    check(
        &json!({"type": "object", "properties": {}}),
        &[(json!({"deep": [1]}), None), (json!(1), None)],
    );
}

/// A field of a form, a right answer to it and a wrong one.
type Sample = (Value, Value, Value);

fn text() -> impl Strategy<Value = Sample> {
    ("[a-zäß🐙]{1,8}", 0..3_usize, 0..3_usize, any::<bool>()).prop_map(
        |(text, below, above, short)| {
            let length = text.chars().count();
            let least = length.saturating_sub(below).max(1);
            let greatest = length + above;
            let wrong = "é".repeat(if short { least - 1 } else { greatest + 1 });
            let field = json!({"type": "string", "minLength": least, "maxLength": greatest});
            (field, json!(text), json!(wrong))
        },
    )
}

fn formatted() -> impl Strategy<Value = Sample> {
    let right = prop_oneof![
        ("[a-z]{1,5}", "[a-z]{1,5}").prop_map(|(a, b)| ("email", format!("{a}@{b}.example"))),
        ("[a-z][a-z0-9+.-]{0,5}", "[a-z/?#]{1,9}").prop_map(|(a, b)| ("uri", format!("{a}:a{b}"))),
        (0..3000_u32, 1..13_u32, 1..29_u32)
            .prop_map(|(y, m, d)| ("date", format!("{y:04}-{m:02}-{d:02}"))),
        (0..24_u32, 0..60_u32, 0..1000_u32).prop_map(|(h, m, ms)| {
            (
                "date-time",
                format!("2026-07-28T{h:02}:{m:02}:{m:02}.{ms:03}Z"),
            )
        }),
    ];
    right.prop_map(|(format, right)| {
        let field = json!({"type": "string", "format": format});
        let wrong = json!(format!("{right} "));
        (field, json!(right), wrong)
    })
}

fn number() -> impl Strategy<Value = Sample> {
    (any::<i32>(), 0..9_i64, any::<bool>(), any::<bool>()).prop_map(|(right, room, whole, low)| {
        let right = i64::from(right);
        let (least, greatest) = (right - room, right + room);
        let wrong = if low { least - 1 } else { greatest + 1 };
        let kind = if whole { "integer" } else { "number" };
        let field = json!({"type": kind, "minimum": least, "maximum": greatest});
        (field, json!(right), json!(wrong))
    })
}

fn fraction() -> impl Strategy<Value = Sample> {
    any::<i16>().prop_map(|n| {
        let wrong = f64::from(n) + 0.5;
        (
            json!({"type": "integer"}),
            json!(f64::from(n)),
            json!(wrong),
        )
    })
}

fn choice() -> impl Strategy<Value = Sample> {
    let values = prop::collection::btree_set("[a-z]{1,4}", 1..5);
    (values, any::<Index>(), 0..5_usize).prop_map(|(values, at, spelling)| {
        let values: Vec<String> = values.into_iter().collect();
        let right = at.get(&values).clone();
        let options: Vec<Value> = values
            .iter()
            .map(|value| json!({"const": value, "title": value.to_uppercase()}))
            .collect();
        let wrong = json!(right.to_uppercase());
        match spelling {
            0 => (
                json!({"type": "string", "enum": values}),
                json!(right),
                wrong,
            ),
            1 => {
                let field = json!({"type": "string", "enum": values, "enumNames": values});
                (field, json!(right), wrong)
            }
            2 => (
                json!({"type": "string", "oneOf": options}),
                json!(right),
                wrong,
            ),
            3 => {
                let field = json!({"type": "array", "items": {"anyOf": options}});
                (field, json!(values), json!([right, right]))
            }
            _ => {
                let items = json!({"type": "string", "enum": values});
                let field = json!({"type": "array", "items": items, "maxItems": values.len()});
                (field, json!(values), json!([wrong]))
            }
        }
    })
}

fn sample() -> impl Strategy<Value = Sample> {
    let boolean = any::<bool>().prop_map(|b| (json!({"type": "boolean"}), json!(b), json!("no")));
    prop_oneof![text(), formatted(), number(), fraction(), choice(), boolean]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn right_answers_are_accepted_and_spoilt_ones_are_not(
        samples in prop::collection::vec((sample(), any::<bool>(), any::<bool>()), 1..6),
        at in any::<Index>(),
        spoiling in 0..4,
    ) {
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut answer = Map::new();
        for (at, ((field, right, _), needed, given)) in samples.iter().enumerate() {
            let name = format!("field{at}");
            if *needed {
                required.push(name.clone());
            }
            if *needed || *given {
                answer.insert(name.clone(), right.clone());
            }
            properties.insert(name, field.clone());
        }
        let form = form(&json!({"properties": properties, "required": required}));
        let unknown = |p: &PropertySchema| matches!(p, PropertySchema::Unknown(_));
        prop_assert!(!form.properties.iter().any(|(_, p)| unknown(p)));
        prop_assert_eq!(check_answer(&form, &Value::Object(answer.clone())), Ok(()));

        let at = at.index(samples.len());
        let ((_, _, wrong), needed, _) = &samples[at];
        let name = format!("field{at}");
        let mut spoilt = name.clone();
        match spoiling {
            0 if *needed => drop(answer.remove(&name)),
            1 => {
                spoilt = "stranger".to_owned();
                answer.insert(spoilt.clone(), json!(1));
            }
            2 => drop(answer.insert(name, json!({"not": "plain"}))),
            _ => drop(answer.insert(name, wrong.clone())),
        }
        let fault = check_answer(&form, &Value::Object(answer.clone()));
        let fault = fault.expect_err("the answer was spoilt");
        prop_assert!(fault.path.starts_with(&spoilt), "{} in {:?}", fault, answer);
    }
}
