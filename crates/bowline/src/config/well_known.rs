//! Where programs keep their configurations.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{Problem, ProblemKind, ownership};

/// A place where a configuration may be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigSource {
    /// The program that keeps it there.
    pub app: App,
    /// Who wrote it, as far as the place tells.
    pub scope: ConfigScope,
    /// The file.
    pub path: PathBuf,
}

/// A program that keeps servers in a file that can be read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum App {
    /// Bowline itself.
    Bowline,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Windsurf.
    Windsurf,
    /// Codex, whose files are TOML. Its places are looked at with the feature
    /// `config-toml`.
    Codex,
}

/// Whom a configuration belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfigScope {
    /// A project. Whoever wrote the project wrote the commands in it, so that
    /// the user should be asked before they are run: see
    /// [`ServerEntry::written`](super::ServerEntry::written).
    Project,
    /// The user.
    User,
}

/// A family of operating systems, which decides where a user's files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Os {
    /// Linux, and whatever lays out homes like it.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl ConfigSource {
    /// Whether there is something at this place. What cannot be looked at is
    /// there, as far as one can tell.
    #[must_use]
    pub fn exists(&self) -> bool {
        let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
        let metadata = fs::metadata(&self.path);
        metadata.map_or_else(|error| !absent.contains(&error.kind()), |_| true)
    }

    /// Says whether a project's file is the user's own: whether nobody else
    /// owns it, or can write it or a folder above it. If it is not there, that
    /// is asked of the folder. [`Loader::load_source`](super::Loader::load_source)
    /// reads no other; a program that writes there, or reads it in another way,
    /// asks before. This is looked at on Unix only.
    ///
    /// # Errors
    ///
    /// [`ProblemKind::NotOwned`].
    pub fn check_ownership(&self) -> Result<(), Problem> {
        if self.scope == ConfigScope::User {
            return Ok(());
        }
        ownership::check_ownership(&self.path).map_err(|reason| Problem {
            server: None,
            path: String::new(),
            position: None,
            kind: ProblemKind::NotOwned(reason),
        })
    }

    /// The folder of the project that the file belongs to, for one that
    /// belongs to a project.
    #[must_use]
    pub fn project_dir(&self) -> Option<&Path> {
        let dir = self
            .path
            .parent()
            .filter(|_| self.scope == ConfigScope::Project)?;
        match self.app {
            App::Cursor | App::VsCode | App::Codex => dir.parent(),
            _ => Some(dir),
        }
    }
}

impl Os {
    /// The one that this program was built for.
    #[must_use]
    pub const fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

impl App {
    /// Its name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bowline => "Bowline",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Windsurf => "Windsurf",
            Self::Codex => "Codex",
        }
    }
}

/// The places where configurations may be, for a user whose files are in
/// `home` and who works in `cwd`. Of two servers of one name, the first found
/// should count: the user's own come before those of projects, so that no
/// project can take over a name that the user has given. Among the files of
/// projects the nearest come first.
///
/// Nothing is opened; most of these files will not be there.
///
/// ```
/// use bowline::config::{App, Os, well_known};
///
/// let sources = well_known("/home/user".as_ref(), "/srv/notes".as_ref(), Os::Linux);
/// let cursor: Vec<_> = sources.iter().filter(|source| source.app == App::Cursor).collect();
/// assert_eq!(cursor[0].path.to_str(), Some("/home/user/.cursor/mcp.json"));
/// assert_eq!(cursor[1].path.to_str(), Some("/srv/notes/.cursor/mcp.json"));
/// ```
#[must_use]
pub fn well_known(home: &Path, cwd: &Path, os: Os) -> Vec<ConfigSource> {
    let project = |app, path| ConfigSource {
        app,
        scope: ConfigScope::Project,
        path,
    };
    let user = |app, path| ConfigSource {
        app,
        scope: ConfigScope::User,
        path,
    };
    let in_ancestors = |app, name: &'static str| {
        let folders = cwd.ancestors();
        folders.map(move |dir| project(app, dir.join(name)))
    };
    let settings = settings_dir(home, os);
    let code = settings.join("Code").join("User");
    let bowline_dir = match os {
        Os::Windows => settings.join("bowline"),
        // Command-line programs keep to this on a Mac, too.
        Os::Linux | Os::MacOs => home.join(".config").join("bowline"),
    };
    let mut sources = vec![
        user(App::Bowline, bowline_dir.join("bowline.json")),
        user(App::ClaudeCode, home.join(".claude.json")),
        user(App::Cursor, home.join(".cursor").join("mcp.json")),
        user(App::VsCode, code.join("mcp.json")),
        user(App::VsCode, code.join("settings.json")),
        user(
            App::ClaudeDesktop,
            settings.join("Claude").join("claude_desktop_config.json"),
        ),
        user(
            App::Windsurf,
            home.join(".codeium/windsurf").join("mcp_config.json"),
        ),
        #[cfg(feature = "config-toml")]
        user(App::Codex, home.join(".codex").join("config.toml")),
    ];
    let mut projects: Vec<ConfigSource> = in_ancestors(App::Bowline, "bowline.json").collect();
    projects.extend(in_ancestors(App::ClaudeCode, ".mcp.json"));
    projects.extend([
        project(App::Cursor, cwd.join(".cursor").join("mcp.json")),
        project(App::VsCode, cwd.join(".vscode").join("mcp.json")),
        #[cfg(feature = "config-toml")]
        project(App::Codex, cwd.join(".codex").join("config.toml")),
    ]);
    // Who works in their home folder has one file that is both: theirs.
    projects.retain(|source| {
        sources
            .iter()
            .all(|bowline_dir| bowline_dir.path != source.path)
    });
    sources.append(&mut projects);
    sources
}

/// Where programs with windows keep their settings.
fn settings_dir(home: &Path, os: Os) -> PathBuf {
    match os {
        Os::Linux => home.join(".config"),
        Os::MacOs => home.join("Library").join("Application Support"),
        Os::Windows => home.join("AppData").join("Roaming"),
    }
}
