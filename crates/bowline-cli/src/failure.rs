//! Failures: what went wrong, hints, and the exit code.

use std::{fmt, io, process::ExitCode};

use bowline::{
    Error, Reason,
    proto::http::{StatusClass, classify_status},
    registry::{NameError, RegistryError},
    transport::{ConnectionError, ConnectionErrorKind},
};
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Hint for credentials withheld because others could intercept them.
pub(crate) const PLAIN_HTTP_HINT: &str =
    "use --allow-plain-http to send them anyway, for this command only";

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    /// What happened, in one sentence without a full stop.
    pub(crate) message: String,
    /// What the user can do about it, one line each.
    pub(crate) hints: Vec<String>,
}

/// The kinds of failure a script can tell apart by exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The command line, or a file named on it, is invalid.
    Usage,
    /// The server requires authorization or refused it.
    Authorization,
    /// The server cannot be reached, or the connection was lost.
    Unreachable,
    /// The tool or the server reported an error.
    Failed,
    /// The timeout expired.
    Timeout,
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The process received SIGTERM.
    Terminated,
    /// The reader of our output closed it. Nothing is printed.
    BrokenPipe,
}

impl FailureKind {
    /// Returns the kind for a connection that failed or could not be opened.
    pub(crate) fn from_cause(cause: &ConnectionError) -> Self {
        match cause.kind() {
            // A 403 with a challenge is reported as unauthorized. A plain 403
            // refuses the request regardless of who makes it.
            ConnectionErrorKind::Unauthorized(_) => Self::Authorization,
            ConnectionErrorKind::Status { status, .. }
                if classify_status(*status) == StatusClass::Unauthenticated =>
            {
                Self::Authorization
            }
            ConnectionErrorKind::OpeningTimeout(_) => Self::Timeout,
            _ => Self::Unreachable,
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::Usage => 1,
            Self::Authorization => 3,
            Self::Unreachable => 4,
            Self::Failed => 5,
            Self::Timeout => 124,
            Self::Interrupted => 130,
            // What a shell reports for a program ended by SIGPIPE.
            Self::BrokenPipe => 141,
            // And for one ended by SIGTERM.
            Self::Terminated => 143,
        }
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// Returns a usage failure.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// Returns the failure of a tool or a server.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Failed, message)
    }

    /// Returns whether the command was ended from outside, so nothing more
    /// should be done.
    pub(crate) fn is_external(&self) -> bool {
        matches!(
            self.kind,
            FailureKind::Interrupted | FailureKind::Terminated | FailureKind::BrokenPipe
        )
    }

    /// Adds a line of advice.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Prefixes the message with the server, or whatever it is about.
    pub(crate) fn with_prefix(mut self, prefix: &str) -> Self {
        self.message = format!("{prefix}: {}", self.message);
        self
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        self.kind.code().into()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::new(failure_kind(&error), format!("{error:#}"));
        let is_oversized = |cause: &ConnectionError| {
            matches!(cause.kind(), ConnectionErrorKind::OversizedFrame { .. })
        };
        if error.reason() == Reason::OversizedFrame
            || error.connection_error().is_some_and(is_oversized)
        {
            return failure.hint(
                "raise the limit with --max-frame, for example --max-frame 64MiB, or with \
                 `max_frame` in the server's entry",
            );
        }
        let is_plain_http = |cause: &ConnectionError| match cause.kind() {
            ConnectionErrorKind::Unauthorized(why) => why.contains("over plain http"),
            _ => false,
        };
        if error.connection_error().is_some_and(is_plain_http) {
            return failure.hint(PLAIN_HTTP_HINT);
        }
        match failure.kind {
            FailureKind::Timeout => failure.hint("raise the limit with --timeout SECONDS"),
            FailureKind::Authorization => {
                failure.hint("send a token with --header 'Authorization: Bearer …'")
            }
            _ => failure,
        }
    }
}

fn failure_kind(error: &Error) -> FailureKind {
    match error.connection_error() {
        Some(cause) => FailureKind::from_cause(cause),
        None if error.is_timeout() => FailureKind::Timeout,
        None if error.is_connection_error() => FailureKind::Unreachable,
        // The server reads nothing.
        None if error.reason() == Reason::Backpressure => FailureKind::Unreachable,
        None => FailureKind::Failed,
    }
}

impl From<&ConnectionError> for Failure {
    fn from(cause: &ConnectionError) -> Self {
        Self::new(FailureKind::from_cause(cause), format!("{cause:#}"))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::new(FailureKind::BrokenPipe, "broken pipe"),
            _ => Self::usage(error.to_string()),
        }
    }
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        match error.error() {
            Some(inner) => Self::new(failure_kind(inner), format!("{error:#}")),
            None => Self::usage(error.to_string()),
        }
    }
}

/// Prints what is wrong with the command line, or the requested help.
pub(crate) fn report_usage(mut error: clap::Error) -> ExitCode {
    // clap suggests putting unknown arguments after `--`, but here a command
    // follows it.
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested)
    {
        tips.retain(|tip| !tip.to_string().contains("as a value"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    // Nothing can be done if standard error is closed.
    let _ = error.print();
    if error.use_stderr() {
        FailureKind::Usage.code().into()
    } else {
        ExitCode::SUCCESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every kind. The match makes the compiler catch a missing one.
    fn kinds() -> Vec<FailureKind> {
        use FailureKind as K;
        let next = |kind: &K| match kind {
            K::Usage => Some(K::Authorization),
            K::Authorization => Some(K::Unreachable),
            K::Unreachable => Some(K::Failed),
            K::Failed => Some(K::Timeout),
            K::Timeout => Some(K::Interrupted),
            K::Interrupted => Some(K::BrokenPipe),
            K::BrokenPipe => Some(K::Terminated),
            K::Terminated => None,
        };
        std::iter::successors(Some(K::Usage), next).collect()
    }

    #[test]
    fn the_guide_has_every_exit_code_and_no_other() {
        let guide = include_str!("../../../docs/guides/the-command.md");
        let rows = guide.lines().filter_map(|line| {
            let first = line.strip_prefix("| ")?.split(" |").next()?;
            first.parse::<u8>().ok()
        });
        let rows: Vec<u8> = rows.collect();
        let codes: Vec<u8> = kinds().into_iter().map(FailureKind::code).collect();
        assert_eq!(rows, [&[0], &codes[..]].concat());
    }
}
