//! The errors for values that violate a keyword.

use std::fmt::Write as _;

use serde_json::{Number, Value};

use super::{
    ValidationError,
    budget::value_cost,
    display::{TruncatedJson, quoted, truncate_entry, truncate_message},
    error_kind::ValidationErrorKind as Kind,
    format::Format,
    hashed::first_repeated,
    json_type::JsonType,
    keyword::{ValueKeyword, to_u64},
};
use crate::closest_name::closest_name;

/// The maximum number of entries in the lists of an error.
const MAX_ENTRIES: usize = 100;

/// The maximum size of the values in the lists of an error, in steps to read them.
const MAX_COST: u64 = 10_000;

/// The maximum number of alternatives that are written out.
const MAX_WRITTEN: usize = 5;

impl ValueKeyword {
    /// Returns the error for a value that violates the keyword.
    pub(super) fn violation(&self, value: &Value) -> ValidationError {
        match self {
            Self::Never => ValidationError::new(
                Kind::Forbidden,
                format!("False schema does not allow {}", TruncatedJson(value)),
                "nothing",
            ),
            Self::Types(types) => wrong_type(types, value),
            Self::Const(expected) => {
                let is_small = value_cost(expected) <= MAX_COST;
                let choices = is_small.then(|| expected.clone()).into_iter().collect();
                let kind = Kind::NotAChoice { choices };
                let expected = TruncatedJson(expected).to_string();
                ValidationError::new(kind, format!("{expected} was expected"), expected)
            }
            Self::Enum(options) => not_a_choice(options.values().iter(), value),
            Self::Minimum(limit) => too_small(limit, false, value),
            Self::ExclusiveMinimum(limit) => too_small(limit, true, value),
            Self::Maximum(limit) => too_large(limit, false, value),
            Self::ExclusiveMaximum(limit) => too_large(limit, true, value),
            Self::MultipleOf(divisor) => ValidationError::new(
                Kind::NotAMultiple {
                    divisor: divisor.clone(),
                },
                format!("{} is not a multiple of {divisor}", TruncatedJson(value)),
                format!("a multiple of {divisor}"),
            ),
            Self::MinLength(limit) => too_short("is shorter than", *limit, CHARACTERS, value),
            Self::MaxLength(limit) => too_long("is longer than", *limit, CHARACTERS, value),
            Self::MinItems(limit) => too_short("has less than", *limit, ITEMS, value),
            Self::MaxItems(limit) => too_long("has more than", *limit, ITEMS, value),
            Self::MinProperties(limit) => too_short("has less than", *limit, PROPERTIES, value),
            Self::MaxProperties(limit) => too_long("has more than", *limit, PROPERTIES, value),
            Self::Pattern(pattern) => pattern_mismatch(pattern.as_str(), value),
            Self::Format(format) => format_mismatch(*format, value),
            Self::UniqueItems => {
                let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
                let index = first_repeated(items).unwrap_or_default();
                let message = format!("{} has non-unique elements", TruncatedJson(value));
                ValidationError::new(Kind::RepeatedItem { index }, message, "unique items")
            }
            Self::DependentRequired(_, others) => {
                let missing = others.iter().find(|other| value.get(other).is_none());
                missing_member(missing.map_or("", String::as_str), "any value".to_owned())
            }
        }
    }
}

/// The error for a member that is not there.
pub(super) fn missing_member(name: &str, expected: String) -> ValidationError {
    let kind = Kind::MissingMember {
        name: truncate_message(name.to_owned()),
    };
    ValidationError::new(
        kind,
        format!("{} is a required property", quoted(name)),
        expected,
    )
}

/// The error for a member that may not be there, with the names that may.
pub(super) fn unknown_member<'a>(
    name: &str,
    why: impl Into<String>,
    known: impl Iterator<Item = &'a str>,
) -> ValidationError {
    // A name that is declared, but not for this object, does not help.
    let known: Vec<&str> = known
        .filter(|known| *known != name)
        .take(MAX_ENTRIES)
        .collect();
    let written = known.iter().map(|name| truncate_entry(format!("`{name}`")));
    let written: Vec<String> = written.collect();
    let expected = match written.is_empty() {
        true => "no such member".to_owned(),
        false => one_of(&written, written.len()),
    };
    let suggestion = closest_name(name, known.iter().copied());
    let kind = Kind::UnknownMember {
        name: truncate_message(name.to_owned()),
        known: known
            .into_iter()
            .map(|it| truncate_message(it.to_owned()))
            .collect(),
    };
    ValidationError::new(kind, why, expected).suggest(suggestion)
}

/// The error for a value that is not one of a list.
pub(super) fn not_a_choice<'a>(
    choices: impl ExactSizeIterator<Item = &'a Value>,
    value: &Value,
) -> ValidationError {
    let count = choices.len();
    let mut cost = 0;
    let is_small = |choice: &&Value| {
        cost += value_cost(choice);
        cost <= MAX_COST
    };
    let choices: Vec<&Value> = choices.take(MAX_ENTRIES).take_while(is_small).collect();
    let strings = choices.iter().filter_map(|choice| choice.as_str());
    let suggestion = value.as_str().and_then(|text| closest_name(text, strings));
    let written = choices
        .iter()
        .map(|it| truncate_entry(TruncatedJson(it).to_string()));
    let written: Vec<String> = written.collect();
    let kind = Kind::NotAChoice {
        choices: choices.iter().copied().cloned().collect(),
    };
    let message = enum_message(&written, count, value);
    ValidationError::new(kind, message, one_of(&written, count)).suggest(suggestion)
}

