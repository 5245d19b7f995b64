//! Reading configurations, with all that they may refer to.

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

/// The largest file of a project, in bytes.
const MAX_PROJECT_FILE: u64 = 4 * 1024 * 1024;

/// Reads configurations.
///
/// It holds what a configuration may refer to: variables, folders, and answers
/// of the user.
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
    /// Resolves variables in `environment`, and nothing else yet.
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

    /// Resolves variables in the environment of this process; the workspace is
    /// its current folder, and home is its user's.
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

    /// Says where the user's files are: `${userHome}` and `~/`.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.paths.home = Some(home.into());
        self
    }

    /// Says what is being worked on: `${workspaceFolder}`, and what relative
    /// paths in a configuration are relative to.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Into<PathBuf>) -> Self {
        self.paths.workspace = Some(workspace.into());
        self
    }

    /// Answers `${input:id}`. Each input of a file is asked for once at most.
    ///
    /// A program that cannot ask at once reads without this first, asks for
    /// what is a [`ProblemKind::MissingInput`], and reads again.
    #[must_use]
    pub fn inputs(
        mut self,
        answer: impl Fn(&InputVariable) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.ask = Some(Arc::new(answer));
        self
    }

    /// Reads the text of a file. Never fails: what is wrong is among the
    /// problems, and does not stop what is right.
    #[must_use]
    pub fn parse(&self, text: &str) -> ServersFile {
        ServersFile::parse(text, self)
    }

    /// Reads the text of Codex's file, which is TOML. Never fails, like
    /// [`parse`](Self::parse).
    ///
    /// Nothing is replaced in it, as in Codex: variables are named by
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

    /// Reads a file: TOML if its name ends in `.toml`, which takes the feature
    /// `config-toml`, else JSON.
    ///
    /// # Errors
    ///
    /// Where the file is missing or cannot be read. What is wrong inside is
    /// among the problems.
    pub fn load(&self, path: impl AsRef<Path>) -> io::Result<ServersFile> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|error| with_path(path, &error))?;
        Ok(self.parse_bytes(&bytes, is_toml(path)))
    }

    /// Reads a file that need not be there: without it there are no servers
    /// and no problems.
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

    /// Reads all files that [`well_known`](super::well_known()) has named and
    /// that are there, in their order.
    ///
    /// It is [`beside`](Self::beside) them all, so that variables reach the
    /// servers that they are meant for.
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

    /// Says which other files the user has. A variable `MCP_<SERVER>_<NAME>`
    /// is for the server with the longest name that fits, and that may be in
    /// another file than the one that is read. What projects call their servers
    /// does not count.
    #[must_use]
    pub fn with_other_sources<'a>(
        mut self,
        sources: impl IntoIterator<Item = &'a ConfigSource>,
    ) -> Self {
        // Where there are no such variables, nobody can get the wrong one.
        if !self.environment.has_prefix(overrides::PREFIX) {
            return self;
        }
        let is_user = |source: &&ConfigSource| source.scope == ConfigScope::User;
        for source in sources.into_iter().filter(is_user) {
            // What cannot be read is reported when it is read itself.
            let text = fs::read_to_string(&source.path).unwrap_or_default();
            let names = self.names(&text, is_toml(&source.path));
            self.other_prefixes.add(names.iter().map(String::as_str));
        }
        self
    }

    /// Reads a file that [`well_known`](super::well_known()) has named, and that
    /// need not be there.
    ///
    /// A project's file is not read if somebody else owns it, or can write it
    /// or a folder above it: then that is its only
    /// [problem](ProblemKind::NotOwn). Folders that all may write are fine if,
    /// like that for temporary files, they let nobody replace what others put
    /// there. This is looked at on Unix only.
    ///
    /// What a project brings means the same from wherever in the project it is
    /// used: `${workspaceFolder}` and relative paths are seen from the
    /// project's folder, and commands run there unless they say otherwise. Its
    /// servers get no variables `MCP_…` of the environment.
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

    /// Reads the one server that variables describe, if they do. Its name is
    /// `env`.
    ///
    /// | Variable | Meaning |
    /// |---|---|
    /// | `MCP_TRANSPORT` | `stdio`, `http` or `sse`; need not be said |
    /// | `MCP_CMD` | the program to start, taken whole |
    /// | `MCP_ARGS` | its arguments: a JSON list, or words as in a shell |
    /// | `MCP_ENV` | its variables: a JSON object, or words `NAME=value` |
    /// | `MCP_BASE_URL` | the address, in place of a program |
    /// | `MCP_CLIENT_ID`, `MCP_CLIENT_SECRET`, `MCP_TOKEN_URL`, `MCP_SCOPE` | how to get a token for it |
    /// | `MCP_TIMEOUT`, `MCP_INIT_TIMEOUT` | how long a request, or the opening, may take |
    /// | `MCP_BACKOFF_MIN`, `MCP_BACKOFF_MAX` | the waits between attempts |
    /// | `MCP_MAX_FRAME` | the largest frame, in bytes |
    /// | `MCP_ROOTS` | folders: a JSON list, or parted by commas |
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

    /// The folder for which a file may have servers of its own. A project's
    /// file is for its folder anyway.
    pub(super) fn local_dir(&self) -> Option<&Path> {
        let workspace = self.paths.workspace.as_deref();
        workspace.filter(|_| self.scope == ConfigScope::User)
    }

    /// Whom variables of the environment are meant for, in a file with these
    /// servers. What a project calls its own decides nothing: it could choose
    /// the name of a server whose secrets it wants, and what the person was
    /// shown is not what would be run.
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

    /// The names of the servers in a text, also of those that cannot be used.
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
                let reason = "the file is not in UTF-8".to_owned();
                ServersFile::from_problem(None, ProblemKind::Syntax(reason))
            }
        }
    }
}

fn is_toml(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension == "toml")
}

/// The same failure, with the file that it is about.
fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// What is in a project's file. Anybody may have made it, so that devices and
/// pipes, which never end, are not read, and large files not to their end.
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let to_error = |error| with_path(path, &error);
    if !fs::metadata(path).map_err(to_error)?.is_file() {
        return Err(to_error(io::Error::other("it is not a file")));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(to_error)?;
    file.take(MAX_PROJECT_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(to_error)?;
    if bytes.len() as u64 > MAX_PROJECT_FILE {
        let reason = format!("it is larger than {MAX_PROJECT_FILE} bytes");
        return Err(to_error(io::Error::other(reason)));
    }
    Ok(bytes)
}

/// Whether the file is not there. A folder on the way that is a file means so,
/// too: nobody can have put one below.
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
