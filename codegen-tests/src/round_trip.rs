//! Values of random schemas, through the types that were generated for them.

use bowline_schema::Validator;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    random::{self, Random},
    random_schemas, random_value,
};

/// How many values are tried for each schema.
const VALUES: u64 = 300;

type RoundTrip = fn(&Value) -> Result<Value, String>;

/// A tool with random schemas.
struct Case {
    seed: u64,
    input: RoundTrip,
    output: RoundTrip,
}

const CASES: &[Case] = include!(concat!(env!("OUT_DIR"), "/cases.rs"));

fn round_trip<T: DeserializeOwned + Serialize>(value: &Value) -> Result<Value, String> {
    let decoded: T = serde_json::from_str(&value.to_string()).map_err(|error| error.to_string())?;
    serde_json::to_value(&decoded).map_err(|error| error.to_string())
}

/// Compares as schemas do: `1` equals `1.0`, and the order of members does not matter.
pub(crate) fn are_equal(one: &Value, other: &Value) -> bool {
    let schema = Validator::new(&json!({"const": one})).expect("a schema");
    schema.is_valid(other)
}

#[test]
fn every_valid_value_decodes_and_encodes_to_itself() {
    let (mut valid, mut all) = (0, 0);
    for case in CASES {
        let mut random = Random::new(case.seed);
        let input = random::document(&mut random, true);
        let output = random::document(&mut random, false);
        for (schema, round_trip) in [(input, case.input), (output, case.output)] {
            // A schema that only refers to itself has a type, but no valid values.
            let Ok(validator) = Validator::new(&schema) else {
                continue;
            };
            for seed in 0..VALUES {
                let mut random = Random::new(case.seed * VALUES + seed);
                let value = random_value::value(&mut random, &schema, &schema, 0);
                all += 1;
                if !validator.is_valid(&value) {
                    continue;
                }
                valid += 1;
                let result = round_trip(&value);
                let result = result.unwrap_or_else(|error| {
                    panic!("{error}: {value} of case {}: {schema:#}", case.seed)
                });
                assert!(
                    are_equal(&value, &result),
                    "{value} became {result} in case {}: {schema:#}",
                    case.seed
                );
            }
        }
    }
    // Otherwise the generator of values does not fit that of schemas.
    assert!(valid * 2 > all, "{valid} of {all} values are valid");
    assert!(CASES.len() > 100);
}
