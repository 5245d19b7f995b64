//! Random schemas and values: the same result as a complete implementation, and the
//! same with and without errors.

use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::Value;

use super::{random_schema::schema, random_value::value_for};
use crate::{
    TextCheck,
    validate::{Validator, ValidatorOptions, describe},
};

/// A schema, and a value that probably fits it, or nearly.
fn schema_and_value() -> impl Strategy<Value = (Value, Value)> {
    schema().prop_perturb(|schema, mut rng: TestRng| {
        let value = value_for(&schema, &mut rng);
        (schema, value)
    })
}

/// Compiles a schema, unless it leads back to itself.
fn compile(options: ValidatorOptions, schema: &Value) -> Option<Validator> {
    match options.compile(schema) {
        Ok(validator) => Some(validator),
        Err(why) if why.to_string().contains("infinitely recursive") => None,
        Err(why) => panic!("{schema}: {why}"),
    }
}

/// Checks a value in both ways, and that errors are where the value is.
fn is_valid(validator: &Validator, value: &Value) -> bool {
    let (is_valid, errors) = (validator.is_valid(value), validator.errors(value));
    assert_eq!(errors.is_empty(), is_valid, "{errors:?}");
    assert_eq!(validator.describe_errors(value), describe(&errors));
    for error in &errors {
        assert!(value.pointer(&error.pointer).is_some(), "{error:?}");
        assert!(!error.message.is_empty(), "{error:?}");
        assert!(!error.expected.is_empty(), "{error:?}");
    }
    is_valid
}

fn check(schema: &Value, value: &Value) -> Option<bool> {
    let validator = compile(Validator::options(), schema)?;
    let found = is_valid(&validator, value);
    let reference = jsonschema::draft202012::new(schema).expect("a schema");
    assert_eq!(found, reference.is_valid(value), "{schema} and {value}");
    let text_check = TextCheck::compile(schema);
    if text_check.is_some_and(|check| check.is_surely_valid(&value.to_string())) {
        assert!(found, "{schema} and {value}, as text");
    }
    Some(found)
}

/// Options only accept less, or only more; except that a format may be part of a
/// condition.
fn check_options(schema: &Value, value: &Value) -> Option<[bool; 3]> {
    let plain = Validator::options();
    let options = [
        plain,
        plain.reject_undeclared_members(true),
        plain.accept_missing_defaults(true),
        plain.assert_formats(true),
        plain
            .reject_undeclared_members(true)
            .accept_missing_defaults(true),
    ];
    let mut results = Vec::new();
    for options in options {
        results.push(is_valid(&compile(options, schema)?, value));
    }
    let [exact, closed, defaults, formats, both] = results[..] else {
        panic!("one for each");
    };
    assert!(exact || !closed, "{schema} and {value}");
    assert!(defaults || !exact, "{schema} and {value}");
    assert!(defaults || !both, "{schema} and {value}");
    assert!(both || !closed, "{schema} and {value}");
    Some([exact != closed, exact != defaults, exact != formats])
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn any_schema_and_value((schema, value) in schema_and_value()) {
        check(&schema, &value);
        check_options(&schema, &value);
    }
}

/// A test with values that nearly all fit, or nearly all do not, would find little.
#[test]
fn the_values_fit_about_as_often_as_not() {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (mut valid, mut invalid) = (0, 0);
    let mut changed = [0; 3];
    for _ in 0..600 {
        let tree = schema_and_value().new_tree(&mut runner).expect("a value");
        let (schema, value) = tree.current();
        match check(&schema, &value) {
            Some(true) => valid += 1,
            Some(false) => invalid += 1,
            None => {}
        }
        let changes = check_options(&schema, &value).unwrap_or_default();
        for (count, is_changed) in changed.iter_mut().zip(changes) {
            *count += usize::from(is_changed);
        }
    }
    let share = 100 * valid / (valid + invalid);
    let skipped = 600 - valid - invalid;
    assert!((30..=70).contains(&share), "{share} % fit");
    assert!(skipped < 60, "{skipped} are not looked at");
    assert!(
        changed.iter().all(|it| *it > 3),
        "{changed:?} are changed by options"
    );
}