/// Joins alternatives as `a, b or c`. If there are many, only the first are listed, and
/// the others counted.
pub(super) fn one_of(alternatives: &[String], count: usize) -> String {
    match alternatives {
        [] if count > 0 => format!("{count} values"),
        [] => "nothing".to_owned(),
        [only] if count == 1 => only.clone(),
        [first @ .., last] if count == alternatives.len() && count <= MAX_WRITTEN => {
            format!("{} or {last}", first.join(", "))
        }
        all => {
            let first = &all[..all.len().min(MAX_WRITTEN - 1)];
            format!("{} or {} more", first.join(", "), count - first.len())
        }
    }
}

fn wrong_type(types: &[JsonType], value: &Value) -> ValidationError {
    let names: Vec<String> = types.iter().map(|kind| format!("\"{kind}\"")).collect();
    let s = if names.len() == 1 { "" } else { "s" };
    let message = format!(
        "{} is not of type{s} {}",
        TruncatedJson(value),
        names.join(", ")
    );
    let kind = Kind::WrongType {
        allowed: types.to_vec(),
    };
    let names: Vec<String> = types.iter().map(JsonType::to_string).collect();
    ValidationError::new(kind, message, one_of(&names, names.len()))
}

fn too_small(limit: &Number, is_exclusive: bool, value: &Value) -> ValidationError {
    let value = TruncatedJson(value);
    let (compared, expected) = match is_exclusive {
        false => ("less than", "at least"),
        true => ("less than or equal to", "more than"),
    };
    let kind = Kind::TooSmall {
        minimum: limit.clone(),
        is_exclusive,
    };
    ValidationError::new(
        kind,
        format!("{value} is {compared} the minimum of {limit}"),
        format!("{expected} {limit}"),
    )
}

fn too_large(limit: &Number, is_exclusive: bool, value: &Value) -> ValidationError {
    let value = TruncatedJson(value);
    let (compared, expected) = match is_exclusive {
        false => ("greater than", "at most"),
        true => ("greater than or equal to", "less than"),
    };
    let kind = Kind::TooLarge {
        maximum: limit.clone(),
        is_exclusive,
    };
    ValidationError::new(
        kind,
        format!("{value} is {compared} the maximum of {limit}"),
        format!("{expected} {limit}"),
    )
}

/// What a length counts: the words for one and for several.
type Unit = [&'static str; 2];

const CHARACTERS: Unit = ["character", "characters"];
const ITEMS: Unit = ["item", "items"];
const PROPERTIES: Unit = ["property", "properties"];

fn too_short(compared: &str, minimum: u64, unit: Unit, value: &Value) -> ValidationError {
    let length = length(value);
    let unit = unit[usize::from(minimum != 1)];
    ValidationError::new(
        Kind::TooShort { length, minimum },
        format!("{} {compared} {minimum} {unit}", TruncatedJson(value)),
        format!("at least {minimum} {unit}"),
    )
}

fn too_long(compared: &str, maximum: u64, unit: Unit, value: &Value) -> ValidationError {
    let length = length(value);
    let unit = unit[usize::from(maximum != 1)];
    ValidationError::new(
        Kind::TooLong { length, maximum },
        format!("{} {compared} {maximum} {unit}", TruncatedJson(value)),
        format!("at most {maximum} {unit}"),
    )
}

fn length(value: &Value) -> u64 {
    to_u64(match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    })
}

fn pattern_mismatch(pattern: &str, value: &Value) -> ValidationError {
    let shown = truncate_message(pattern.to_owned());
    ValidationError::new(
        Kind::PatternMismatch {
            pattern: pattern.to_owned(),
        },
        format!("{} does not match \"{shown}\"", TruncatedJson(value)),
        format!("a match of {shown}"),
    )
}

fn format_mismatch(format: Format, value: &Value) -> ValidationError {
    let words = format.words();
    ValidationError::new(
        Kind::FormatMismatch {
            format: format.name().to_owned(),
        },
        format!("{} is not {words}", TruncatedJson(value)),
        words,
    )
}

/// Lists only the first of the choices if there are many.
fn enum_message(written: &[String], count: usize, value: &Value) -> String {
    const MAX_LISTED: usize = 3;
    let listed = if count <= MAX_LISTED {
        written.len()
    } else {
        written.len().min(MAX_LISTED - 1)
    };
    let mut text = format!("{} is not one of ", TruncatedJson(value));
    for (at, choice) in written.iter().take(listed).enumerate() {
        let separator = match at {
            0 => "",
            _ if at + 1 == count => " or ",
            _ => ", ",
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{choice}");
    }
    if listed == 0 {
        let _ = write!(text, "{count} values");
    } else if listed < count {
        let _ = write!(text, " or {} other candidates", count - listed);
    }
    text
}
