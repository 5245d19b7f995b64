//! Reading the keys of an entry one by one, and reporting invalid ones.

#[cfg(feature = "config-toml")]
use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    ProblemKind, RawEntry, parse_size,
    report::{Report, member_path},
};

/// The members of an object. Each is removed as it is read, so the unknown keys are
/// left at the end.
pub(super) struct Fields<'r> {
    members: Map<String, Value>,
    path: String,
    /// The original members.
    pub(super) raw: RawEntry,
    pub(super) report: &'r mut Report,
}

impl<'r> Fields<'r> {
    pub(super) fn new(members: Map<String, Value>, path: String, report: &'r mut Report) -> Self {
        let raw = RawEntry {
            entry: members.clone(),
            env_file: None,
        };
        Self {
            members,
            path,
            raw,
            report,
        }
    }

    /// Returns the full path of a key.
    pub(super) fn path(&self, key: &str) -> String {
        member_path(&self.path, key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.members.contains_key(key)
    }

    /// Reads a string.
    pub(super) fn string(&mut self, key: &str) -> Option<String> {
        match self.take(key)? {
            Value::String(string) => Some(string),
            other => self.wrong_type(key, "a string", &other),
        }
    }

    /// Reads the first of several alternative keys that is present.
    pub(super) fn first_string(&mut self, keys: &[&'static str]) -> Option<(&'static str, String)> {
        keys.iter()
            .find_map(|&key| self.string(key).map(|string| (key, string)))
    }

    /// Reads a list of strings.
    pub(super) fn strings(&mut self, key: &str) -> Option<Vec<String>> {
        match self.take(key)? {
            Value::Array(items) => {
                let mut values = Vec::new();
                for (at, item) in items.into_iter().enumerate() {
                    values.extend(self.scalar(&format!("{key}[{at}]"), item));
                }
                Some(values)
            }
            other => self.wrong_type(key, "a list of strings", &other),
        }
    }

    /// Reads an object of strings. Null members are reported and left out.
    pub(super) fn table(&mut self, key: &str) -> Vec<(String, String)> {
        let members = match self.take(key) {
            None => return Vec::new(),
            Some(Value::Object(members)) => members,
            Some(other) => {
                self.wrong_type::<()>(key, "an object of strings", &other);
                return Vec::new();
            }
        };
        let mut table = Vec::new();
        for (name, value) in members {
            let path = member_path(key, &name);
            if value.is_null() {
                let path = self.child_path(&path);
                self.report.add(&path, ProblemKind::CannotRemoveVariable);
            } else if let Some(string) = self.scalar(&path, value) {
                table.push((name, string));
            }
        }
        table
    }

    /// Reads an object, whose members are read in the same way.
    pub(super) fn object(&mut self, key: &str) -> Option<Fields<'_>> {
        match self.take(key)? {
            Value::Object(members) => {
                let path = self.path(key);
                Some(Fields::new(members, path, self.report))
            }
            other => self.wrong_type(key, "an object", &other),
        }
    }

    /// Reads a boolean; false by default.
    pub(super) fn flag(&mut self, key: &str) -> bool {
        self.flag_or(key, false)
    }

    /// Reads a boolean, with a default.
    pub(super) fn flag_or(&mut self, key: &str, default: bool) -> bool {
        match self.take(key) {
            None => default,
            Some(Value::Bool(flag)) => flag,
            Some(other) => self
                .wrong_type(key, "true or false", &other)
                .unwrap_or(default),
        }
    }

    /// Reads a time in seconds, which may have a fraction.
    #[cfg(feature = "config-toml")]
    pub(super) fn seconds(&mut self, key: &str) -> Option<Duration> {
        let value = self.take(key)?;
        let Some(seconds) = value.as_f64() else {
            return self.wrong_type(key, "a number of seconds", &value);
        };
        let time = Duration::try_from_secs_f64(seconds);
        let time = time.ok().filter(|time| !time.is_zero());
        if time.is_none() {
            self.invalid_value(key, "expected a time above zero");
        }
        time
    }

    /// Reads a whole number above zero.
    pub(super) fn positive(&mut self, key: &str) -> Option<u64> {
        let value = self.take(key)?;
        match value.as_u64() {
            Some(0) => {
                self.invalid_value(key, "must be above zero");
                None
            }
            Some(number) => Some(number),
            None => self.wrong_type(key, "a whole number", &value),
        }
    }

    /// Reads a number of bytes: a whole number, or a string with a unit.
    pub(super) fn bytes(&mut self, key: &str) -> Option<u64> {
        let Some(Value::String(string)) = self.members.get(key) else {
            return self.positive(key);
        };
        let bytes = parse_size(string);
        self.take(key);
        if bytes.is_none() {
            self.invalid_value(key, "expected a number of bytes, such as 64MiB");
        }
        bytes
    }

    /// Reports that the value of a key is not valid.
    pub(super) fn invalid_value(&mut self, key: &str, reason: impl Into<String>) {
        let path = self.child_path(key);
        self.report.invalid_value(&path, reason);
    }

    /// Reports a problem of the whole object.
    pub(super) fn add_problem(&mut self, kind: ProblemKind) {
        self.report.add(&self.path, kind);
    }

    /// Reports that a key is missing.
    pub(super) fn missing(&mut self, keys: &'static str) {
        self.report.add(&self.path, ProblemKind::MissingKey(keys));
    }

    /// Reports the keys that were not read.
    pub(super) fn finish(self) {
        for key in self.members.keys() {
            let path = member_path(&self.path, key);
            self.report.add(&path, ProblemKind::UnknownKey);
        }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.members.remove(key)
    }

    /// Returns the full path of a child, which may be a path itself.
    fn child_path(&self, child: &str) -> String {
        format!("{}.{child}", self.path)
    }

    /// Converts a scalar to a string, because people write `"PORT": 3000`.
    fn scalar(&mut self, path: &str, value: Value) -> Option<String> {
        match value {
            Value::String(string) => Some(string),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            other => self.wrong_type(path, "a string", &other),
        }
    }

    fn wrong_type<T>(&mut self, path: &str, expected: &'static str, value: &Value) -> Option<T> {
        let found = type_name(value);
        let path = self.child_path(path);
        self.report
            .add(&path, ProblemKind::WrongType { expected, found });
        None
    }
}

/// Returns the name of a value's type.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
