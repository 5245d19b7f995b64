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
pub struct Outcome {
    ended: Result<CallToolResult, TestError>,
    transcript: Transcript,
}

/// Looking at it.
impl Outcome {
    pub(super) fn new(ended: Result<CallToolResult, TestError>, transcript: Transcript) -> Self {
        Self { ended, transcript }
    }

    /// The result, if there is one; it may say that the tool failed.
    #[must_use]
    pub fn result(&self) -> Option<&CallToolResult> {
        self.ended.as_ref().ok()
    }

    /// Why there is no result.
    #[must_use]
    pub fn error(&self) -> Option<&TestError> {
        self.ended.as_ref().err()
    }

    /// The result, or why there is none.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn into_result(self) -> Result<CallToolResult, TestError> {
        self.ended
    }

    /// What was said in this call.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }
}

/// What must hold.
impl Outcome {
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
            self.wrong("a structured result");
        };
        match value.decode() {
            Ok(value) => value,
            Err(error) => self.wrong(format_args!("a structured result of this type ({error})")),
        }
    }

    /// The tool succeeded with exactly this text.
    ///
    /// # Panics
    ///
    /// Where it did not.
    #[track_caller]
    pub fn assert_text(&self, text: &str) -> &Self {
        let wanted = format!("the text {text:?}");
        if self.success(&wanted).all_text() != text {
            self.wrong(wanted);
        }
        self
    }

    /// The tool succeeded with a text that has this in it.
    ///
    /// # Panics
    ///
    /// Where it did not.
    #[track_caller]
    pub fn assert_contains(&self, part: &str) -> &Self {
        let wanted = format!("a text with {part:?}");
        if !self.success(&wanted).all_text().contains(part) {
            self.wrong(wanted);
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
        let Ok(wanted) = serde_json::to_value(value) else {
            panic!("what is expected cannot be written as JSON");
        };
        if self.structured::<Value>() != wanted {
            self.wrong(format_args!("the structured result {wanted}"));
        }
        self
    }

    /// The tool failed, and told the model something that has this in it.
    ///
    /// # Panics
    ///
    /// Where it did not.
    #[track_caller]
    pub fn assert_failed(&self, part: &str) -> &Self {
        match &self.ended {
            Ok(result) if result.failed() && result.all_text().contains(part) => self,
            _ => self.wrong(format_args!("a failure with {part:?}")),
        }
    }

    /// The server refused the call, with this code.
    ///
    /// # Panics
    ///
    /// Where it did not.
    #[track_caller]
    pub fn assert_refused(&self, code: i64) -> &Self {
        let error = self.error().and_then(TestError::as_client);
        match error.and_then(crate::client::Error::server_error) {
            Some(error) if error.code == code => self,
            _ => self.wrong(format_args!("a refusal with code {code}")),
        }
    }

    #[track_caller]
    fn success(&self, wanted: &str) -> &CallToolResult {
        match &self.ended {
            Ok(result) if !result.failed() => result,
            _ => self.wrong(wanted),
        }
    }

    #[track_caller]
    fn wrong(&self, wanted: impl fmt::Display) -> ! {
        panic!("expected {wanted}\n{self}\n{}", self.transcript)
    }
}

/// How it ended, in one line.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ended {
            Ok(result) if result.failed() => write!(f, "the tool failed: {}", result.all_text()),
            Ok(result) => match &result.structured_content {
                Some(value) => write!(f, "the tool returned {}", value.get()),
                None => write!(f, "the tool returned {:?}", result.all_text()),
            },
            Err(error) => write!(f, "{error}"),
        }
    }
}
