//! Reading the keys of an entry one by one, and reporting those that are wrong.

#[cfg(feature = "config-toml")]
use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    ProblemKind, Written, parse_size,
    report::{Report, member},
};

/// The members of an object. Each is taken out as it is read, so that what is
/// left in the end is what nobody knows.
pub(super) struct Fields<'r> {
    members: Map<String, Value>,
    path: String,
    /// All of them, as they were.
    pub(super) written: Written,
    pub(super) report: &'r mut Report,
}

impl<'r> Fields<'r> {
    pub(super) fn new(members: Map<String, Value>, path: String, report: &'r mut Report) -> Self {
        let written = Written {
            entry: members.clone(),
            env_file: None,
        };
        Self {
            members,
            path,
            written,
            report,
        }
    }

    /// The full path of a key.
    pub(super) fn path(&self, key: &str) -> String {
        member(&self.path, key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.members.contains_key(key)
    }

    /// A string.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        match self.take(key)? {
            Value::String(text) => Some(text),
            other => self.wrong(key, "a string", &other),
        }
    }

    /// The first of several keys for the same thing that is there.
    pub(super) fn text_of(&mut self, keys: &[&'static str]) -> Option<(&'static str, String)> {
        keys.iter()
            .find_map(|&key| self.text(key).map(|text| (key, text)))
    }

    /// A list of strings.
    pub(super) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        match self.take(key)? {
            Value::Array(items) => {
                let mut texts = Vec::new();
                for (at, item) in items.into_iter().enumerate() {
                    texts.extend(self.scalar(&format!("{key}[{at}]"), item));
                }
                Some(texts)
            }
            other => self.wrong(key, "a list of strings", &other),
        }
    }

    /// An object of strings. Members that are null are reported and left out.
    pub(super) fn table(&mut self, key: &str) -> Vec<(String, String)> {
        let members = match self.take(key) {
            None => return Vec::new(),
            Some(Value::Object(members)) => members,
            Some(other) => {
                self.wrong::<()>(key, "an object of strings", &other);
                return Vec::new();
            }
        };
        let mut table = Vec::new();
        for (name, value) in members {
            let path = member(key, &name);
            if value.is_null() {
                let path = self.deep(&path);
                self.report.add(&path, ProblemKind::Removal);
            } else if let Some(text) = self.scalar(&path, value) {
                table.push((name, text));
            }
        }
        table
    }

    /// An object, whose members are read in the same way.
    pub(super) fn object(&mut self, key: &str) -> Option<Fields<'_>> {
        match self.take(key)? {
            Value::Object(members) => {
                let path = self.path(key);
                Some(Fields::new(members, path, self.report))
            }
            other => self.wrong(key, "an object", &other),
        }
    }

    /// Yes or no; no where it is not said.
    pub(super) fn flag(&mut self, key: &str) -> bool {
        self.flag_or(key, false)
    }

    /// Yes or no, or what counts where it is not said.
    pub(super) fn flag_or(&mut self, key: &str, otherwise: bool) -> bool {
        match self.take(key) {
            None => otherwise,
            Some(Value::Bool(flag)) => flag,
            Some(other) => self
                .wrong(key, "true or false", &other)
                .unwrap_or(otherwise),
        }
    }

    /// A time in seconds, which may be broken.
    #[cfg(feature = "config-toml")]
    pub(super) fn seconds(&mut self, key: &str) -> Option<Duration> {
        let value = self.take(key)?;
        let Some(seconds) = value.as_f64() else {
            return self.wrong(key, "a number of seconds", &value);
        };
        let time = Duration::try_from_secs_f64(seconds);
        let time = time.ok().filter(|time| !time.is_zero());
        if time.is_none() {
            self.value(key, "a time above zero is expected");
        }
        time
    }

    /// A whole number above zero.
    pub(super) fn positive(&mut self, key: &str) -> Option<u64> {
        let value = self.take(key)?;
        match value.as_u64() {
            Some(0) => {
                self.value(key, "zero makes no sense here");
                None
            }
            Some(number) => Some(number),
            None => self.wrong(key, "a whole number", &value),
        }
    }

    /// A number of bytes: a whole number, or a text with a unit.
    pub(super) fn bytes(&mut self, key: &str) -> Option<u64> {
        let Some(Value::String(text)) = self.members.get(key) else {
            return self.positive(key);
        };
        let bytes = parse_size(text);
        self.take(key);
        if bytes.is_none() {
            self.value(key, "a number of bytes is expected, such as 64MiB");
        }
        bytes
    }

    /// Says that the value of a key makes no sense.
    pub(super) fn value(&mut self, key: &str, why: impl Into<String>) {
        let path = self.deep(key);
        self.report.value(&path, why);
    }

    /// Says something of the whole.
    pub(super) fn about(&mut self, kind: ProblemKind) {
        self.report.add(&self.path, kind);
    }

    /// Says that a key is missing.
    pub(super) fn missing(&mut self, keys: &'static str) {
        self.report.add(&self.path, ProblemKind::Missing(keys));
    }

    /// Reports the keys that nobody asked for.
    pub(super) fn finish(self) {
        for key in self.members.keys() {
            let path = member(&self.path, key);
            self.report.add(&path, ProblemKind::UnknownKey);
        }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.members.remove(key)
    }

    /// The full path of something below, which may be a path itself.
    fn deep(&self, below: &str) -> String {
        format!("{}.{below}", self.path)
    }

    /// A string, or what people write in place of one: `"PORT": 3000`.
    fn scalar(&mut self, path: &str, value: Value) -> Option<String> {
        match value {
            Value::String(text) => Some(text),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            other => self.wrong(path, "a string", &other),
        }
    }

    fn wrong<T>(&mut self, path: &str, expected: &'static str, value: &Value) -> Option<T> {
        let found = type_name(value);
        let path = self.deep(path);
        self.report
            .add(&path, ProblemKind::Type { expected, found });
        None
    }
}

/// What a value is, in words.
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
