//! The locations of configuration files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{Problem, ProblemKind, ownership};

/// The location of a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigSource {
    /// The program that the file belongs to.
    pub app: App,
    /// Who wrote the file, as far as its location tells.
    pub scope: ConfigScope,
    /// The path of the file.
    pub path: PathBuf,
}

/// A program whose configuration files can be read.
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
    /// Codex, whose files are TOML. Requires the feature `config-toml`.
    Codex,
}

/// Who a configuration belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfigScope {
    /// A project. Its author wrote the commands in it, so ask the user before running
    /// them: see [`ServerEntry::raw`](super::ServerEntry::raw).
    Project,
    /// The user.
    User,
}

/// A family of operating systems, which determines the locations of a user's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Os {
    /// Linux, and other systems with the same layout of home folders.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl ConfigSource {
    /// Returns whether the file exists. One that cannot be accessed counts as existing.
    #[must_use]
    pub fn exists(&self) -> bool {
        let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
        let metadata = fs::metadata(&self.path);
        metadata.map_or_else(|error| !absent.contains(&error.kind()), |_| true)
    }

    /// Checks that no other user owns a project's file, or can write it or a folder
    /// above it. If the file does not exist, checks its folder instead.
    /// [`Loader::load_source`](super::Loader::load_source) does this itself; call it
    /// before writing the file or reading it in another way. Checks on Unix only.
    ///
    /// # Errors
    ///
    /// Returns [`ProblemKind::NotOwned`] if the check fails.
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

    /// Returns the project's folder, if the file belongs to a project.
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
    /// Returns the system that this program was built for.
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
    /// Returns the display name.
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

/// Returns the locations of configuration files for a user whose home is `home` and who
/// works in `cwd`. If two files define a server of the same name, the first should win:
/// the user's files come before those of projects, so a project cannot take over a name
/// that the user has assigned. Among project files, the nearest come first.
///
/// No file is opened; most of these files will not exist.
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
        // Command-line programs use this folder on macOS, too.
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
    // In the home folder, the project's file and the user's are the same: the user's.
    projects.retain(|source| {
        sources
            .iter()
            .all(|bowline_dir| bowline_dir.path != source.path)
    });
    sources.append(&mut projects);
    sources
}

/// Returns the folder where GUI programs keep their settings.
fn settings_dir(home: &Path, os: Os) -> PathBuf {
    match os {
        Os::Linux => home.join(".config"),
        Os::MacOs => home.join("Library").join("Application Support"),
        Os::Windows => home.join("AppData").join("Roaming"),
    }
}
