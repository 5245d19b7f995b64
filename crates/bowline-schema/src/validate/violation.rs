//! The errors for values that violate a keyword.

use std::fmt::Write as _;

use serde_json::{Number, Value};

use super::{
    ValidationError,
    budget::value_cost,
    display::{TruncatedJson, push_entry, push_text, push_value, truncate_entry, truncate_message},
    error::Detail,
    error_kind::ValidationErrorKind as Kind,
    format::Format,
    hashed::first_repeated,
    json_type::Types,
    keyword::{ValueKeyword, to_u64},
};
use crate::closest_name::closest_name;

/// The maximum number of entries in the lists of an error.
const MAX_ENTRIES: usize = 100;

/// The maximum size of the values in the lists of an error, in steps to read them.
const MAX_COST: u64 = 10_000;

/// The maximum number of alternatives that are written out.
const MAX_WRITTEN: usize = 5;

/// The number of bytes that most messages fit in.
const USUAL_LENGTH: usize = 128;

/// Returns a message that begins with a value, and goes on with these words.
fn about(value: &Value, words: &[&str]) -> String {
    let mut message = String::with_capacity(USUAL_LENGTH);
    push_value(&mut message, value);
    words.iter().for_each(|word| message.push_str(word));
    message
}

impl ValueKeyword {
    /// Returns the error for a value that violates the keyword.
    pub(super) fn violation(&self, value: &Value, detail: Detail) -> ValidationError {
        match self {
            Self::Never => {
                let message = format!("False schema does not allow {}", TruncatedJson(value));
                detail.error(message, || (Kind::Forbidden, "nothing".to_owned()))
            }
            Self::Const(expected) => {
                let written = TruncatedJson(expected).to_string();
                detail.error(format!("{written} was expected"), || {
                    let is_small = value_cost(expected) <= MAX_COST;
                    let choices = is_small.then(|| expected.clone()).into_iter().collect();
                    (Kind::NotAChoice { choices }, written)
                })
            }
            Self::Enum(options) => not_a_choice(&options.values().iter(), value, detail),
            Self::Minimum(limit) => too_small(limit, false, value, detail),
            Self::ExclusiveMinimum(limit) => too_small(limit, true, value, detail),
            Self::Maximum(limit) => too_large(limit, false, value, detail),
            Self::ExclusiveMaximum(limit) => too_large(limit, true, value, detail),
            Self::MultipleOf(divisor) => {
                let message = about(value, &[" is not a multiple of ", &divisor.to_string()]);
                detail.error(message, || {
                    let expected = format!("a multiple of {divisor}");
                    let divisor = divisor.clone();
                    (Kind::NotAMultiple { divisor }, expected)
                })
            }
            Self::MinLength(limit) => {
                too_short(" is shorter than ", *limit, CHARACTERS, value, detail)
            }
            Self::MaxLength(limit) => {
                too_long(" is longer than ", *limit, CHARACTERS, value, detail)
            }
            Self::MinItems(limit) => too_short(" has less than ", *limit, ITEMS, value, detail),
            Self::MaxItems(limit) => too_long(" has more than ", *limit, ITEMS, value, detail),
            Self::MinProperties(limit) => {
                too_short(" has less than ", *limit, PROPERTIES, value, detail)
            }
            Self::MaxProperties(limit) => {
                too_long(" has more than ", *limit, PROPERTIES, value, detail)
            }
            Self::Pattern(pattern) => pattern_mismatch(pattern.as_str(), value, detail),
            Self::Format(format) => format_mismatch(*format, value, detail),
            Self::UniqueItems => {
                let message = about(value, &[" has non-unique elements"]);
                detail.error(message, || {
                    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
                    let index = first_repeated(items).unwrap_or_default();
                    (Kind::RepeatedItem { index }, "unique items".to_owned())
                })
            }
            Self::DependentRequired(_, others) => {
                let missing = others.iter().find(|other| value.get(other).is_none());
                let missing = missing.map_or("", String::as_str);
                missing_member(missing, detail, || "any value".to_owned())
            }
        }
    }
}

/// The error for a member that is not there.
pub(super) fn missing_member(
    name: &str,
    detail: Detail,
    expected: impl FnOnce() -> String,
) -> ValidationError {
    let mut message = String::with_capacity(USUAL_LENGTH);
    push_text(&mut message, name);
    message.push_str(" is a required property");
    detail.error(message, || {
        let name = truncate_message(name.to_owned());
        (Kind::MissingMember { name }, expected())
    })
}

/// The error for a member that may not be there, with the names that may.
pub(super) fn unknown_member(
    name: &str,
    why: String,
    known: &[&str],
    detail: Detail,
) -> ValidationError {
    // A name that is declared, but not for this object, does not help.
    let known = known.iter().copied();
    let known = known.filter(|known| *known != name).take(MAX_ENTRIES);
    let mut error = detail.error(why, || {
        let written = known
            .clone()
            .map(|name| truncate_entry(format!("`{name}`")));
        let written: Vec<String> = written.collect();
        let expected = match written.is_empty() {
            true => "no such member".to_owned(),
            false => one_of(&written, written.len()),
        };
        let known = known.clone().map(|it| truncate_message(it.to_owned()));
        let kind = Kind::UnknownMember {
            name: truncate_message(name.to_owned()),
            known: known.collect(),
        };
        (kind, expected)
    });
    error.suggest(closest_name(name, known), detail);
    error
}

