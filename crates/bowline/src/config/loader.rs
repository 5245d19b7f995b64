//! The loader for configuration files.

use std::{
    fmt, fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    ConfigScope, ConfigSource, Endpoint, Environment, InputVariable, ProblemKind, ServersFile,
    expand::Expander,
    input::{AskFn, Inputs},
    overrides::{self, VariablePrefixes},
    paths::Paths,
    twelve_factor,
};

/// The maximum size of a project's file, in bytes.
const MAX_PROJECT_FILE: u64 = 4 * 1024 * 1024;

/// Reads configurations.
///
/// It holds everything that a configuration may refer to: variables, folders, and the
/// user's answers.
///
/// ```
/// use bowline::config::{Environment, Loader};
///
/// let environment = [("PORT", "8080")].into_iter().collect::<Environment>();
/// let loader = Loader::new(environment)
///     .workspace("/srv/notes")
///     .inputs(|input| (input.id == "key").then(|| "s3cret".to_owned()));
/// let file = loader.parse(
///     r#"{
///         "inputs": [{"id": "key", "type": "promptString", "password": true}],
///         "servers": {
///             "notes": {
///                 "command": "${workspaceFolder}/serve",
///                 "args": ["--port", "${env:PORT}"],
///                 "env": {"KEY": "${input:key}"}
///             }
///         }
///     }"#,
/// );
/// assert_eq!(file.problems, []);
/// assert_eq!(file.servers[0].name, "notes");
/// ```
#[derive(Clone)]
pub struct Loader {
    environment: Environment,
    paths: Paths,
    ask: Option<AskFn>,
    scope: ConfigScope,
    /// The servers of the user's other files.
    other_prefixes: VariablePrefixes,
}

