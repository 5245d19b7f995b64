//! Validation of answers against a form.

use serde_json::Value;

use super::{
    ChoiceSchema, DecodeError, ElicitSchema, MultiChoiceSchema, Number, NumberKind, NumberSchema,
    PropertySchema, StringFormat, StringSchema,
};

impl ElicitSchema {
    /// Checks that `content` is a valid answer to the form.
    ///
    /// Lengths are counted in characters, and `1.0` is a whole number. A `null`
    /// in an optional field counts as absent, because many programs fill a form
    /// that way. Members that the form does not have are refused. What no
    /// revision allows in a form is not checked: unknown formats, a
    /// [`PropertySchema::Unknown`], members in `extra`.
    ///
    /// ```
    /// use bowline_proto::model::ElicitSchema;
    /// use serde_json::json;
    ///
    /// let form: ElicitSchema = serde_json::from_value(json!({
    ///     "type": "object",
    ///     "properties": {"nights": {"type": "integer", "minimum": 1}},
    ///     "required": ["nights"],
    /// }))
    /// .unwrap();
    /// assert!(form.check(&json!({"nights": 2})).is_ok());
    /// let fault = form.check(&json!({"nights": 0})).unwrap_err();
    /// assert_eq!(fault.to_string(), "nights: 0 is less than 1");
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the first fault, with the name of the field as its path.
    pub fn check(&self, content: &Value) -> Result<(), DecodeError> {
        let Value::Object(object) = content else {
            let message = format!("expected an object, not {}", type_name(content));
            return Err(DecodeError::new("", message));
        };
        let is_missing = |name: &&String| object.get(*name).is_none_or(Value::is_null);
        if let Some(name) = self.required.iter().find(is_missing) {
            return Err(DecodeError::new(name, "an answer is required"));
        }
        for (name, value) in object {
            let Some(property) = self.properties.get(name) else {
                return Err(DecodeError::new(name, "the form has no such field"));
            };
            // A required field that is null was refused above.
            if !value.is_null() {
                property
                    .check(value)
                    .map_err(|error| error.into_decode_error(name))?;
            }
        }
        Ok(())
    }
}

impl PropertySchema {
    fn check(&self, value: &Value) -> Result<(), CheckError> {
        match self {
            Self::String(schema) => schema.check(value),
            Self::Number(schema) => schema.check(value),
            Self::Boolean(_) => match value {
                Value::Bool(_) => Ok(()),
                other => Err(wrong_type("a boolean", other)),
            },
            Self::Choice(schema) => schema.check(value),
            Self::MultiChoice(schema) => schema.check(value),
            Self::Unknown(_) => Ok(()),
        }
    }
}

/// What is wrong with a value or one of its items.
///
/// Strings are not repeated: they may be long, and they are the user's own.
struct CheckError {
    item: Option<usize>,
    message: String,
}

impl CheckError {
    fn with_item(self, item: usize) -> Self {
        let item = Some(item);
        Self { item, ..self }
    }

    fn into_decode_error(self, name: &str) -> DecodeError {
        let item = self.item.map(|item| format!("[{item}]"));
        DecodeError::new(format!("{name}{}", item.unwrap_or_default()), self.message)
    }
}

impl From<String> for CheckError {
    fn from(message: String) -> Self {
        let item = None;
        Self { item, message }
    }
}

/// Fails with the message unless the condition holds.
fn ensure(condition: bool, message: impl FnOnce() -> String) -> Result<(), CheckError> {
    if condition {
        Ok(())
    } else {
        Err(message().into())
    }
}

