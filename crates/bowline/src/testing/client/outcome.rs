//! The outcome of a call in a test, with assertions.

use std::fmt;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{TestError, Transcript};
use crate::proto::model::CallToolResult;

/// The outcome of a tool call. Each assertion panics with the transcript of the
/// call.
#[must_use = "an unused outcome may be a failure"]
#[derive(Debug)]
pub struct CallOutcome {
    result: Result<CallToolResult, TestError>,
    transcript: Transcript,
}

/// Access.
impl CallOutcome {
    pub(super) fn new(result: Result<CallToolResult, TestError>, transcript: Transcript) -> Self {
        Self { result, transcript }
    }

    /// Returns the result, if there is one; it may be a tool error.
    #[must_use]
    pub fn result(&self) -> Option<&CallToolResult> {
        self.result.as_ref().ok()
    }

    /// Returns why there is no result.
    #[must_use]
    pub fn error(&self) -> Option<&TestError> {
        self.result.as_ref().err()
    }

    /// Converts the outcome into a result.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no result.
    pub fn into_result(self) -> Result<CallToolResult, TestError> {
        self.result
    }

    /// Returns the transcript of this call.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }
}

/// Assertions.
impl CallOutcome {
    /// Returns the text of a successful tool call.
    ///
    /// # Panics
    ///
    /// Panics if the call was not successful.
    #[must_use]
    #[track_caller]
    pub fn text(&self) -> String {
        self.success("a result").all_text()
    }

    /// Returns the structured result of a successful tool call.
    ///
    /// # Panics
    ///
    /// Panics if the call was not successful, or the result is not of this
    /// type.
    #[must_use]
    #[track_caller]
    pub fn structured<T: DeserializeOwned>(&self) -> T {
        let result = self.success("a structured result");
        let Some(value) = &result.structured_content else {
            self.fail("a structured result");
        };
        match value.decode() {
            Ok(value) => value,
            Err(error) => self.fail(format_args!("a structured result of this type ({error})")),
        }
    }

    /// Asserts that the tool succeeded with exactly this text.
    ///
    /// # Panics
    ///
    /// Panics if it did not.
    #[track_caller]
    pub fn assert_text(&self, text: &str) -> &Self {
        let expected = format!("the text {text:?}");
        if self.success(&expected).all_text() != text {
            self.fail(expected);
        }
        self
    }

    /// Asserts that the tool succeeded with a text that contains this
    /// substring.
    ///
    /// # Panics
    ///
    /// Panics if it did not.
    #[track_caller]
    pub fn assert_contains(&self, substring: &str) -> &Self {
        let expected = format!("a text that contains {substring:?}");
        if !self.success(&expected).all_text().contains(substring) {
            self.fail(expected);
        }
        self
    }

    /// Asserts that the tool succeeded with exactly this structured result.
    ///
    /// # Panics
    ///
    /// Panics if it did not.
    #[track_caller]
    pub fn assert_structured(&self, value: impl Serialize) -> &Self {
        let Ok(expected) = serde_json::to_value(value) else {
            panic!("the expected value cannot be serialized as JSON");
        };
        if self.structured::<Value>() != expected {
            self.fail(format_args!("the structured result {expected}"));
        }
        self
    }

    /// Asserts that the tool failed with an error for the model that contains
    /// this substring.
    ///
    /// # Panics
    ///
    /// Panics if it did not.
    #[track_caller]
    pub fn assert_tool_error(&self, substring: &str) -> &Self {
        match &self.result {
            Ok(result) if result.is_error() && result.all_text().contains(substring) => self,
            _ => self.fail(format_args!("a tool error that contains {substring:?}")),
        }
    }

    /// Asserts that the server refused the call with this code.
    ///
    /// # Panics
    ///
    /// Panics if it did not.
    #[track_caller]
    pub fn assert_error_code(&self, code: i64) -> &Self {
        let error = self.error().and_then(TestError::as_client);
        match error.and_then(crate::client::Error::server_error) {
            Some(error) if error.code == code => self,
            _ => self.fail(format_args!("an error with code {code}")),
        }
    }

    #[track_caller]
    fn success(&self, expected: &str) -> &CallToolResult {
        match &self.result {
            Ok(result) if !result.is_error() => result,
            _ => self.fail(expected),
        }
    }

    #[track_caller]
    fn fail(&self, expected: impl fmt::Display) -> ! {
        panic!("expected {expected}\n{self}\n{}", self.transcript)
    }
}

/// The outcome in one line.
impl fmt::Display for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.result {
            Ok(result) if result.is_error() => {
                write!(f, "the tool failed: {}", result.all_text())
            }
            Ok(result) => match &result.structured_content {
                Some(value) => write!(f, "the tool returned {}", value.get()),
                None => write!(f, "the tool returned {:?}", result.all_text()),
            },
            Err(error) => write!(f, "{error:#}"),
        }
    }
}
