//! Problems in a configuration: where they are, and how to fix them.

use std::fmt;

use super::file::MAX_SERVERS;

/// A problem in a configuration: an error, or a warning about something that was
/// ignored.
///
/// The `Display` output says where it is, what it is, and how to fix it. It never
/// contains the value of a variable or a header.
///
/// ```
/// use bowline::config::{Environment, Loader, ProblemKind};
///
/// let text = r#"{"mcpServers": {"git": {"command": "${GIT_SERVER}"}}}"#;
/// let file = Loader::new(Environment::new()).parse(text);
/// let problem = &file.problems[0];
/// assert_eq!(problem.server.as_deref(), Some("git"));
/// assert_eq!(problem.kind, ProblemKind::UnsetVariable("GIT_SERVER".into()));
/// assert_eq!(
///     problem.to_string(),
///     "mcpServers.git.command (line 1): environment variable GIT_SERVER is not set; \
///      set it, or write ${GIT_SERVER:-value} to give a default",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The server with the problem.
    pub server: Option<String>,
    /// The path in the JSON, such as `mcpServers.github.env.TOKEN`, or the variable, if
    /// the configuration is read from variables. Empty if the problem concerns the
    /// whole file.
    pub path: String,
    /// The position in the file: exact for a syntax error, else that of the server's
    /// entry.
    pub position: Option<Position>,
    /// The kind of problem.
    pub kind: ProblemKind,
}

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, counted from 1.
    pub line: usize,
    /// The character on that line, counted from 1.
    pub column: usize,
}

/// The consequence of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The server, or the file, cannot be used.
    Error,
    /// Something was ignored.
    Warning,
}

/// The kinds of problems.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The file exists but cannot be read.
    Unreadable(String),
    /// The file was not read because it is a project's and another user owns it, or can
    /// write it or a folder above it.
    NotOwned(String),
    /// The file is not valid JSON, even with comments allowed.
    Syntax(String),
    /// The file is not valid TOML.
    Toml(String),
    /// The file has servers in an unexpected place.
    Misplaced,
    /// A value has the wrong type.
    WrongType {
        /// The expected type.
        expected: &'static str,
        /// The actual type.
        found: &'static str,
    },
    /// A required key is missing. Alternative keys are named together.
    MissingKey(&'static str),
    /// The entry has both a command and a URL.
    Ambiguous,
    /// A value has the right type but is not valid.
    InvalidValue(String),
    /// The key is unknown.
    UnknownKey,
    /// Another server in the same file has the same name. Neither is used.
    Duplicate,
    /// A key appears twice in the same object. Its value is not used.
    DuplicateKey,
    /// A server of the same name that is local to the workspace is used instead.
    Overridden,
    /// The file has more servers than are read: this many.
    TooManyServers(usize),
    /// The environment has variables for this server that could also belong to the one
    /// named here. Neither server gets them.
    SameVariables(String),
    /// A referenced variable is not set.
    UnsetVariable(String),
    /// An input was not answered.
    MissingInput(String),
    /// A reference that only another program can resolve.
    Unresolvable(String),
    /// Invalid reference syntax.
    InvalidReference(String),
    /// The environment file cannot be read.
    EnvFile(String),
    /// A line of the environment file is not an assignment.
    EnvFileLine(usize),
    /// Removing a variable (null) is not supported.
    CannotRemoveVariable,
}