impl Loader {
    /// Creates a loader that resolves variables in `environment`, and nothing else yet.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            paths: Paths::default(),
            ask: None,
            scope: ConfigScope::User,
            other_prefixes: VariablePrefixes::default(),
        }
    }

    /// Creates a loader with the environment of this process. The workspace is its
    /// current folder, and the home is its user's.
    #[must_use]
    pub fn from_process() -> Self {
        Self {
            paths: Paths {
                home: std::env::home_dir(),
                workspace: std::env::current_dir().ok(),
            },
            ..Self::new(Environment::from_process())
        }
    }

    /// Sets the user's home folder, for `${userHome}` and `~/`.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.paths.home = Some(home.into());
        self
    }

    /// Sets the workspace: `${workspaceFolder}`, and the base of relative paths in a
    /// configuration.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Into<PathBuf>) -> Self {
        self.paths.workspace = Some(workspace.into());
        self
    }

    /// Sets the function that answers `${input:id}`. Each input of a file is asked for
    /// at most once.
    ///
    /// A program that cannot ask immediately loads without this first, asks for each
    /// [`ProblemKind::MissingInput`], and loads again.
    #[must_use]
    pub fn inputs(
        mut self,
        answer: impl Fn(&InputVariable) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.ask = Some(Arc::new(answer));
        self
    }

    /// Parses the text of a file. Never fails: problems are collected, and do not
    /// affect the valid entries.
    #[must_use]
    pub fn parse(&self, text: &str) -> ServersFile {
        ServersFile::parse(text, self)
    }

    /// Parses the text of Codex's file, which is TOML. Never fails, like
    /// [`parse`](Self::parse).
    ///
    /// As in Codex, references are not expanded: variables are named by
    /// `bearer_token_env_var` and `env_http_headers`.
    ///
    /// ```
    /// use bowline::config::{Environment, Loader};
    ///
    /// let text = "[mcp_servers.time]\ncommand = 'uvx'\nargs = ['mcp-server-time']";
    /// let file = Loader::new(Environment::new()).parse_toml(text);
    /// assert_eq!(file.servers[0].name, "time");
    /// ```
    #[cfg(feature = "config-toml")]
    #[must_use]
    pub fn parse_toml(&self, text: &str) -> ServersFile {
        super::codex::parse(text, self)
    }

    /// Loads a file: as TOML if its name ends in `.toml`, which requires the feature
    /// `config-toml`, else as JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing or cannot be read. Problems with its
    /// contents are in the result.
    pub fn load(&self, path: impl AsRef<Path>) -> io::Result<ServersFile> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|error| with_path(path, &error))?;
        Ok(self.parse_bytes(&bytes, is_toml(path)))
    }

    /// Loads a file that may not exist, which counts as a file without servers and
    /// problems.
    #[must_use]
    pub fn load_optional(&self, path: impl AsRef<Path>) -> ServersFile {
        match self.load(path) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => ServersFile::default(),
            Err(error) => {
                ServersFile::from_problem(None, ProblemKind::Unreadable(error.to_string()))
            }
        }
    }

    /// Loads all existing files among those that [`well_known`](super::well_known())
    /// returned, in order.
    ///
    /// Includes [`with_other_sources`](Self::with_other_sources) for all of them, so
    /// variables reach the servers that they are meant for.
    ///
    /// ```no_run
    /// use bowline::config::{Loader, Os, well_known};
    ///
    /// let sources = well_known("/home/user".as_ref(), "/srv/notes".as_ref(), Os::Linux);
    /// for (source, file) in Loader::from_process().load_all(&sources) {
    ///     println!("{}: {} servers", source.path.display(), file.servers.len());
    /// }
    /// ```
    #[must_use]
    pub fn load_all<'a>(
        &self,
        sources: impl IntoIterator<Item = &'a ConfigSource>,
    ) -> Vec<(ConfigSource, ServersFile)> {
        let existing = sources.into_iter().filter(|source| source.exists());
        let existing: Vec<&ConfigSource> = existing.collect();
        let loader = self.clone().with_other_sources(existing.iter().copied());
        let read = |source: &ConfigSource| (source.clone(), loader.load_source(source));
        existing.into_iter().map(read).collect()
    }

    /// Sets the user's other files. A variable `MCP_<SERVER>_<NAME>` belongs to the
    /// server with the longest matching name, which may be in another file than the one
    /// being loaded. The names in projects' files do not count.
    #[must_use]
    pub fn with_other_sources<'a>(
        mut self,
        sources: impl IntoIterator<Item = &'a ConfigSource>,
    ) -> Self {
        // Without such variables there is nothing to assign.
        if !self.environment.has_prefix(overrides::PREFIX) {
            return self;
        }
        let is_user = |source: &&ConfigSource| source.scope == ConfigScope::User;
        for source in sources.into_iter().filter(is_user) {
            // Unreadable files are reported when they are loaded themselves.
            let text = fs::read_to_string(&source.path).unwrap_or_default();
            let names = self.names(&text, is_toml(&source.path));
            self.other_prefixes.add(names.iter().map(String::as_str));
        }
        self
    }

    /// Loads a file that [`well_known`](super::well_known()) returned and that may not
    /// exist.
    ///
    /// A project's file is not read if another user owns it, or can write it or a
    /// folder above it: its only [problem](ProblemKind::NotOwned) is then that.
    /// World-writable folders are accepted if, like the one for temporary files, they
    /// prevent users from replacing the files of others. Checks on Unix only.
    ///
    /// A project's entries mean the same in every folder of the project:
    /// `${workspaceFolder}` and relative paths refer to the project's folder, and
    /// commands run there by default. Its servers get no `MCP_…` variables from the
    /// environment.
    #[must_use]
    pub fn load_source(&self, source: &ConfigSource) -> ServersFile {
        if source.scope == ConfigScope::User {
            return self.load_optional(&source.path);
        }
        if !source.exists() {
            return ServersFile::default();
        }
        if let Err(problem) = source.check_ownership() {
            return ServersFile::from_problem(None, problem.kind);
        }
        let bytes = match read_bounded(&source.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let reason = ProblemKind::Unreadable(error.to_string());
                return ServersFile::from_problem(None, reason);
            }
        };
        let mut loader = self.clone();
        loader.scope = ConfigScope::Project;
        let Some(dir) = source.project_dir() else {
            return loader.parse_bytes(&bytes, is_toml(&source.path));
        };
        let loader = loader.workspace(dir);
        let mut file = loader.parse_bytes(&bytes, is_toml(&source.path));
        for server in &mut file.servers {
            if let Endpoint::Stdio(server) = &mut server.endpoint {
                server.cwd.get_or_insert_with(|| dir.to_owned());
            }
        }
        file
    }

    /// Reads the server that environment variables describe, if they do. Its name is
    /// `env`.
    ///
    /// | Variable | Meaning |
    /// |---|---|
    /// | `MCP_TRANSPORT` | `stdio`, `http` or `sse`; optional |
    /// | `MCP_CMD` | the program to start, without arguments |
    /// | `MCP_ARGS` | its arguments: a JSON list, or words as in a shell |
    /// | `MCP_ENV` | its variables: a JSON object, or words `NAME=value` |
    /// | `MCP_BASE_URL` | the URL, instead of a program |
    /// | `MCP_CLIENT_ID`, `MCP_CLIENT_SECRET`, `MCP_TOKEN_URL`, `MCP_SCOPE` | the credentials to get a token with |
    /// | `MCP_TIMEOUT`, `MCP_INIT_TIMEOUT` | the timeouts of a request and of opening a session |
    /// | `MCP_BACKOFF_MIN`, `MCP_BACKOFF_MAX` | the delays between attempts to connect |
    /// | `MCP_MAX_FRAME` | the maximum frame size, in bytes |
    /// | `MCP_ROOTS` | folders: a JSON list, or separated by commas |
    ///
    /// Times are in milliseconds, or have a unit: `500ms`, `30s`, `2m`.
    ///
    /// ```
    /// use bowline::config::{Environment, Loader};
    ///
    /// let environment: Environment =
    ///     [("MCP_CMD", "uvx"), ("MCP_ARGS", "mcp-server-time --local-timezone 'UTC'")]
    ///         .into_iter()
    ///         .collect();
    /// let file = Loader::new(environment).read_env();
    /// assert_eq!(file.servers[0].name, "env");
    /// ```
    #[must_use]
    pub fn read_env(&self) -> ServersFile {
        twelve_factor::read(&self.environment, &self.paths)
    }

    /// Returns the folder whose local servers in a file are used. A project's file is
    /// for its folder anyway.
    pub(super) fn local_dir(&self) -> Option<&Path> {
        let workspace = self.paths.workspace.as_deref();
        workspace.filter(|_| self.scope == ConfigScope::User)
    }

    /// Returns which servers the environment's variables belong to, in a file with
    /// these servers. The names in a project's file do not count: the project could
    /// choose the name of a server whose secrets it wants, and what runs would differ
    /// from what the user was shown.
    pub(super) fn prefixes<'a>(
        &self,
        servers: impl IntoIterator<Item = &'a str>,
    ) -> Option<VariablePrefixes> {
        if self.scope == ConfigScope::Project {
            return None;
        }
        let mut prefixes = self.other_prefixes.clone();
        prefixes.add(servers);
        Some(prefixes)
    }

    pub(super) fn expander(&self, inputs: Vec<InputVariable>) -> Expander<'_> {
        Expander {
            environment: &self.environment,
            paths: &self.paths,
            inputs: Inputs::new(inputs, self.ask.as_ref()),
            literal: false,
        }
    }

    /// Returns the names of the servers in a file, including unusable ones.
    fn names(&self, text: &str, is_toml: bool) -> Vec<String> {
        match is_toml {
            #[cfg(feature = "config-toml")]
            true => super::codex::names(text),
            #[cfg(not(feature = "config-toml"))]
            true => Vec::new(),
            false => ServersFile::names(text, self),
        }
    }

    fn parse_bytes(&self, bytes: &[u8], is_toml: bool) -> ServersFile {
        match str::from_utf8(bytes) {
            #[cfg(feature = "config-toml")]
            Ok(text) if is_toml => self.parse_toml(text),
            #[cfg(not(feature = "config-toml"))]
            Ok(_) if is_toml => {
                let reason = "this program was built without the feature config-toml".to_owned();
                ServersFile::from_problem(None, ProblemKind::Toml(reason))
            }
            Ok(text) => self.parse(text),
            Err(_) => {
                let reason = "the file is not valid UTF-8".to_owned();
                ServersFile::from_problem(None, ProblemKind::Syntax(reason))
            }
        }
    }
}

fn is_toml(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension == "toml")
}

/// Adds the path of the file to an error.
fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Reads a project's file. Anyone may have created it, so devices and pipes, which
/// never end, are rejected, and the size is limited.
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let to_error = |error| with_path(path, &error);
    if !fs::metadata(path).map_err(to_error)?.is_file() {
        return Err(to_error(io::Error::other("it is not a regular file")));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(to_error)?;
    file.take(MAX_PROJECT_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(to_error)?;
    if bytes.len() as u64 > MAX_PROJECT_FILE {
        let reason = format!("it exceeds the limit of {MAX_PROJECT_FILE} bytes");
        return Err(to_error(io::Error::other(reason)));
    }
    Ok(bytes)
}

/// Returns whether the file does not exist. So it is if a parent folder is a file.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loader")
            .field("environment", &self.environment)
            .field("home", &self.paths.home)
            .field("workspace", &self.paths.workspace)
            .finish_non_exhaustive()
    }
}