/// The error for a value that is not one of a list.
pub(super) fn not_a_choice<'a>(
    choices: &(impl ExactSizeIterator<Item = &'a Value> + Clone),
    value: &Value,
    detail: Detail,
) -> ValidationError {
    let count = choices.len();
    let small = || {
        let mut cost = 0;
        let is_small = move |choice: &&Value| {
            cost += value_cost(choice);
            cost <= MAX_COST
        };
        choices.clone().take(MAX_ENTRIES).take_while(is_small)
    };
    let message = enum_message(small(), count, value);
    let mut error = detail.error(message, || {
        let written = small().map(|it| {
            let mut entry = String::new();
            push_entry(&mut entry, it);
            entry
        });
        let expected = one_of(&written.collect::<Vec<_>>(), count);
        let choices = small().cloned().collect();
        (Kind::NotAChoice { choices }, expected)
    });
    let strings = small().filter_map(Value::as_str);
    let suggestion = value.as_str().and_then(|text| closest_name(text, strings));
    error.suggest(suggestion, detail);
    error
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

/// The error for a value of another type.
pub(super) fn wrong_type(types: Types, value: &Value, detail: Detail) -> ValidationError {
    let mut message = about(value, &[" is not of type"]);
    message.push_str(if types.iter().count() == 1 { " " } else { "s " });
    for (at, kind) in types.iter().enumerate() {
        let separator = if at == 0 { "\"" } else { ", \"" };
        for part in [separator, kind.name(), "\""] {
            message.push_str(part);
        }
    }
    detail.error(message, || {
        let names: Vec<String> = types.iter().map(|kind| kind.to_string()).collect();
        let allowed = types.iter().collect();
        (Kind::WrongType { allowed }, one_of(&names, names.len()))
    })
}

fn too_small(limit: &Number, is_exclusive: bool, value: &Value, detail: Detail) -> ValidationError {
    let (compared, expected) = match is_exclusive {
        false => ("less than", "at least"),
        true => ("less than or equal to", "more than"),
    };
    let mut message = about(value, &[" is ", compared, " the minimum of "]);
    // Writing to a string cannot fail.
    let _ = write!(message, "{limit}");
    detail.error(message, || {
        let kind = Kind::TooSmall {
            minimum: limit.clone(),
            is_exclusive,
        };
        (kind, format!("{expected} {limit}"))
    })
}

fn too_large(limit: &Number, is_exclusive: bool, value: &Value, detail: Detail) -> ValidationError {
    let (compared, expected) = match is_exclusive {
        false => ("greater than", "at most"),
        true => ("greater than or equal to", "less than"),
    };
    let mut message = about(value, &[" is ", compared, " the maximum of "]);
    // Writing to a string cannot fail.
    let _ = write!(message, "{limit}");
    detail.error(message, || {
        let kind = Kind::TooLarge {
            maximum: limit.clone(),
            is_exclusive,
        };
        (kind, format!("{expected} {limit}"))
    })
}

/// What a length counts: the words for one and for several.
type Unit = [&'static str; 2];

const CHARACTERS: Unit = ["character", "characters"];
const ITEMS: Unit = ["item", "items"];
const PROPERTIES: Unit = ["property", "properties"];

fn too_short(
    compared: &str,
    minimum: u64,
    unit: Unit,
    value: &Value,
    detail: Detail,
) -> ValidationError {
    let unit = unit[usize::from(minimum != 1)];
    let message = about(value, &[compared, &minimum.to_string(), " ", unit]);
    detail.error(message, || {
        let length = length(value);
        let expected = format!("at least {minimum} {unit}");
        (Kind::TooShort { length, minimum }, expected)
    })
}

fn too_long(
    compared: &str,
    maximum: u64,
    unit: Unit,
    value: &Value,
    detail: Detail,
) -> ValidationError {
    let unit = unit[usize::from(maximum != 1)];
    let message = about(value, &[compared, &maximum.to_string(), " ", unit]);
    detail.error(message, || {
        let length = length(value);
        let expected = format!("at most {maximum} {unit}");
        (Kind::TooLong { length, maximum }, expected)
    })
}

fn length(value: &Value) -> u64 {
    to_u64(match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    })
}

fn pattern_mismatch(pattern: &str, value: &Value, detail: Detail) -> ValidationError {
    let shown = truncate_message(pattern.to_owned());
    let message = about(value, &[" does not match \"", &shown, "\""]);
    detail.error(message, || {
        let pattern = pattern.to_owned();
        (
            Kind::PatternMismatch { pattern },
            format!("a match of {shown}"),
        )
    })
}

fn format_mismatch(format: Format, value: &Value, detail: Detail) -> ValidationError {
    let words = format.words();
    let message = about(value, &[" is not ", words]);
    detail.error(message, || {
        let format = format.name().to_owned();
        (Kind::FormatMismatch { format }, words.to_owned())
    })
}

/// Lists only the first of the choices if there are many.
fn enum_message<'a>(
    choices: impl Iterator<Item = &'a Value>,
    count: usize,
    value: &Value,
) -> String {
    const MAX_LISTED: usize = 3;
    let max_listed = match count <= MAX_LISTED {
        true => count,
        false => MAX_LISTED - 1,
    };
    let mut text = about(value, &[" is not one of "]);
    let mut listed = 0;
    for choice in choices.take(max_listed) {
        text.push_str(match listed {
            0 => "",
            _ if listed + 1 == count => " or ",
            _ => ", ",
        });
        push_entry(&mut text, choice);
        listed += 1;
    }
    if listed == 0 {
        let _ = write!(text, "{count} values");
    } else if listed < count {
        let _ = write!(text, " or {} other candidates", count - listed);
    }
    text
}