impl Problem {
    /// Returns the consequence for the server, or the file.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self.kind {
            ProblemKind::Misplaced
            | ProblemKind::UnknownKey
            | ProblemKind::Overridden
            | ProblemKind::SameVariables(_)
            | ProblemKind::InvalidReference(_)
            | ProblemKind::EnvFileLine(_)
            | ProblemKind::CannotRemoveVariable => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Returns what is wrong.
    #[must_use]
    pub fn message(&self) -> String {
        match &self.kind {
            ProblemKind::Unreadable(reason) => format!("the file cannot be read: {reason}"),
            ProblemKind::NotOwned(reason) => format!("refusing to read the file: {reason}"),
            ProblemKind::Syntax(reason) => format!("invalid JSON: {reason}"),
            ProblemKind::Toml(reason) => format!("invalid TOML: {reason}"),
            ProblemKind::Misplaced => "unexpected place for servers, ignored".into(),
            ProblemKind::WrongType { expected, found } => {
                format!("expected {expected}, found {found}")
            }
            ProblemKind::MissingKey(key) => format!("{key} is missing"),
            ProblemKind::Ambiguous => "both a command and a URL are set".into(),
            ProblemKind::InvalidValue(reason) => reason.clone(),
            ProblemKind::UnknownKey => "unknown key, ignored".into(),
            ProblemKind::Duplicate => "duplicate server name, neither server is used".into(),
            ProblemKind::DuplicateKey => "duplicate key, neither value is used".into(),
            ProblemKind::Overridden => {
                "overridden by the server of this name for this folder".into()
            }
            ProblemKind::TooManyServers(count) => {
                format!("the file has {count} servers, only the first {MAX_SERVERS} are read")
            }
            ProblemKind::SameVariables(other) => {
                format!("{other:?} has the same MCP_… variables, so neither server gets them")
            }
            ProblemKind::UnsetVariable(name) => format!("environment variable {name} is not set"),
            ProblemKind::MissingInput(id) => format!("no value for input {id}"),
            ProblemKind::Unresolvable(reference) => {
                format!("${{{reference}}} cannot be resolved here")
            }
            ProblemKind::InvalidReference(reference) => {
                format!("${{{reference}}} is not a valid reference, left as it is")
            }
            ProblemKind::EnvFile(reason) => {
                format!("cannot read the environment file: {reason}")
            }
            ProblemKind::EnvFileLine(line) => {
                format!("line {line} of the environment file is invalid, ignored")
            }
            ProblemKind::CannotRemoveVariable => "null cannot remove a variable, ignored".into(),
        }
    }

    /// Returns how to fix it.
    #[must_use]
    pub fn advice(&self) -> String {
        let advice = match &self.kind {
            ProblemKind::Unreadable(_) => "check the file and its permissions",
            ProblemKind::NotOwned(_) => {
                "let no other user own or write the file and its folders (chown, chmod go-w)"
            }
            ProblemKind::Syntax(_) => "fix the file at this position; comments are allowed",
            ProblemKind::Toml(_) => "fix the file at this position",
            ProblemKind::Misplaced => "move them into an object named mcpServers",
            ProblemKind::WrongType { expected, .. } => return format!("write {expected}"),
            ProblemKind::MissingKey(_) => "add it",
            ProblemKind::Ambiguous => "remove one, or set type to choose",
            ProblemKind::InvalidValue(_) => "correct it",
            ProblemKind::UnknownKey => "remove it, or check its spelling",
            ProblemKind::Duplicate | ProblemKind::Overridden => {
                "remove one, or give it another name"
            }
            ProblemKind::DuplicateKey => "remove one",
            ProblemKind::TooManyServers(_) => "remove some, or put them into another file",
            ProblemKind::SameVariables(_) => "give one of them another name",
            ProblemKind::UnsetVariable(name) => {
                return format!("set it, or write ${{{name}:-value}} to give a default");
            }
            ProblemKind::MissingInput(_) => "provide one, or refer to a variable instead",
            ProblemKind::Unresolvable(_) => "write the value, or refer to a variable instead",
            ProblemKind::InvalidReference(_) => "write ${NAME} to refer to a variable",
            ProblemKind::EnvFile(_) => "create the file, or remove envFile",
            ProblemKind::EnvFileLine(_) => "write NAME=value",
            ProblemKind::CannotRemoveVariable => "set it to an empty string",
        };
        advice.into()
    }
}

impl Position {
    /// Returns the position of a byte in a string, or of the character that contains it.
    pub(super) fn from_offset(text: &str, offset: usize) -> Self {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_exact = matches!(self.kind, ProblemKind::Syntax(_));
        match (self.path.as_str(), self.position) {
            ("", None) => {}
            ("", Some(at)) => write!(f, "line {}, column {}: ", at.line, at.column)?,
            (path, None) => write!(f, "{path}: ")?,
            (path, Some(at)) if is_exact => {
                write!(f, "{path} (line {}, column {}): ", at.line, at.column)?;
            }
            (path, Some(at)) => write!(f, "{path} (line {}): ", at.line)?,
        }
        write!(f, "{}; {}", self.message(), self.advice())
    }
}
