//! What goes wrong in a handler, and what becomes of it.

use std::{borrow::Cow, error::Error as StdError, fmt, time::Duration};

use crate::proto::{
    jsonrpc::ErrorObject,
    model::DecodeError,
    server::{Failure, errors},
};

/// What a handler returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a handler could not do what it was asked to.
///
/// Every error of another type becomes one of these with `?`. A tool that
/// returns one has failed, and the model reads why: the text of the error goes
/// to the client, so it should hold no secrets.
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

/// What kind of trouble it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The handler's own trouble.
    Failed,
    /// The client did not declare what a question needs.
    MissingCapability {
        /// What it lacks, as a path such as `elicitation.url`.
        capability: &'static str,
    },
    /// The protocol version of the call has no such question.
    NotInThisRevision,
    /// The user said no.
    Declined,
    /// The user went away without an answer.
    Cancelled,
    /// The client did not answer in time.
    Timeout {
        /// The time it had.
        after: Duration,
    },
    /// The client is gone, or called the request off.
    Disconnected,
    /// The client refused to answer; [`Error::object`] has its words.
    Refused,
    /// The answer is not one to this question.
    InvalidAnswer,
    /// The question cannot be asked like this.
    InvalidQuestion,
    /// The conversation has asked as much as it may.
    TooManyQuestions {
        /// How many it may ask.
        limit: u32,
    },
    /// The models have been given, and have written, as much as they may.
    TokenBudgetExceeded {
        /// How many tokens, estimated.
        limit: u64,
    },
    /// Branches within branches, deeper than allowed.
    DepthExceeded {
        /// How deep they may be.
        limit: u32,
    },
    /// A branch took longer than it may.
    BranchTimeout {
        /// The time it had.
        after: Duration,
    },
    /// Branches may not ask the user, unless they are allowed to.
    ElicitInBranch {
        /// How deep the branch is.
        depth: u32,
    },
    /// The model did not write what was asked for, in all attempts.
    SampleValidation {
        /// How often it was asked.
        attempts: u32,
    },
    /// A step was begun, and nobody knows whether it has happened: its node
    /// died, say. It does not happen again. A handler can look for itself, or
    /// say [how](crate::server::Step::recover).
    OutcomeUnknown,
    /// An error that the client is to see as it is; [`Error::object`].
    Protocol,
}

impl Error {
    /// The handler's own trouble, in words for the model.
    pub fn failed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::with_kind(ErrorKind::Failed, message)
    }

    /// An error response of the protocol, instead of a result that says that
    /// the tool failed. Models do not see it, so that this is for mistakes of
    /// the client's program.
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
            ..Self::with_kind(ErrorKind::Refused, message)
        }
    }

    /// The client was asked, and there is no answer.
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

    /// What kind of trouble it is.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The error of the protocol that it came with, or is to become.
    #[must_use]
    pub fn object(&self) -> Option<&ErrorObject> {
        self.object.as_deref()
    }

    /// Whether the user said no, or went away.
    #[must_use]
    pub fn is_user_refusal(&self) -> bool {
        matches!(self.kind, ErrorKind::Declined | ErrorKind::Cancelled)
    }

    /// Whether the client lacks a capability.
    pub(crate) fn is_missing_capability(&self) -> bool {
        matches!(self.kind, ErrorKind::MissingCapability { .. })
    }

    /// The text for the model: the name of the trouble, and the message.
    pub(crate) fn model_message(&self) -> String {
        match self.kind.name() {
            "" => format!("Error: {self}"),
            name => format!("Error: {name}: {self}"),
        }
    }
}

impl ErrorKind {
    /// The name by which the model is told; none for the handler's own.
    fn name(&self) -> &'static str {
        match self {
            Self::Failed | Self::Protocol => "",
            Self::MissingCapability { .. } => "Capability",
            Self::NotInThisRevision => "NotInThisRevision",
            Self::Declined => "ElicitationDeclined",
            Self::Cancelled => "ElicitationCancelled",
            Self::Timeout { .. } => "Timeout",
            Self::Disconnected => "Disconnect",
            Self::Refused => "Refused",
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

/// Every other error, as the handler's own trouble.
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
