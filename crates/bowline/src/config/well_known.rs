//! Where programs keep their configurations.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{Problem, ProblemKind, ownership};

/// A place where a configuration may be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// The program that keeps it there.
    pub app: App,
    /// Who wrote it, as far as the place tells.
    pub scope: Scope,
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
pub enum Scope {
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

impl Source {
    /// Whether there is something at this place. What cannot be looked at is
    /// there, as far as one can tell.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
        let looked = fs::metadata(&self.path);
        looked.map_or_else(|error| !absent.contains(&error.kind()), |_| true)
    }

    /// Says whether a project's file is the user's own: whether nobody else
    /// owns it, or can write it or a folder above it. If it is not there, that
    /// is asked of the folder. [`Loader::load_source`](super::Loader::load_source)
    /// reads no other; a program that writes there, or reads it in another way,
    /// asks before. This is looked at on Unix only.
    ///
    /// # Errors
    ///
    /// [`ProblemKind::NotOwn`].
    pub fn vet(&self) -> Result<(), Problem> {
        if self.scope == Scope::User {
            return Ok(());
        }
        ownership::vet(&self.path).map_err(|why| Problem {
            server: None,
            path: String::new(),
            position: None,
            kind: ProblemKind::NotOwn(why),
        })
    }

    /// The folder of the project that the file belongs to, for one that
    /// belongs to a project.
    #[must_use]
    pub fn project_folder(&self) -> Option<&Path> {
        let folder = self
            .path
            .parent()
            .filter(|_| self.scope == Scope::Project)?;
        match self.app {
            App::Cursor | App::VsCode | App::Codex => folder.parent(),
            _ => Some(folder),
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
pub fn well_known(home: &Path, cwd: &Path, os: Os) -> Vec<Source> {
    let project = |app, path| Source {
        app,
        scope: Scope::Project,
        path,
    };
    let user = |app, path| Source {
        app,
        scope: Scope::User,
        path,
    };
    let upward = |app, name: &'static str| {
        let folders = cwd.ancestors();
        folders.map(move |folder| project(app, folder.join(name)))
    };
    let settings = settings_folder(home, os);
    let code = settings.join("Code").join("User");
    let own = match os {
        Os::Windows => settings.join("bowline"),
        // Command-line programs keep to this on a Mac, too.
        Os::Linux | Os::MacOs => home.join(".config").join("bowline"),
    };
    let mut sources = vec![
        user(App::Bowline, own.join("bowline.json")),
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
    let mut projects: Vec<Source> = upward(App::Bowline, "bowline.json").collect();
    projects.extend(upward(App::ClaudeCode, ".mcp.json"));
    projects.extend([
        project(App::Cursor, cwd.join(".cursor").join("mcp.json")),
        project(App::VsCode, cwd.join(".vscode").join("mcp.json")),
        #[cfg(feature = "config-toml")]
        project(App::Codex, cwd.join(".codex").join("config.toml")),
    ]);
    // Who works in their home folder has one file that is both: theirs.
    projects.retain(|source| sources.iter().all(|own| own.path != source.path));
    sources.append(&mut projects);
    sources
}

/// Where programs with windows keep their settings.
fn settings_folder(home: &Path, os: Os) -> PathBuf {
    match os {
        Os::Linux => home.join(".config"),
        Os::MacOs => home.join("Library").join("Application Support"),
        Os::Windows => home.join("AppData").join("Roaming"),
    }
}
