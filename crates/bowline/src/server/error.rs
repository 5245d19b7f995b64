//! Errors of handlers.

use std::{borrow::Cow, error::Error as StdError, fmt, time::Duration};

use crate::proto::{
    jsonrpc::ErrorObject,
    model::DecodeError,
    server::{Failure, errors},
};

/// The result of a handler.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a handler.
///
/// Errors of other types are converted with `?`. A tool that returns an error
/// has failed, and the model reads why: the message is sent to the client, so
/// it should not contain secrets.
///
/// ```
/// use bowline::server::{Error, ErrorKind, Result};
///
/// fn seats(text: &str) -> Result<u32> {
///     let seats: u32 = text.parse()?;
///     if seats > 9 {
///         return Err(Error::failed("there are only nine seats"));
///     }
///     Ok(seats)
/// }
/// assert_eq!(seats("12").unwrap_err().to_string(), "there are only nine seats");
/// assert_eq!(*seats("many").unwrap_err().kind(), ErrorKind::Failed);
/// ```
pub struct Error {
    kind: ErrorKind,
    message: Cow<'static, str>,
    source: Option<Box<dyn StdError + Send + Sync>>,
    object: Option<Box<ErrorObject>>,
}

/// The kind of an [`Error`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The handler's own error.
    Failed,
    /// The client did not declare a capability that a question needs.
    MissingCapability {
        /// The missing capability, as a path such as `elicitation.url`.
        capability: &'static str,
    },
    /// The protocol revision of the call has no such question.
    NotInThisRevision,
    /// The user declined.
    Declined,
    /// The user dismissed the question without an answer.
    Cancelled,
    /// The client did not answer in time, or the call exceeded
    /// [`CallLimits::timeout`](crate::server::CallLimits::timeout).
    Timeout {
        /// The time limit.
        after: Duration,
    },
    /// The client disconnected or cancelled the request.
    Disconnected,
    /// The client answered with an error, which [`Error::error_object`] returns.
    ClientError,
    /// The answer does not match the question.
    InvalidAnswer,
    /// The question is not valid.
    InvalidQuestion,
    /// The conversation exceeds its limit of questions.
    TooManyQuestions {
        /// The limit.
        limit: u32,
    },
    /// Sampling exceeds the limit of input and output tokens.
    TokenBudgetExceeded {
        /// The limit, in estimated tokens.
        limit: u64,
    },
    /// Branches are nested too deeply.
    DepthExceeded {
        /// The limit.
        limit: u32,
    },
    /// A branch timed out.
    BranchTimeout {
        /// The time limit.
        after: Duration,
    },
    /// A branch asked the user without being allowed to.
    ElicitInBranch {
        /// The depth of the branch.
        depth: u32,
    },
    /// The model gave no valid answer in all attempts.
    SampleValidation {
        /// The number of attempts.
        attempts: u32,
    },
    /// A step started but its outcome is unknown, for example because its node
    /// died. It is not run again. The handler can find out
    /// itself, or in [`Step::recover`](crate::server::Step::recover).
    OutcomeUnknown,
    /// An error response to send to the client; see [`Error::error_object`].
    Protocol,
}

impl Error {
    /// Creates the handler's own error, with a message for the model.
    pub fn failed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::with_kind(ErrorKind::Failed, message)
    }

    /// Creates an error response of the protocol, instead of a result that says
    /// that the tool failed. Models do not see it, so it is for mistakes of the
    /// client program.
    #[must_use]
    pub fn protocol(object: ErrorObject) -> Self {
        let message = object.message.clone();
        Self {
            object: Some(Box::new(object)),
            ..Self::with_kind(ErrorKind::Protocol, message)
        }
    }

    pub(crate) fn with_kind(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
            object: None,
        }
    }

    pub(crate) fn missing_capability(capability: &'static str) -> Self {
        let message = format!("the client did not declare {capability}");
        Self::with_kind(ErrorKind::MissingCapability { capability }, message)
    }

    pub(crate) fn invalid_answer(reason: &DecodeError) -> Self {
        Self::with_kind(ErrorKind::InvalidAnswer, reason.to_string())
    }

    pub(crate) fn refused(object: ErrorObject) -> Self {
        let message = format!("the client refused: {}", object.message);
        Self {
            object: Some(Box::new(object)),
            ..Self::with_kind(ErrorKind::ClientError, message)
        }
    }

    /// Converts the failure of a question to the client.
    pub(crate) fn from_failure(failure: &Failure) -> Self {
        let kind = match failure {
            Failure::Timeout { after } => ErrorKind::Timeout { after: *after },
            Failure::Cancelled | Failure::Closed => ErrorKind::Disconnected,
            Failure::CapabilityMissing { capability } => {
                ErrorKind::MissingCapability { capability }
            }
            Failure::NotSupportedInRevision { .. } | Failure::NotSupportedInEra => {
                ErrorKind::NotInThisRevision
            }
            Failure::InvalidResponse { .. } => ErrorKind::InvalidAnswer,
            _ => ErrorKind::InvalidQuestion,
        };
        Self::with_kind(kind, failure.to_string())
    }

    pub(crate) fn internal(reason: impl fmt::Display) -> Self {
        Self::protocol(errors::internal_error(&reason.to_string()))
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Returns the JSON-RPC error that the client sent, for [`ErrorKind::ClientError`], or
    /// that is sent to it, for [`ErrorKind::Protocol`].
    #[must_use]
    pub fn error_object(&self) -> Option<&ErrorObject> {
        self.object.as_deref()
    }

    /// Returns whether the user declined or cancelled.
    #[must_use]
    pub fn is_user_refusal(&self) -> bool {
        matches!(self.kind, ErrorKind::Declined | ErrorKind::Cancelled)
    }

    /// Returns whether the client lacks a capability.
    pub(crate) fn is_missing_capability(&self) -> bool {
        matches!(self.kind, ErrorKind::MissingCapability { .. })
    }

    /// Returns the text for the model: the name of the kind and the message.
    pub(crate) fn model_message(&self) -> String {
        match self.kind.name() {
            "" => format!("Error: {self}"),
            name => format!("Error: {name}: {self}"),
        }
    }
}

impl ErrorKind {
    /// Returns the name shown to the model; empty for the handler's own errors.
    fn name(&self) -> &'static str {
        match self {
            Self::Failed | Self::Protocol => "",
            Self::MissingCapability { .. } => "Capability",
            Self::NotInThisRevision => "NotInThisRevision",
            Self::Declined => "ElicitationDeclined",
            Self::Cancelled => "ElicitationCancelled",
            Self::Timeout { .. } => "Timeout",
            Self::Disconnected => "Disconnect",
            Self::ClientError => "Refused",
            Self::InvalidAnswer => "InvalidAnswer",
            Self::InvalidQuestion => "InvalidQuestion",
            Self::TooManyQuestions { .. } => "TooManyQuestions",
            Self::TokenBudgetExceeded { .. } => "TokenBudgetExceeded",
            Self::DepthExceeded { .. } => "DepthExceeded",
            Self::BranchTimeout { .. } => "BranchTimeout",
            Self::ElicitInBranch { .. } => "ElicitInBranch",
            Self::SampleValidation { .. } => "SampleValidation",
            Self::OutcomeUnknown => "OutcomeUnknown",
        }
    }
}

/// Converts any other error into the handler's own error.
impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self {
            message: Cow::Owned(error.to_string()),
            source: Some(Box::new(error)),
            kind: ErrorKind::Failed,
            object: None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let mut cause = self.source.as_ref().and_then(|source| source.source());
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind)
    }
}
