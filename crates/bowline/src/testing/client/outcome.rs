//! How a call in a test ended, and what must hold of it.

use std::fmt;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{TestError, Transcript};
use crate::proto::model::CallToolResult;

/// How a call of a tool ended. Each assertion panics with all that was said
/// in the call.
#[must_use = "an outcome that nobody looks at may be a failure"]
#[derive(Debug)]
pub struct CallOutcome {
    result: Result<CallToolResult, TestError>,
    transcript: Transcript,
}

/// Looking at it.
impl CallOutcome {
    pub(super) fn new(result: Result<CallToolResult, TestError>, transcript: Transcript) -> Self {
        Self { result, transcript }
    }

    /// The result, if there is one; it may say that the tool failed.
    #[must_use]
    pub fn result(&self) -> Option<&CallToolResult> {
        self.result.as_ref().ok()
    }

    /// Why there is no result.
    #[must_use]
    pub fn error(&self) -> Option<&TestError> {
        self.result.as_ref().err()
    }

    /// The result, or why there is none.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn into_result(self) -> Result<CallToolResult, TestError> {
        self.result
    }

    /// What was said in this call.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }
}

/// What must hold.
impl CallOutcome {
    /// The text of a tool that succeeded.
    ///
    /// # Panics
    ///
    /// Where it did not.
    #[must_use]
    #[track_caller]
    pub fn text(&self) -> String {
        self.success("a result").all_text()
    }

    /// The structured result of a tool that succeeded.
    ///
    /// # Panics
    ///
    /// Where it did not, or returned nothing of this shape.
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

    /// The tool succeeded with exactly this text.
    ///
    /// # Panics
    ///
    /// Where it did not.
    #[track_caller]
    pub fn assert_text(&self, text: &str) -> &Self {
        let expected = format!("the text {text:?}");
        if self.success(&expected).all_text() != text {
            self.fail(expected);
        }
        self
    }

    /// The tool succeeded with a text that has this in it.
    ///
    /// # Panics
    ///
    /// Where it did not.
    #[track_caller]
    pub fn assert_contains(&self, substring: &str) -> &Self {
        let expected = format!("a text with {substring:?}");
        if !self.success(&expected).all_text().contains(substring) {
            self.fail(expected);
        }
        self
    }

    /// The tool succeeded with exactly this structured result.
    ///
    /// # Panics
    ///
    /// Where it did not.
    #[track_caller]
    pub fn assert_structured(&self, value: impl Serialize) -> &Self {
        let Ok(expected) = serde_json::to_value(value) else {
            panic!("what is expected cannot be written as JSON");
        };
        if self.structured::<Value>() != expected {
            self.fail(format_args!("the structured result {expected}"));
        }
        self
    }

    /// The tool failed, and told the model something that has this in it.
    ///
    /// # Panics
    ///
    /// Where it did not.
    #[track_caller]
    pub fn assert_tool_error(&self, substring: &str) -> &Self {
        match &self.result {
            Ok(result) if result.is_failure() && result.all_text().contains(substring) => self,
            _ => self.fail(format_args!("a failure with {substring:?}")),
        }
    }

    /// The server refused the call, with this code.
    ///
    /// # Panics
    ///
    /// Where it did not.
    #[track_caller]
    pub fn assert_error_code(&self, code: i64) -> &Self {
        let error = self.error().and_then(TestError::as_client);
        match error.and_then(crate::client::Error::server_error) {
            Some(error) if error.code == code => self,
            _ => self.fail(format_args!("a refusal with code {code}")),
        }
    }

    #[track_caller]
    fn success(&self, expected: &str) -> &CallToolResult {
        match &self.result {
            Ok(result) if !result.is_failure() => result,
            _ => self.fail(expected),
        }
    }

    #[track_caller]
    fn fail(&self, expected: impl fmt::Display) -> ! {
        panic!("expected {expected}\n{self}\n{}", self.transcript)
    }
}

/// How it ended, in one line.
impl fmt::Display for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.result {
            Ok(result) if result.is_failure() => {
                write!(f, "the tool failed: {}", result.all_text())
            }
            Ok(result) => match &result.structured_content {
                Some(value) => write!(f, "the tool returned {}", value.get()),
                None => write!(f, "the tool returned {:?}", result.all_text()),
            },
            Err(error) => write!(f, "{error}"),
        }
    }
}