fn wrong_type(expected: &str, value: &Value) -> CheckError {
    format!("expected {expected}, not {}", type_name(value)).into()
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl StringSchema {
    fn check(&self, value: &Value) -> Result<(), CheckError> {
        let Value::String(text) = value else {
            return Err(wrong_type("a string", value));
        };
        let length = text.chars().count() as u64;
        if let Some(min) = self.min_length {
            ensure(length >= min, || {
                format!("{length} characters; the minimum is {min}")
            })?;
        }
        if let Some(max) = self.max_length {
            ensure(length <= max, || {
                format!("{length} characters; the maximum is {max}")
            })?;
        }
        match &self.format {
            Some(format) => ensure(matches_format(text, format), || {
                format!("this is not {}", format_name(format))
            }),
            None => Ok(()),
        }
    }
}

impl NumberSchema {
    fn check(&self, value: &Value) -> Result<(), CheckError> {
        let is_integer = self.kind == NumberKind::Integer;
        let Value::Number(number) = value else {
            let expected = if is_integer {
                "a whole number"
            } else {
                "a number"
            };
            return Err(wrong_type(expected, value));
        };
        if is_integer {
            let fraction = number.as_f64().is_some_and(|number| number.fract() != 0.0);
            ensure(!fraction, || format!("{number} is not a whole number"))?;
        }
        if let Some(min) = self.minimum {
            ensure(!is_less(number, min), || {
                format!("{number} is less than {min}")
            })?;
        }
        if let Some(max) = self.maximum {
            ensure(!is_greater(number, max), || {
                format!("{number} is greater than {max}")
            })?;
        }
        Ok(())
    }
}

/// Compares integers as such, since two of them may share their nearest double.
fn is_less(number: &serde_json::Number, bound: Number) -> bool {
    match (number.as_i64(), bound.as_i64()) {
        (Some(number), Some(bound)) => number < bound,
        _ => number.as_f64().is_some_and(|n| n < bound.as_f64()),
    }
}

fn is_greater(number: &serde_json::Number, bound: Number) -> bool {
    match (number.as_i64(), bound.as_i64()) {
        (Some(number), Some(bound)) => number > bound,
        _ => number.as_f64().is_some_and(|n| n > bound.as_f64()),
    }
}

impl ChoiceSchema {
    fn check(&self, value: &Value) -> Result<(), CheckError> {
        check_choice(value, self.choices().map(|(choice, _)| choice))
    }
}

impl MultiChoiceSchema {
    fn check(&self, value: &Value) -> Result<(), CheckError> {
        let Value::Array(chosen) = value else {
            return Err(wrong_type("a list of choices", value));
        };
        for (index, item) in chosen.iter().enumerate() {
            let choices = self.choices().map(|(choice, _)| choice);
            check_choice(item, choices).map_err(|error| error.with_item(index))?;
            let first = !chosen[..index].contains(item);
            ensure(first, || "this choice occurs twice".to_owned())
                .map_err(|error| error.with_item(index))?;
        }
        let count = chosen.len() as u64;
        if let Some(min) = self.min_items {
            ensure(count >= min, || {
                format!("{count} choices; the minimum is {min}")
            })?;
        }
        if let Some(max) = self.max_items {
            ensure(count <= max, || {
                format!("{count} choices; the maximum is {max}")
            })?;
        }
        Ok(())
    }
}

fn check_choice<'a>(
    value: &Value,
    mut choices: impl Iterator<Item = &'a str>,
) -> Result<(), CheckError> {
    match value {
        Value::String(text) => ensure(choices.any(|choice| choice == text), || {
            "this is not one of the choices".to_owned()
        }),
        other => Err(wrong_type("one of the choices", other)),
    }
}

fn matches_format(text: &str, format: &StringFormat) -> bool {
    match format {
        StringFormat::Email => is_email(text),
        StringFormat::Uri => is_uri(text),
        StringFormat::Date => is_date(text),
        StringFormat::DateTime => is_date_time(text),
        StringFormat::Other(_) => true,
    }
}

fn format_name(format: &StringFormat) -> &str {
    match format {
        StringFormat::Email => "an e-mail address",
        StringFormat::Uri => "a URI",
        StringFormat::Date => "a date such as 2026-07-28",
        StringFormat::DateTime => "a time such as 2026-07-28T09:30:00Z",
        StringFormat::Other(other) => other,
    }
}

/// Catches typos; only sending mail can tell whether the address exists.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_forbidden =
        |c: char| c.is_whitespace() || c.is_control() || "@<>,;:()[]\\\"".contains(c);
    let valid_local =
        !local.contains(is_forbidden) && local.split('.').all(|part| !part.is_empty());
    valid_local && domain.split('.').all(is_label)
}

/// Returns whether this is a valid label of a host name.
fn is_label(label: &str) -> bool {
    let valid = |c: char| c.is_alphanumeric() || c == '-';
    !label.is_empty()
        && label.chars().all(valid)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Returns whether this is a scheme followed by what RFC 3986 allows.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let valid_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let valid_rest = rest
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
    let valid_escapes = rest.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2).unwrap_or_default();
        digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit)
    });
    valid_scheme && valid_rest && valid_escapes && !rest.is_empty() && rest != "//"
}

/// Returns whether this is a date in the format of RFC 3339.
fn is_date(text: &str) -> bool {
    let [year, month, day] = match text.split('-').collect::<Vec<_>>()[..] {
        [year, month, day] => [
            parse_digits(year, 4),
            parse_digits(month, 2),
            parse_digits(day, 2),
        ],
        _ => return false,
    };
    match (year, month, day) {
        (Some(year), Some(month), Some(day)) => (1..=days_in(year, month)).contains(&day),
        _ => false,
    }
}

