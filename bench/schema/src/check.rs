//! Checking arguments against the schemas of tools.

use std::hint::black_box;

use bowline_schema::TextCheck;
use serde_json::Value;

use crate::{
    Failure, Measured,
    arguments::{Case, cases},
    seconds,
};

/// A compiled schema of one of the contenders.
pub(crate) trait Checker: Sized {
    fn compile(schema: &Value) -> Result<Self, Failure>;
    fn is_valid(&self, value: &Value) -> bool;
    /// Checks JSON text, and returns all messages if it does not match.
    fn check_text(&self, json: &str) -> Result<(), String>;
}

/// Ours, as the server framework uses it.
pub(crate) struct Ours {
    validator: bowline_schema::Validator,
    text_check: Option<TextCheck>,
}

impl Checker for Ours {
    fn compile(schema: &Value) -> Result<Self, Failure> {
        let validator = bowline_schema::Validator::new(schema).map_err(|error| error.to_string());
        Ok(Self {
            validator: validator?,
            text_check: TextCheck::compile(schema),
        })
    }

    fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    fn check_text(&self, json: &str) -> Result<(), String> {
        let text_check = self.text_check.as_ref();
        if text_check.is_some_and(|check| check.is_surely_valid(json)) {
            return Ok(());
        }
        let value: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        // What the check on text did not accept is probably wrong.
        if text_check.is_none() && self.validator.is_valid(&value) {
            return Ok(());
        }
        match self.validator.describe_errors(&value) {
            Some(messages) => Err(messages),
            None => Ok(()),
        }
    }
}

/// The crate jsonschema.
pub(crate) struct Jsonschema(jsonschema::Validator);

impl Checker for Jsonschema {
    fn compile(schema: &Value) -> Result<Self, Failure> {
        let validator = jsonschema::draft202012::new(schema);
        validator.map(Self).map_err(|error| error.to_string())
    }

    fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    fn check_text(&self, json: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if self.0.is_valid(&value) {
            return Ok(());
        }
        let mut messages = String::new();
        for error in self.0.iter_errors(&value) {
            messages += &format!("\n- at {}: {error}", error.instance_path());
        }
        Err(messages)
    }
}

/// Measures every case, in nanoseconds for one value.
pub(crate) fn measure<C: Checker>(times: u32) -> Result<Measured, Failure> {
    let mut measured = Measured::new();
    for case in cases() {
        let checker = C::compile(&case.schema)?;
        verify(&checker, &case)?;
        let texts = |values: &[Value]| values.iter().map(Value::to_string).collect();
        let (valid, invalid): (Vec<String>, Vec<String>) =
            (texts(&case.valid), texts(&case.invalid));
        let mut each = |what: &str, values: usize, run: &mut dyn FnMut()| {
            let seconds = seconds(times, run) / values as f64;
            measured.push((format!("schema.{}.{what}", case.name), seconds * 1e9));
        };
        each("value.valid", valid.len(), &mut || {
            for value in &case.valid {
                black_box(checker.is_valid(black_box(value)));
            }
        });
        each("value.invalid", invalid.len(), &mut || {
            for value in &case.invalid {
                black_box(checker.is_valid(black_box(value)));
            }
        });
        each("text.valid", valid.len(), &mut || {
            for text in &valid {
                let _ = black_box(checker.check_text(black_box(text)));
            }
        });
        each("text.invalid", invalid.len(), &mut || {
            for text in &invalid {
                let _ = black_box(checker.check_text(black_box(text)));
            }
        });
    }
    Ok(measured)
}

/// Makes sure that a contender does the work.
fn verify(checker: &impl Checker, case: &Case) -> Result<(), Failure> {
    let accepts = |value: &Value| {
        (
            checker.is_valid(value),
            checker.check_text(&value.to_string()).is_ok(),
        )
    };
    let valid = case
        .valid
        .iter()
        .all(|value| accepts(value) == (true, true));
    let invalid = case
        .invalid
        .iter()
        .all(|value| accepts(value) == (false, false));
    match valid && invalid {
        true => Ok(()),
        false => Err(format!("a wrong verdict on {}", case.name)),
    }
}
