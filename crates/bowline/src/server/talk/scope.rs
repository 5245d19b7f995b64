//! The names of what a conversation asks and does.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
};

use crate::server::error::{Error, ErrorKind, Result};

/// A conversation, or a branch of one: within it, things are counted.
#[derive(Debug)]
pub(crate) struct Scope {
    prefix: Box<str>,
    names: Mutex<Names>,
}

#[derive(Debug, Default)]
struct Names {
    /// How many questions were asked without a key.
    questions: u32,
    /// How often each step was taken, and each key used.
    uses: HashMap<Box<str>, u32>,
}

impl Scope {
    pub(crate) fn root() -> Self {
        Self::below("")
    }

    /// The scope of a branch that has this name.
    pub(crate) fn below(prefix: &str) -> Self {
        Self {
            prefix: prefix.into(),
            names: Mutex::default(),
        }
    }

    /// The name of a question: what its author calls it, or its number.
    ///
    /// # Errors
    ///
    /// Where the author's key is used twice, or could be taken for a number.
    pub(super) fn question(&self, key: Option<&str>) -> Result<String> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(key) = key else {
            names.questions += 1;
            return Ok(self.name(names.questions));
        };
        if !is_key(key) {
            return Err(bad_key(key, "must be a name of letters, digits, - and _"));
        }
        if names.count(key) > 0 {
            return Err(bad_key(key, "is used twice in this conversation"));
        }
        Ok(self.name(key))
    }

    /// The name of something that has a name of its own, and may be repeated.
    pub(crate) fn repeated(&self, name: &str) -> String {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let count = names.count(&format!("{name}#"));
        self.name(format_args!("{name}#{count}"))
    }

    fn name(&self, last: impl fmt::Display) -> String {
        format!("{}{last}", self.prefix)
    }
}

impl Names {
    /// How often this was counted before.
    fn count(&mut self, name: &str) -> u32 {
        let uses = self.uses.entry(name.into()).or_default();
        let before = *uses;
        *uses += 1;
        before
    }
}

/// Keys begin with a letter, so that they are not taken for numbers.
fn is_key(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn bad_key(key: &str, why: &str) -> Error {
    Error::of(ErrorKind::InvalidQuestion, format!("the key {key:?} {why}"))
}
