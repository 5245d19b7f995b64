//! Servers that run as child processes, over their standard streams.

mod environment;
#[cfg(unix)]
mod guard;
mod link;
mod reaper;
mod stderr;
mod wake_gate;

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt, io,
    path::PathBuf,
    process::Stdio,
    time::Duration,
};

use tokio::process::Command;

use self::{environment::InheritedEnv, link::ChildLink, reaper::Reaper, stderr::Stderr};
use super::{
    BoxFuture, ConnectionError, ConnectionErrorKind, DialOptions, Link, StreamLink, Transport,
};

pub use stderr::StderrPolicy;

/// Number of outgoing bytes that are queued before the link is busy.
const QUEUE_BYTES: usize = 4 * 1024 * 1024;

/// A server that is started as a child process, once per link.
///
/// The child leads its own process group. When the link closes, its standard
/// input is closed first; if it is still running after the shutdown timeout,
/// the whole group is asked to terminate, and after another timeout it is
/// killed.
///
/// Of this process's environment, the child inherits the variables that
/// programs need to run and that hold no secrets: `HOME`, `LANG` and `LC_*`,
/// `LOGNAME`, `PATH`, `SHELL`, `SSL_CERT_DIR` and `SSL_CERT_FILE`, `TERM`,
/// `TMPDIR`, `TZ`, `USER`, `XDG_*`, and the proxy variables, unless they
/// contain a password; on Windows their equivalents, and `SYSTEMROOT` and the
/// like. [`env`](Self::env) sets others,
/// [`inherit_env_var`](Self::inherit_env_var) passes one on, and
/// [`inherit_env`](Self::inherit_env) passes on all.
///
/// ```
/// use bowline::transport::ChildProcess;
///
/// let server = ChildProcess::new("npx")
///     .args(["-y", "@modelcontextprotocol/server-everything"])
///     .env("NODE_ENV", "production");
/// assert_eq!(
///     format!("{server:?}"),
///     r#"ChildProcess { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"], env: ["NODE_ENV"] }"#,
///     "values of the environment are never shown",
/// );
/// ```
#[derive(Clone)]
pub struct ChildProcess {
    command: OsString,
    args: Vec<OsString>,
    env: BTreeMap<OsString, EnvChange>,
    inherited_env: InheritedEnv,
    cwd: Option<PathBuf>,
    stderr: StderrPolicy,
    shutdown_timeout: Duration,
}

/// A change to a single variable.
#[derive(Clone)]
enum EnvChange {
    Set(OsString),
    /// Inherits the value of this process.
    Inherit,
    Remove,
}

impl ChildProcess {
    /// Creates a server that is started by `command`, which is looked up on
    /// `PATH`.
    pub fn new(command: impl AsRef<OsStr>) -> Self {
        Self {
            command: command.as_ref().to_owned(),
            args: Vec::new(),
            env: BTreeMap::new(),
            inherited_env: InheritedEnv::Safe,
            cwd: None,
            stderr: StderrPolicy::Keep,
            shutdown_timeout: Duration::from_secs(2),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable, overriding this process's value.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let value = EnvChange::Set(value.as_ref().to_owned());
        self.env.insert(key.as_ref().to_owned(), value);
        self
    }

    /// Passes a variable on, if it is set in this process when the child is
    /// started.
    #[must_use]
    pub fn inherit_env_var(mut self, key: impl AsRef<OsStr>) -> Self {
        self.env.insert(key.as_ref().to_owned(), EnvChange::Inherit);
        self
    }

    /// Removes an inherited variable.
    #[must_use]
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.env.insert(key.as_ref().to_owned(), EnvChange::Remove);
        self
    }

    /// Clears the inherited environment; the child has only the variables from
    /// [`env`](Self::env) and [`inherit_env_var`](Self::inherit_env_var).
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.inherited_env = InheritedEnv::None;
        self
    }

    /// Passes on the whole environment of this process, including any secrets
    /// in it.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.inherited_env = InheritedEnv::All;
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn current_dir(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets how the child's standard error is handled. By default, its last
    /// lines are kept for error messages.
    #[must_use]
    pub fn stderr(mut self, policy: StderrPolicy) -> Self {
        self.stderr = policy;
        self
    }

    /// Sets how long the child has to exit at each step of the shutdown.
    /// Default: 2 seconds.
    #[must_use]
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.shutdown_timeout = timeout;
        self
    }

    fn spawn(&self, options: DialOptions) -> io::Result<ChildLink> {
        let mut command = Command::new(&self.command);
        command
            .args(&self.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(self.stderr.stdio());
        self.set_environment(&mut command);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other(
                "the child process has no standard streams",
            ));
        };
        let stderr = Stderr::spawn_reader(child.stderr.take(), self.stderr.clone(), self.name());
        let stream = StreamLink::new(stdout, stdin, options.max_frame_size, QUEUE_BYTES);
        let reaper = Reaper::new(child, self.shutdown_timeout);
        Ok(ChildLink::new(
            stream,
            stderr,
            reaper,
            options.close_tracker,
        ))
    }

    fn set_environment(&self, command: &mut Command) {
        match self.inherited_env {
            InheritedEnv::All => {}
            InheritedEnv::None => {
                command.env_clear();
            }
            InheritedEnv::Safe => {
                command.env_clear().envs(environment::safe_variables());
            }
        }
        for (key, variable) in &self.env {
            match variable {
                EnvChange::Set(value) => {
                    command.env(key, value);
                }
                EnvChange::Inherit => {
                    command.envs(std::env::var_os(key).map(|value| (key, value)));
                }
                EnvChange::Remove => {
                    command.env_remove(key);
                }
            }
        }
    }

    fn name(&self) -> String {
        self.command.to_string_lossy().into_owned()
    }

    fn spawn_error(&self, error: &io::Error) -> ConnectionError {
        let name = self.name();
        let missing_dir = self.cwd.as_ref().filter(|cwd| !cwd.is_dir());
        let reason = match (error.kind(), missing_dir) {
            // The system reports a missing command the same way.
            (_, Some(cwd)) => format!(
                "the working directory {:?} of the command {name:?} does not exist",
                cwd.display(),
            ),
            (io::ErrorKind::NotFound, None) => {
                format!("the command {name:?} was not found (is it installed and on PATH?)")
            }
            (io::ErrorKind::PermissionDenied, None) => {
                format!("permission denied to run the command {name:?}")
            }
            _ => format!("failed to start the command {name:?}: {error}"),
        };
        ConnectionErrorKind::Unreachable(reason).into()
    }
}

impl Transport for ChildProcess {
    fn dial(
        &mut self,
        options: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let spawned = self.spawn(options);
        let result = spawned.map_err(|error| self.spawn_error(&error));
        Box::pin(async move { result.map(|link| Box::new(link) as Box<dyn Link>) })
    }

    fn describe(&self) -> String {
        let mut line = self.name();
        for arg in &self.args {
            line.push(' ');
            line.push_str(&arg.to_string_lossy());
        }
        line
    }
}

impl fmt::Debug for ChildProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildProcess")
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .finish()
    }
}