fn days_in(year: u32, month: u32) -> u32 {
    let is_divisible = |years| year.is_multiple_of(years);
    let leap = is_divisible(4) && (!is_divisible(100) || is_divisible(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => 0,
    }
}

/// Returns whether this is a date, time and offset in the format of RFC 3339.
fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_once(['T', 't']) else {
        return false;
    };
    let Some(offset_at) = rest.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (time, offset) = rest.split_at(offset_at);
    let valid_offset = match offset.strip_prefix(['+', '-']) {
        Some(offset) => is_time(offset, &[23, 59]),
        None => matches!(offset, "Z" | "z"),
    };
    let (clock, valid_fraction) = match time.split_once('.') {
        Some((clock, fraction)) => {
            let valid = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
            (clock, valid)
        }
        None => (time, true),
    };
    // Second 60 is a leap second.
    is_date(date) && is_time(clock, &[23, 59, 60]) && valid_fraction && valid_offset
}

/// Returns whether these are two-digit numbers separated by colons, each up to
/// its limit.
fn is_time(text: &str, limits: &[u32]) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let valid = |(part, limit): (&&str, &u32)| parse_digits(part, 2).is_some_and(|n| n <= *limit);
    parts.len() == limits.len() && parts.iter().zip(limits).all(valid)
}

/// Parses exactly `count` digits.
fn parse_digits(text: &str, count: usize) -> Option<u32> {
    let valid = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, right: &[&str], wrong: &[&str]) {
        let format = StringFormat::from(format);
        for text in right {
            assert!(matches_format(text, &format), "{text:?} is {format}");
        }
        for text in wrong {
            assert!(!matches_format(text, &format), "{text:?} is no {format}");
        }
    }

    #[test]
    fn e_mail_addresses() {
        check(
            "email",
            &[
                "a@b",
                "ada.lovelace+tag@post.example",
                "o'brien@xn--bcher-kva.example",
                "käthe@bücher.example",
            ],
            &[
                "",
                "a",
                "@b",
                "a@",
                "a b@c",
                "a@b@c",
                ".a@b",
                "a..b@c",
                "a@b..c",
                "a@b.",
                "a@-b",
                "a@b-",
                "Ada <ada@b>",
                "a@b_c",
                "a@b\n",
            ],
        );
    }

    #[test]
    fn uris() {
        check(
            "uri",
            &[
                "https://harbour.example/berths?free=1#4",
                "urn:isbn:0451450523",
                "mailto:ada@post.example",
                "file:///",
                "http://[::1]:8080/",
                "a+b-c.d:%C3%A9",
            ],
            &[
                "",
                "harbour.example",
                "/berths",
                "https:",
                "https://",
                "1a:b",
                ":b",
                "http://a b",
                "http://é",
                "http://a/%",
                "http://a/%C",
                "http://a/%zz",
                "http://a/<b>",
                "ht tp://a",
            ],
        );
    }

    #[test]
    fn days() {
        check(
            "date",
            &["2026-07-28", "2024-02-29", "2000-02-29", "0000-01-31"],
            &[
                "",
                "2026-7-28",
                "26-07-28",
                "2026-02-29",
                "1900-02-29",
                "2026-04-31",
                "2026-13-01",
                "2026-00-01",
                "2026-01-00",
                "2026-01-01-",
                "+026-01-01",
                "2026/01/01",
                "2026-01-01T00:00:00Z",
            ],
        );
    }

    #[test]
    fn times() {
        check(
            "date-time",
            &[
                "2026-07-28T09:30:00Z",
                "2026-07-28t09:30:00z",
                "2026-07-28T23:59:60.123456789+05:30",
                "2026-07-28T00:00:00-00:00",
            ],
            &[
                "",
                "2026-07-28",
                "2026-07-28T09:30Z",
                "2026-07-28T09:30:00",
                "2026-07-28 09:30:00Z",
                "2026-07-28T24:00:00Z",
                "2026-07-28T09:60:00Z",
                "2026-07-28T09:30:61Z",
                "2026-07-28T09:30:00.Z",
                "2026-07-28T09:30:00,5Z",
                "2026-07-28T09:30:00+5:30",
                "2026-07-28T09:30:00+24:00",
                "2026-07-28T09:30:00Zz",
                "2026-02-30T09:30:00Z",
            ],
        );
    }

    #[test]
    fn other_formats_are_not_looked_at() {
        check("iban", &["", "anything"], &[]);
    }
}
